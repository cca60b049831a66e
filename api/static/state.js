// What the parts of the page share. Who needs to know of a change listens: state.on("collection", (value) => …).

class State extends EventTarget {
  #values = { language: null, collection: null, conversation: null, filters: null, online: true, locked: false };

  get language() { return this.#values.language; } // "es", "fr" or "en"
  get collection() { return this.#values.collection; } // its name; null: all
  get conversation() { return this.#values.conversation; } // its id; null: a new one
  get filters() { return this.#values.filters; } // as the API takes them; null: none

  get online() { return this.#values.online; } // whether the server was within reach when it was last asked
  get locked() { return this.#values.locked; } // whether it wants a key that it has not got

  // Tells the listeners, where the value is another one.
  set(name, value) {
    if (this.#values[name] === value) return;
    this.#values[name] = value;
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
