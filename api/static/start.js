// Starts the parts of the page, which add their words first.
import { startLanguage } from "./appearance.js";
import "./chat.js";
import "./passage.js";
import "./shelf_words.js";
import "./shelf.js";
import "./studio_link.js";

startLanguage();
