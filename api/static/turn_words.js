// What is said around a question and its answer.
import { addWords } from "./words.js";

export const EXAMPLES = { // over the documents of notebooks/demo
  es: [
    "¿Qué llevó a Supermercados Lindazo a pedirnos menos cajas cada semana?",
    "¿Cuánto cobra de más al mes quien está habilitado en varias líneas?",
    "¿Cuándo se vieron por primera vez las grietas del latiguillo de la carretilla F7 y cuándo acabó reventando?",
  ],
  fr: [
    "Combien nous a-t-on fait payer pour le détour et l'attente du camion de beurre ?",
    "Combien de magasins Épicerie Valadour possède-t-elle ?",
    "Jusqu'à quand nos palettes sont-elles restées chez Frigo Lauraguet après la panne du ventilateur ?",
  ],
  en: [
    "Why did Harrowmere Stores leave Dorada out of its Easter promotion?",
    "Why did the Christmas tins reach Bristol so late?",
    "What is the name of the buyer we deal with at Harrowmere Stores?",
  ],
};

addWords({
  es: {
    chain: "Cadena causal", chainHint: "Cada número muestra la frase que lo dice.", otherChains: (n) => (n === 1 ? "Otra cadena" : `Otras ${n} cadenas`),
    sources: "Fuentes", consulted: "Fragmentos consultados", source: "Fuente", reference: "Referencia", extractive: "frases de los documentos, sin modelo",
    stages: { transform: "Pregunta entendida", retrieve: "Búsqueda", associate: "Nombres enlazados", rerank: "Ordenación", traverse: "Causas seguidas", expand: "Lectura", generate: "Redacción", verify: "Comprobación" },
    checked: (n, all) => `${n} de ${all} ${all === 1 ? "afirmación respaldada" : "afirmaciones respaldadas"}`,
    verdicts: { supported: "Respaldada", partly: "Respaldada solo en parte por la fuente", unsupported: "La fuente no la respalda", unsourced: "Ninguna fuente la respalda" },
    reasons: { number: "otra cifra", date: "otra fecha", name: "otro nombre", unit: "otra unidad", negation: "lo niega una de las dos", direction: "dirección contraria", role: "quién hace qué es distinto", overlap: "la fuente dice poco de ello", model: "según el modelo que juzga" },
    unsourced: "Ninguna fuente respalda esta frase de la respuesta", erased: "Algún documento de esta respuesta ya no existe.", unanswered: "Esta pregunta se quedó sin respuesta.",
    cancelled: "Respuesta detenida.", interrupted: "La respuesta se interrumpió.", cut: "La respuesta se cortó antes de terminar. Vuelva a preguntar.",
    network: "No se pudo hablar con el servidor. Compruebe la conexión y vuelva a preguntar.",
    edit: "Cambiar la pregunta", ask: "Preguntar", copyAnswer: "Copiar la respuesta", copied: "Copiada.", again: "Responder otra vez", versions: "Versiones", versionBefore: "Versión anterior", versionAfter: "Versión siguiente",
    voteAnswer: "Su opinión de la respuesta", voteCitation: "Su opinión de la cita", good: "Bien", bad: "Mal", comment: "Comentario", reason: "Motivo", voted: (rating) => (rating ? "Gracias." : "Opinión retirada."),
    voteReasons: ["Es incorrecta", "Está incompleta", "La fuente no es esa", "No responde a la pregunta"],
  },
  fr: {
    chain: "Chaîne causale", chainHint: "Chaque numéro montre la phrase qui le dit.", otherChains: (n) => (n === 1 ? "Une autre chaîne" : `${n} autres chaînes`),
    sources: "Sources", consulted: "Passages consultés", source: "Source", reference: "Référence", extractive: "phrases des documents, sans modèle",
    stages: { transform: "Question comprise", retrieve: "Recherche", associate: "Noms reliés", rerank: "Classement", traverse: "Causes suivies", expand: "Lecture", generate: "Rédaction", verify: "Vérification" },
    checked: (n, all) => `${n} affirmation${n > 1 ? "s" : ""} sur ${all} appuyée${n > 1 ? "s" : ""}`,
    verdicts: { supported: "Appuyée", partly: "La source ne l’appuie qu’en partie", unsupported: "La source ne l’appuie pas", unsourced: "Aucune source ne l’appuie" },
    reasons: { number: "autre chiffre", date: "autre date", name: "autre nom", unit: "autre unité", negation: "l’une des deux le nie", direction: "sens contraire", role: "qui fait quoi diffère", overlap: "la source en dit peu", model: "selon le modèle qui juge" },
    unsourced: "Aucune source n’appuie cette phrase de la réponse", erased: "Un document de cette réponse n’existe plus.", unanswered: "Cette question est restée sans réponse.",
    cancelled: "Réponse arrêtée.", interrupted: "La réponse s’est interrompue.", cut: "La réponse s’est interrompue avant la fin. Reposez la question.",
    network: "Le serveur est injoignable. Vérifiez la connexion et reposez la question.",
    edit: "Modifier la question", ask: "Demander", copyAnswer: "Copier la réponse", copied: "Copiée.", again: "Répondre à nouveau", versions: "Versions", versionBefore: "Version précédente", versionAfter: "Version suivante",
    voteAnswer: "Votre avis sur la réponse", voteCitation: "Votre avis sur la citation", good: "Bien", bad: "Mal", comment: "Commentaire", reason: "Raison", voted: (rating) => (rating ? "Merci." : "Avis retiré."),
    voteReasons: ["Elle est fausse", "Elle est incomplète", "Ce n’est pas la bonne source", "Elle ne répond pas à la question"],
  },
  en: {
    chain: "Causal chain", chainHint: "Each number shows the sentence that says so.", otherChains: (n) => (n === 1 ? "Another chain" : `${n} other chains`),
    sources: "Sources", consulted: "Passages consulted", source: "Source", reference: "Reference", extractive: "the documents’ sentences, no model",
    stages: { transform: "Question understood", retrieve: "Search", associate: "Names linked", rerank: "Ranking", traverse: "Causes followed", expand: "Reading", generate: "Writing", verify: "Checking" },
    checked: (n, all) => `${n} of ${all} ${all === 1 ? "statement" : "statements"} supported`,
    verdicts: { supported: "Supported", partly: "The source supports it only in part", unsupported: "The source does not support it", unsourced: "No source supports it" },
    reasons: { number: "another number", date: "another date", name: "another name", unit: "another unit", negation: "one of the two denies it", direction: "opposite direction", role: "who does what differs", overlap: "the source says little of it", model: "says the model that judges" },
    unsourced: "No source supports this sentence of the answer", erased: "A document of this answer is no longer there.", unanswered: "This question was left without an answer.",
    cancelled: "Answer stopped.", interrupted: "The answer broke off.", cut: "The answer broke off before its end. Ask again.",
    network: "The server could not be reached. Check the connection and ask again.",
    edit: "Change the question", ask: "Ask", copyAnswer: "Copy the answer", copied: "Copied.", again: "Answer again", versions: "Versions", versionBefore: "Version before", versionAfter: "Version after",
    voteAnswer: "What you think of the answer", voteCitation: "What you think of the citation", good: "Good", bad: "Bad", comment: "Comment", reason: "Reason", voted: (rating) => (rating ? "Thank you." : "Taken back."),
    voteReasons: ["It is wrong", "It is incomplete", "That is not the source", "It does not answer the question"],
  },
});
