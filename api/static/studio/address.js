// The page's address: the view, the question and the configurations, so that a link can be shared.

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
  } catch { return undefined; } // not written by this page: the collection's defaults
}
