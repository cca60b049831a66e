// What the page for developers says; names of options and metrics are the API's.
import { WORDS } from "../words.js";
import en from "./words/en.json" with { type: "json" };
import es from "./words/es.json" with { type: "json" };
import fr from "./words/fr.json" with { type: "json" };

for (const [language, own] of Object.entries({ es, fr, en })) Object.assign(WORDS[language], own);
