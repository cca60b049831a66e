// The dialog that connects a language model. It is loaded when it is opened.
import { call, wait } from "./api.js";
import { byId, joined, make, makeButton } from "./elements.js";
import { state } from "./state.js";
import { duration, phrase, words } from "./words.js";

const SLOW_MS = 5000; // to the first word
const SEARCH_PAUSE_MS = 3000; // between two searches for servers

export async function openModels() {
  const title = words().connectModel;
  const status = make("p", { role: "status" }, words().searchingModels);
  const list = make("div");
  const close = makeButton("button", () => dialog.close(), words().close);
  const dialog = make("dialog.models", { ariaLabel: title }, make("h2", title), make("p", words().modelHelp), status, list, other(), close);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  const shown = {}; // lines of the list, by address; what is shown stays: the person may be using it
  for (; dialog.open; await wait(SEARCH_PAUSE_MS)) { // a server may be slow to answer, or be started meanwhile
    const { chosen, found = [], failure } = await call("/models").catch((error) => ({ failure: error.message }));
    if (chosen) shown.chosen ??= list.appendChild(inUse(chosen));
    for (const server of found) shown[server.address] ??= list.appendChild(foundServer(server));
    const text = failure ?? (list.querySelector("form") ? "" : words().noModelFound);
    if (status.textContent !== text) status.textContent = text; // screen readers read each change
  }
}

function inUse({ name }) {
  const said = make("span.said", { role: "status" });
  const stop = makeButton("button", () => choose(said, { method: "DELETE" }), words().disconnectModel);
  return make("p.bar", phrase("modelInUse", { name }), stop, said);
}

function foundServer({ name, address, models }) {
  const choice = make("select", { ariaLabel: phrase("modelsOf", { name }) }, models.map((model) => new Option(model)));
  const { host } = new URL(address);
  return form(make("h3", joined(name, host !== name && host)), [choice], () => ({ address, model: choice.value }));
}

function other() {
  const field = (name, label, properties) => make("label", words()[label], make("input", { name, autocomplete: "off", ...properties }));
  const fields = [
    field("address", "modelAddress", { type: "url", required: true }),
    field("model", "modelName", { required: true }),
    field("key", "modelKey", { type: "password" }),
  ];
  const made = form(null, fields, () => Object.fromEntries([...new FormData(made)].filter(([, value]) => value)));
  return make("details", make("summary", words().otherModel), made);
}

// "Use" submits the form, "Try" asks a question first; `read` returns the connection.
function form(heading, fields, read) {
  const said = make("p.said", { role: "status" });
  const use = make("button", { type: "submit" }, words().useModel);
  const trial = makeButton("button", () => made.reportValidity() && attemptIn(said, async () => {
    const { first_word_seconds: first, seconds } = await call("/models/try", { method: "POST", body: read() });
    const times = { first: duration(first * 1000), all: duration(seconds * 1000) };
    said.textContent = phrase(first * 1000 > SLOW_MS ? "modelSlow" : "modelWorks", times);
  }), words().tryModel);
  const onsubmit = (event) => { event.preventDefault(); choose(said, { method: "PUT", body: read() }); };
  const made = make("form", { onsubmit }, heading, fields, make("p.bar", trial, use), said);
  return made;
}

function choose(said, options) {
  return attemptIn(said, async () => {
    await call("/models/chosen", options);
    state.emit("model");
    said.closest("dialog").close();
    byId("question").focus();
  });
}

// Runs a request and says in its place what it came to.
async function attemptIn(said, action) {
  said.classList.remove("error");
  said.textContent = words().tryingModel;
  await action().catch((error) => {
    said.classList.add("error");
    said.textContent = error.message;
  });
}
