// The versions of a question or an answer.
import { makeButton } from "./elements.js";
import { words } from "./words.js";

// "‹ 2/3 ›": the versions of a message, by their ids; `show` is called with the one to go to.
export function showVersions(element, versions, id, show) {
  const place = versions.indexOf(id);
  const to = (version, sign, label) => {
    const button = makeButton("version", () => show(version), sign);
    button.ariaLabel = label;
    button.disabled = !version;
    return button;
  };
  element.replaceChildren(
    to(versions[place - 1], "‹", words().versionBefore), `${place + 1}/${versions.length}`, to(versions[place + 1], "›", words().versionAfter),
  );
  element.hidden = versions.length < 2;
}
