// What the parts of the page share. Who needs to know of a change listens: state.on("collection", (value) => …).
class State extends EventTarget {
  theme = null; // "system", "light" or "dark"
  language = null; // "es", "fr" or "en"
  collection = null; // its name; null: all
  conversation = null; // its id; null: a new one
  filters = null; // as the API takes them; null: none
  online = true; // whether the server was within reach when it was last asked
  locked = false; // whether it wants a key that it has not got

  // Tells the listeners, where the value is another one.
  set(name, value) {
    if (this[name] === value) return;
    this[name] = value;
    this.tell(name, value);
  }

  // Also of what changes no value: tell("answered", {conversation}).
  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  on(name, listener) {
    this.addEventListener(name, ({ detail }) => listener(detail));
  }
}

export const state = new State();
