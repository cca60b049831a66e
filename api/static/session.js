// Sign-in by the identity provider, where the service has one: the links to it, who is signed in, "Sign out".
import { API, ApiError, attempt, call } from "./api.js";
import { byId } from "./elements.js";
import { state } from "./state.js";
import { words } from "./words.js";

const MAX_NEXT_CHARS = 2000; // the server takes no more

export async function showSession() {
  const { sign_in: hasProvider, name } = await fetch(`${API}/session`).then((response) => response.json()).catch(() => ({}));
  state.user = name ?? null;
  for (const link of document.querySelectorAll("a.sign-in")) link.hidden = !hasProvider;
  if (name) byId("session").firstElementChild.textContent = name;
  byId("session").hidden = !name;
  if (!new URLSearchParams(location.search).has("sign-in")) return;
  history.replaceState(null, "", "/");
  attempt(async () => { throw new ApiError(words().signInFailed); });
}

for (const link of document.querySelectorAll("a.sign-in")) {
  link.addEventListener("click", () => {
    const addresses = [location.pathname + location.search + location.hash, location.pathname];
    const next = addresses.find((address) => address.length <= MAX_NEXT_CHARS);
    link.href = `${API}/sign-in?${new URLSearchParams({ next })}`;
  });
}
byId("session").querySelector("button").addEventListener("click", () => attempt(async () => {
  await call("/sign-out", { method: "POST" });
  location.reload();
}));
