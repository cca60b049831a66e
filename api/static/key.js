// The key that says who asks: asked for when the server wants one, and kept until the tab is closed.

const NAME = "key";
const dialog = document.getElementById("key");
const box = document.getElementById("key-text");

// As fetch, with the key. When the server refuses it, another is asked for; who gives none gets the server's answer.
export async function fetchWithKey(address, options = {}) {
  for (;;) {
    const response = await fetch(address, { ...options, headers: { ...options.headers, ...authorization() } });
    if (response.status !== 401) return response;
    keep(null);
    const key = await askForKey();
    if (!key) return response;
    keep(key);
  }
}

export function authorization() {
  const key = kept();
  return key ? { Authorization: `Bearer ${key}` } : {};
}

function askForKey() {
  box.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue && box.value.trim()), { once: true });
  });
}

let unstored = null; // where storage is forbidden

function kept() {
  try { return sessionStorage.getItem(NAME) ?? unstored; } catch { return unstored; }
}

function keep(key) {
  unstored = key;
  try {
    if (key) sessionStorage.setItem(NAME, key);
    else sessionStorage.removeItem(NAME);
  } catch { /* then until the page is left */ }
}

document.getElementById("key-cancel").addEventListener("click", () => dialog.close());
