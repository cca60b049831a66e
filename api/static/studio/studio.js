// Starts the developers' page: the view that the address names, in the page's language.
import { attempt } from "../api.js";
import { startAppearance } from "../appearance.js";
import { make } from "../elements.js";
import { showSession } from "../session.js";
import { state } from "../state.js";
import { words } from "../words.js";
import { read } from "./address.js";
import { showCauses } from "./causes.js";
import { showEvaluation } from "./evaluation.js";
import { showGolden } from "./golden.js";
import { readCollections } from "./options.js";
import { showSearch } from "./search.js";
import "./studio_words.js";

const VIEWS = { search: showSearch, evaluation: showEvaluation, golden: showGolden, causes: showCauses };
const { view: requested } = read();
const name = requested in VIEWS ? requested : "search";
const view = document.getElementById("view");

async function show() {
  const collections = await readCollections();
  if (collections.length) return VIEWS[name](view, collections);
  return view.replaceChildren(make("p.empty", words().noDocuments, " ", make("a", { href: "/", textContent: words().toChat })));
}

document.querySelector(`[data-view="${name}"]`).ariaCurrent = "page";
state.on("language", () => attempt(show));
startAppearance();
showSession();
