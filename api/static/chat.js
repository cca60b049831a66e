// The chat page: the interface's language, the question box, the request and its stream.
import { readEvents } from "./sse.js";
import { make, Turn } from "./turn.js";

const EXAMPLES = { // over the documents of notebooks/demo
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

const TEXTS = {
  es: {
    welcome: "Pregunte a sus documentos. Cada respuesta dice de dónde sale.",
    language: "Idioma", examples: "Preguntas de ejemplo", turns: "Preguntas y respuestas",
    question: "Su pregunta", send: "Enviar", stop: "Parar",
    chain: "Cadena causal", sources: "Fuentes", consulted: "Fragmentos consultados", source: "Fuente",
    partly: "La fuente respalda solo en parte esta frase de la respuesta", unsupported: "La fuente no respalda esta frase de la respuesta",
    stopped: "Respuesta detenida.", reference: "Referencia",
    network: "No se pudo hablar con el servidor. Compruebe la conexión y vuelva a preguntar.",
    cut: "La respuesta se cortó antes de terminar. Vuelva a preguntar.",
    failed: "El servidor no pudo responder.",
  },
  fr: {
    welcome: "Interrogez vos documents. Chaque réponse dit d’où elle vient.",
    language: "Langue", examples: "Exemples de questions", turns: "Questions et réponses",
    question: "Votre question", send: "Envoyer", stop: "Arrêter",
    chain: "Chaîne causale", sources: "Sources", consulted: "Passages consultés", source: "Source",
    partly: "La source n’appuie qu’en partie cette phrase de la réponse", unsupported: "La source n’appuie pas cette phrase de la réponse",
    stopped: "Réponse arrêtée.", reference: "Référence",
    network: "Le serveur est injoignable. Vérifiez la connexion et reposez la question.",
    cut: "La réponse s’est interrompue avant la fin. Reposez la question.",
    failed: "Le serveur n’a pas pu répondre.",
  },
  en: {
    welcome: "Ask your documents. Every answer says where it comes from.",
    language: "Language", examples: "Example questions", turns: "Questions and answers",
    question: "Your question", send: "Send", stop: "Stop",
    chain: "Causal chain", sources: "Sources", consulted: "Passages consulted", source: "Source",
    partly: "The source supports this sentence of the answer only in part", unsupported: "The source does not support this sentence of the answer",
    stopped: "Answer stopped.", reference: "Reference",
    network: "The server could not be reached. Check the connection and ask again.",
    cut: "The answer broke off before its end. Ask again.",
    failed: "The server could not answer.",
  },
};

const byId = (id) => document.getElementById(id);
const form = byId("ask");
const box = byId("question");
let language = "es";
let running = null; // the AbortController of the answer being streamed

async function ask(question) {
  const turn = new Turn(question, TEXTS[language], language);
  running = new AbortController();
  showRunning(true);
  try {
    await stream(question, turn, running.signal);
    if (!turn.ended) turn.note(turn.words.cut, "error");
  } catch (error) {
    if (error.name === "AbortError") return turn.note(turn.words.stopped);
    console.error(error);
    turn.note(turn.words.network, "error");
  } finally {
    turn.close();
    running = null;
    showRunning(false);
  }
}

async function stream(question, turn, signal) {
  const response = await fetch("/api/chat/stream", {
    method: "POST",
    headers: { "Content-Type": "application/json", "Accept-Language": turn.language, Accept: "text/event-stream" },
    body: JSON.stringify({ message: question }),
    signal,
  });
  if (!response.ok) return turn.onError(await response.json().catch(() => ({}))); // a proxy's page is no JSON
  for await (const { event, data } of readEvents(response.body)) {
    show(turn, event, JSON.parse(data));
    if (turn.ended) return;
  }
}

function show(turn, event, data) {
  if (event === "status") turn.onStatus(data);
  if (event === "sources") turn.onSources(data);
  if (event === "token") turn.onToken(data);
  if (event === "citation") turn.onCitation(data);
  if (event === "done") turn.onDone(data);
  if (event === "error") turn.onError(data);
}

function showRunning(isRunning) {
  const wasTyping = form.contains(document.activeElement);
  byId("welcome").hidden = true;
  byId("send").hidden = isRunning;
  byId("stop").hidden = !isRunning;
  if (wasTyping) box.focus({ preventScroll: true }); // the focused button may just have been hidden
}

function setLanguage(chosen) {
  language = chosen;
  const words = TEXTS[language];
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = words[element.dataset.text];
  for (const element of document.querySelectorAll("[data-label]")) element.ariaLabel = words[element.dataset.label];
  for (const button of byId("languages").children) button.ariaPressed = String(button.lang === language);
  box.placeholder = words.question;
  byId("examples").replaceChildren(...EXAMPLES[language].map(exampleButton));
}

function exampleButton(example) {
  const button = make("button", "", example);
  button.type = "button";
  button.addEventListener("click", () => ask(example));
  return button;
}

function startLanguage() {
  const wished = [remembered(), ...navigator.languages.map((tag) => tag.slice(0, 2))];
  return wished.find((tag) => Object.hasOwn(TEXTS, tag)) ?? "es";
}

function remembered() {
  try { return localStorage.getItem("language"); } catch { return null; } // storage may be forbidden
}

function remember(chosen) {
  try { localStorage.setItem("language", chosen); } catch { /* then for this visit only */ }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const question = box.value.trim();
  if (!question || running) return;
  box.value = "";
  ask(question);
});

box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});

byId("stop").addEventListener("click", () => running?.abort());

byId("languages").addEventListener("click", ({ target }) => {
  if (!target.lang) return;
  setLanguage(target.lang);
  remember(target.lang);
});

setLanguage(startLanguage());
