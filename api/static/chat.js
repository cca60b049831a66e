// The chat page: the interface's language, the question box, the request and its stream.
import { authorization, fetchWithKey } from "./key.js";
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
    unsourced: "Ninguna fuente respalda esta frase de la respuesta",
    partly: "La fuente respalda solo en parte esta frase de la respuesta", unsupported: "La fuente no respalda esta frase de la respuesta",
    stopped: "Respuesta detenida.", reference: "Referencia",
    network: "No se pudo hablar con el servidor. Compruebe la conexión y vuelva a preguntar.",
    cut: "La respuesta se cortó antes de terminar. Vuelva a preguntar.",
    failed: "El servidor no pudo responder.",
    key: "Su clave", keyHelp: "Este servicio pide una clave: la da quien lo administra.", enter: "Entrar", cancel: "Cancelar",
  },
  fr: {
    welcome: "Interrogez vos documents. Chaque réponse dit d’où elle vient.",
    language: "Langue", examples: "Exemples de questions", turns: "Questions et réponses",
    question: "Votre question", send: "Envoyer", stop: "Arrêter",
    chain: "Chaîne causale", sources: "Sources", consulted: "Passages consultés", source: "Source",
    unsourced: "Aucune source n’appuie cette phrase de la réponse",
    partly: "La source n’appuie qu’en partie cette phrase de la réponse", unsupported: "La source n’appuie pas cette phrase de la réponse",
    stopped: "Réponse arrêtée.", reference: "Référence",
    network: "Le serveur est injoignable. Vérifiez la connexion et reposez la question.",
    cut: "La réponse s’est interrompue avant la fin. Reposez la question.",
    failed: "Le serveur n’a pas pu répondre.",
    key: "Votre clé", keyHelp: "Ce service demande une clé : qui l’administre vous en donne une.", enter: "Entrer", cancel: "Annuler",
  },
  en: {
    welcome: "Ask your documents. Every answer says where it comes from.",
    language: "Language", examples: "Example questions", turns: "Questions and answers",
    question: "Your question", send: "Send", stop: "Stop",
    chain: "Causal chain", sources: "Sources", consulted: "Passages consulted", source: "Source",
    unsourced: "No source supports this sentence of the answer",
    partly: "The source supports this sentence of the answer only in part", unsupported: "The source does not support this sentence of the answer",
    stopped: "Answer stopped.", reference: "Reference",
    network: "The server could not be reached. Check the connection and ask again.",
    cut: "The answer broke off before its end. Ask again.",
    failed: "The server could not answer.",
    key: "Your key", keyHelp: "This service asks for a key: whoever runs it gives you one.", enter: "Enter", cancel: "Cancel",
  },
};

const ADDRESS = "/api/chat/stream";
const RESUME_AFTER = [500, 1000, 2000, 4000]; // milliseconds; the server soon stops an answer that nobody reads

const byId = (id) => document.getElementById(id);
const form = byId("ask");
const box = byId("question");
let language = "es";
let conversation = null; // its id, from the first answer on: what is asked next may go on with it
let running = null; // of the answer being streamed: its AbortController, and its address once the server told it

async function ask(question) {
  const turn = new Turn(question, TEXTS[language], language);
  running = { aborter: new AbortController(), address: null };
  showRunning(true);
  try {
    await stream(question, turn, running);
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

async function stream(question, turn, run) {
  const headers = { "Accept-Language": turn.language, Accept: "text/event-stream" };
  let response = await fetchWithKey(ADDRESS, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify({ message: question, ...(conversation && { conversation_id: conversation }) }),
    signal: run.aborter.signal,
  });
  conversation = response.headers.get("X-Conversation-Id"); // none where it was deleted meanwhile: the next is a new one
  const id = response.headers.get("X-Stream-Id");
  run.address = id && `${ADDRESS}/${id}`;
  const waits = [...RESUME_AFTER];
  while (response?.ok) {
    if (response.body && await showEvents(turn, response.body)) waits.splice(0, Infinity, ...RESUME_AFTER);
    if (turn.ended || !run.address) return;
    response = await resume(run, { ...headers, "Last-Event-ID": turn.lastEvent ?? `${id}:0` }, waits);
  }
  if (response) turn.onError(await response.json().catch(() => ({}))); // a proxy's page is no JSON
}

// Whether there was any.
async function showEvents(turn, body) {
  const before = turn.lastEvent;
  for await (const { id, event, data } of readEvents(body)) {
    show(turn, event, JSON.parse(data));
    turn.lastEvent = id;
    if (turn.ended) break;
  }
  return turn.lastEvent !== before;
}

// The response that goes on after an event; null when there is no wait left.
async function resume(run, headers, waits) {
  while (waits.length) {
    await pause(waits.shift(), run.aborter.signal);
    try {
      return await fetchWithKey(run.address, { headers, signal: run.aborter.signal });
    } catch (error) {
      if (error.name === "AbortError" || !waits.length) throw error;
    }
  }
  return null;
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function stop({ aborter, address }) {
  aborter.abort();
  if (address) fetch(address, { method: "DELETE", headers: authorization(), keepalive: true }).catch(() => {}); // then it ends by itself
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

byId("stop").addEventListener("click", () => running && stop(running));

byId("languages").addEventListener("click", ({ target }) => {
  if (!target.lang) return;
  setLanguage(target.lang);
  remember(target.lang);
});

setLanguage(startLanguage());
