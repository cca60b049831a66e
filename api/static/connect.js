// The dialog that connects a language model. It is loaded when it is opened.
import { call } from "./api.js";
import { byId, joined, make, makeButton } from "./elements.js";
import { state } from "./state.js";
import { duration, phrase, words } from "./words.js";

const SLOW_MS = 5000; // to the first word

export async function openModels() {
  const title = make("h2", { id: "models-title" }, words().connectModel);
  const body = make("p", { role: "status" }, words().searchingModels);
  const close = makeButton("button", () => dialog.close(), words().close);
  const dialog = make("dialog.models", title, make("p", words().modelHelp), body, close);
  dialog.setAttribute("aria-labelledby", "models-title");
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  try {
    const { chosen, found } = await call("/models");
    body.replaceWith(make("div", chosen && inUse(chosen), found.length === 0 && make("p", words().noModelFound), found.map(foundServer), other()));
  } catch (error) {
    body.textContent = error.message;
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
  const made = make("form", heading, fields, make("p.bar", trial, use), said);
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    choose(said, { method: "PUT", body: read() });
  });
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
