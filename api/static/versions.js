// The versions of a question or an answer.
import { makeButton } from "./elements.js";
import { words } from "./words.js";

// "‹ 2/3 ›": the versions of a message, by their ids; `show` is called with the one to go to.
export function showVersions(element, versions, id, show) {
  const place = versions.indexOf(id);
  const to = (version, sign, name) =>
    Object.assign(makeButton("icon version", () => show(version), sign), { ariaLabel: words()[name], disabled: !version });
  const [before, after] = [to(versions[place - 1], "‹", "versionBefore"), to(versions[place + 1], "›", "versionAfter")];
  element.replaceChildren(before, `${place + 1}/${versions.length}`, after);
  element.hidden = versions.length < 2;
}
