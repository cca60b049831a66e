// Adds the texts of the developers' page. Options and metrics keep the API's names.
import { WORDS } from "../words.js";
import en from "./words/en.json" with { type: "json" };
import es from "./words/es.json" with { type: "json" };
import fr from "./words/fr.json" with { type: "json" };

for (const [language, own] of Object.entries({ es, fr, en })) Object.assign(WORDS[language], own);
