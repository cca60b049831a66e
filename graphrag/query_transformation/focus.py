"""Where a question begins to ask: past greetings, circumstances and «tell me»."""

import re

from graphrag.query_transformation.grammar import Asking

_JOINING = r"(?:(?:and|but|so|or|also|y|e|pero|entonces|et|mais|alors|donc|ou bien) )?"


def find_focus(flat: str, asking: Asking) -> int | None:
    """Where the first question word stands that asks; None where nothing but the order of words, or a noun, asks."""
    if (opened := flat.find("¿")) > 0 and _has_words_after(flat, opened):
        after = find_focus(flat[opened + 1 :], asking)
        if after is not None:
            return opened + 1 + after
    found = sorted({*_after_boundaries(flat, asking), *_after_verbs(flat, asking), *_sure(flat, asking)})
    return found[0] if found else None


def beginning(flat: str, asking: Asking) -> int:
    """Where what is asked for begins: at its question word, else past what is said for politeness."""
    focus = find_focus(flat, asking)
    if focus is not None:
        return focus
    start = flat.find("¿") + 1
    while True:
        start += len(flat[start:]) - len(flat[start:].lstrip(" ¿¡-*.,"))
        match = asking.polite.match(flat, start)
        if match is None or not match[0]:
            return start
        start = match.end()


def _has_words_after(flat: str, position: int) -> bool:
    return any(character.isalnum() for character in flat[position:])


def _after_boundaries(flat: str, asking: Asking) -> list[int]:
    """After a stop, a comma, or at the very beginning. A possible relative clause counts only where nothing else asks."""
    found: list[int] = []
    doubtful: list[int] = []
    for boundary in re.finditer(rf"(?:^[^\w]*|[,:;.!?¿—–(] *){_JOINING}", flat):
        match = asking.opening.match(flat, boundary.end())
        if match is None:
            continue
        is_relative = boundary.start() > 0 and "," in boundary[0] and asking.relative.match(flat, boundary.end())
        (doubtful if is_relative else found).append(boundary.end())
    return found or doubtful[-1:]


def _after_verbs(flat: str, asking: Asking) -> list[int]:
    pattern = rf"\b{asking.verbs.pattern}\b(?: (?:pas|plus|bien|me|us|to me|for me|about|a|exactly|please|por favor|sobre|de|si|se|aussi|en|stp|svp|exactement)\b)*[,:]? *"
    found = []
    for match in re.compile(pattern).finditer(flat):
        if asking.opening.match(flat, match.end()):
            found.append(match.end())
    return found


def _sure(flat: str, asking: Asking) -> list[int]:
    return [match.start() for match in asking.sure.finditer(flat)] if asking.sure else []
