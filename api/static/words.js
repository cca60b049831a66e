// What the page says, in its three languages; each part of the page adds words of its own.
import { state } from "./state.js";

const WORDS = {
  es: {
    welcome: "Pregunte a sus documentos. Cada respuesta dice de dónde sale.", language: "Idioma", examples: "Preguntas de ejemplo",
    turns: "Preguntas y respuestas", question: "Su pregunta", send: "Enviar", stop: "Parar", key: "Su clave",
    keyHelp: "Este servicio pide una clave: la da quien lo administra.", enter: "Entrar", cancel: "Cancelar", failed: "El servidor no pudo responder.",
  },
  fr: {
    welcome: "Interrogez vos documents. Chaque réponse dit d’où elle vient.", language: "Langue", examples: "Exemples de questions",
    turns: "Questions et réponses", question: "Votre question", send: "Envoyer", stop: "Arrêter", key: "Votre clé",
    keyHelp: "Ce service demande une clé : qui l’administre vous en donne une.", enter: "Entrer", cancel: "Annuler", failed: "Le serveur n’a pas pu répondre.",
  },
  en: {
    welcome: "Ask your documents. Every answer says where it comes from.", language: "Language", examples: "Example questions",
    turns: "Questions and answers", question: "Your question", send: "Send", stop: "Stop", key: "Your key",
    keyHelp: "This service asks for a key: whoever runs it gives you one.", enter: "Enter", cancel: "Cancel", failed: "The server could not answer.",
  },
};

// {es: {name: text}, fr: …, en: …}
export function addWords(more) {
  for (const language of Object.keys(WORDS)) Object.assign(WORDS[language], more[language]);
}

// {name: text}, in the page's language.
export const words = () => WORDS[state.language];

export const LANGUAGES = Object.keys(WORDS);

// Fills what names its words by data-text, data-label (for screen readers), data-hint or data-title.
export function translate(root = document) {
  for (const element of root.querySelectorAll("[data-text]")) element.textContent = words()[element.dataset.text];
  for (const element of root.querySelectorAll("[data-label]")) element.ariaLabel = words()[element.dataset.label];
  for (const element of root.querySelectorAll("[data-hint]")) element.placeholder = words()[element.dataset.hint];
  for (const element of root.querySelectorAll("[data-title]")) element.title = words()[element.dataset.title];
}
