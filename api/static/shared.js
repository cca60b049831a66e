// A conversation that somebody shares, to be read by a link, whose token stands behind the # of the address.
import { call } from "./api.js";
import { startAppearance } from "./appearance.js";
import { byId, make } from "./elements.js";
import { state } from "./state.js";
import { Turn } from "./turn.js";
import { words } from "./words.js";

async function show() {
  const options = { headers: { "X-Share-Token": location.hash.slice(1) }, asksKey: false };
  const { title, messages = [], failure } = await call("/shared", options).catch((error) => ({ failure: error.message }));
  const turns = messages.flatMap(({ role, content }, index) => role === "user" ? turnOf(content, messages[index + 1]) : []);
  document.title = title || "Causeway";
  const heading = failure ? make("li.lost", failure) : make("li.shared", words().sharedView);
  byId("turns").replaceChildren(heading, ...turns.map(({ element }) => element));
}

function turnOf(question, answer) {
  const turn = new Turn(question);
  if (answer) turn.restore(answer);
  else turn.note(words().unanswered);
  turn.close();
  return turn;
}

addEventListener("hashchange", show);
state.on("language", show);
startAppearance();
