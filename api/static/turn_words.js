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
    chain: "Cadena causal", sources: "Fuentes", consulted: "Fragmentos consultados", source: "Fuente",
    unsourced: "Ninguna fuente respalda esta frase de la respuesta", partly: "La fuente respalda solo en parte esta frase de la respuesta",
    unsupported: "La fuente no respalda esta frase de la respuesta", stopped: "Respuesta detenida.", reference: "Referencia",
    network: "No se pudo hablar con el servidor. Compruebe la conexión y vuelva a preguntar.",
    cut: "La respuesta se cortó antes de terminar. Vuelva a preguntar.", failed: "El servidor no pudo responder.",
  },
  fr: {
    chain: "Chaîne causale", sources: "Sources", consulted: "Passages consultés", source: "Source",
    unsourced: "Aucune source n’appuie cette phrase de la réponse", partly: "La source n’appuie qu’en partie cette phrase de la réponse",
    unsupported: "La source n’appuie pas cette phrase de la réponse", stopped: "Réponse arrêtée.", reference: "Référence",
    network: "Le serveur est injoignable. Vérifiez la connexion et reposez la question.",
    cut: "La réponse s’est interrompue avant la fin. Reposez la question.", failed: "Le serveur n’a pas pu répondre.",
  },
  en: {
    chain: "Causal chain", sources: "Sources", consulted: "Passages consulted", source: "Source",
    unsourced: "No source supports this sentence of the answer", partly: "The source supports this sentence of the answer only in part",
    unsupported: "The source does not support this sentence of the answer", stopped: "Answer stopped.", reference: "Reference",
    network: "The server could not be reached. Check the connection and ask again.", cut: "The answer broke off before its end. Ask again.",
    failed: "The server could not answer.",
  },
});
