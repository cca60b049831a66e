// The language model in use: its button, and the hint that one can be connected.
import { byId, make, makeButton } from "./elements.js";
import { state } from "./state.js";
import { permanentStorage } from "./storage.js";
import { phrase, words } from "./words.js";

const button = byId("model");
let inUse = null; // its name; "extractive": none

async function show() {
  const health = await fetch("/health").then((response) => response.json());
  inUse = health.chat_model;
  button.hidden = !health.can_choose_model;
  button.textContent = phrase("modelInUse", { name: inUse === "extractive" ? words().noModel : inUse });
}

const open = async () => (await import("./connect.js")).openModels();

button.addEventListener("click", open);
for (const change of ["language", "model"]) state.on(change, () => show().catch(() => {})); // it keeps its text while the server is away

// Once, under the first answer that no model wrote though one could.
state.on("quoted", (turn) => {
  if (button.hidden || inUse !== "extractive" || permanentStorage.modelHint) return;
  permanentStorage.modelHint = "shown";
  turn.find(".notes").append(make("p.hint", words().modelHint, " ", makeButton("button", open, words().connectModel)));
});
