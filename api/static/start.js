// Starts the parts of the chat page.
import { startAppearance } from "./appearance.js";
import "./chat.js";
import "./passage.js";
import "./shelf.js";

startAppearance();
