// What the address keeps, so that it can be sent to somebody: the view, the question, the configurations.

// {view, question, a, b, …}: texts, and the two configurations as {collection, retrieval, filters}.
export function read() {
  const found = Object.fromEntries(new URLSearchParams(location.search));
  return { ...found, a: parsed(found.a), b: parsed(found.b) };
}

export function addressOf(values) {
  const given = Object.entries(values).filter(([, value]) => value != null && value !== "");
  return `/studio?${new URLSearchParams(given.map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : value]))}`;
}

export function write(values) {
  history.replaceState(null, "", addressOf({ ...read(), ...values }));
}

function parsed(text) {
  try {
    const { collection, retrieval, filters } = JSON.parse(text);
    return { collection, retrieval, filters };
  } catch { return undefined; } // somebody else's words: then as the collection is searched
}
