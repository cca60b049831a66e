// Starts the page for developers: the view that the address names, in the page's language.
import { startLanguage } from "../appearance.js";
import { state } from "../state.js";
import { read } from "./address.js";
import { showEvaluation } from "./evaluation.js";
import { attempt } from "./elements.js";
import { showGolden } from "./golden.js";
import { showSearch } from "./search.js";
import "./studio_words.js";

const VIEWS = { search: showSearch, evaluation: showEvaluation, golden: showGolden };
const { view } = read();
const name = view in VIEWS ? view : "search";

document.querySelector(`[data-view="${name}"]`).ariaCurrent = "page";
state.on("language", () => attempt(() => VIEWS[name](document.getElementById("view"))));
startLanguage();
