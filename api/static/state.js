// The state that the parts of a page share. Listen to changes by state.on("collection", (value) => …).
class State extends EventTarget {
  theme = null; // "system", "light" or "dark"
  language = null; // "es", "fr" or "en"
  collection = null; // its name; null: all
  asked = null; // names of several that are asked together; null: the collection alone
  conversation = null; // its id; null: a new one
  filters = null; // as the API takes them; null: none
  online = true; // whether the last request reached the server
  user = null; // the name of who has signed in
  locked = false; // whether the server asks for a key that the person has not entered

  // Notifies the listeners if the value is a new one.
  set(name, value) {
    if (this[name] === value) return;
    this[name] = value;
    this.emit(name, value);
  }

  // Also for events that change no value: emit("answered", {conversation}), emit("quoted", turn), emit("model").
  emit(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  on(name, listener) {
    this.addEventListener(name, ({ detail }) => listener(detail));
  }
}

export const state = new State();
