// Starts the parts of the page, which add their words first.
import { startLanguage } from "./appearance.js";
import "./chat.js";
import "./passage.js";

startLanguage();
