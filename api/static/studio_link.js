// The link to the page for developers takes the last question along: how its answer was found is seen there.
import { state } from "./state.js";

document.getElementById("studio").addEventListener("click", ({ currentTarget }) => {
  const question = [...document.querySelectorAll("#turns .question")].at(-1)?.textContent;
  const configuration = JSON.stringify({ collection: state.collection ?? undefined, filters: state.filters ?? undefined });
  if (question) currentTarget.href = `/studio?${new URLSearchParams({ question, a: configuration })}`;
});
