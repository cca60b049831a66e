// Starts the parts of the page.
import { startAppearance } from "./appearance.js";
import "./chat.js";
import "./passage.js";
import "./shelf.js";
import "./studio_link.js";

startAppearance();
