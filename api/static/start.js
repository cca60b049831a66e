// Starts the parts of the chat page.
import { startAppearance } from "./appearance.js";
import "./chat.js";
import "./model.js";
import "./passage.js";
import { showSession } from "./session.js";
import "./shelf.js";

startAppearance();
showSession();
