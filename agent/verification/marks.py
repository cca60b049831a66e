"""Marks [n] in an answer: none that cites nothing comes through, whole or as the answer streams."""

import re

MARK = re.compile(r"\s?\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")


def cited_numbers(text: str) -> list[int]:
    return [int(number) for match in MARK.finditer(text) for number in re.findall(r"\d+", match[1])]


def remove_unknown_marks(answer: str, known: int) -> tuple[str, list[int]]:
    """The answer with the marks of 1 … `known` alone, and the numbers that were taken out."""
    removed: list[int] = []

    def keep_known(match: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"\d+", match[1])]
        removed.extend(number for number in numbers if not 1 <= number <= known)
        kept = [number for number in numbers if 1 <= number <= known]
        space = match[0][0] if kept and match[0][0].isspace() else ""
        return space + "".join(f"[{number}]" for number in kept)

    while (clean := MARK.sub(keep_known, answer)) != answer:  # what is left of [9[9]] is a mark again
        answer = clean
    return answer, removed


def _unfinished_mark(text: str) -> int:
    """Where a mark begins, or marks in one another, that what follows may end; the text's length if none does."""
    start, depth = len(text), 0
    for index, character in enumerate(text):
        if character == "[":
            start, depth = (start, depth + 1) if depth else (index, 1)
        elif character == "]":
            depth = max(0, depth - 1)
        elif not (character.isdigit() or character.isspace() or character in ",;"):
            depth = 0
    return start if depth else len(text)


class MarkFilter:
    """Takes an answer as it streams and lets its text through, without the marks that cite nothing.

    Where nothing can be cited (`known` is 0), nothing is a mark: a[0] stays.
    """

    def __init__(self, known: int) -> None:
        self._known = known
        self._held = ""
        self.text = ""  # what was let through
        self.removed = 0  # numbers that cite nothing

    def feed(self, token: str) -> str:
        held = self._held + token
        cut = _unfinished_mark(held)
        if held[:cut][-1:].isspace():  # it goes with a mark that is removed
            cut -= 1
        self._held = held[cut:]
        return self._release(held[:cut])

    def flush(self) -> str:
        held, self._held = self._held, ""
        return self._release(held)

    def _release(self, text: str) -> str:
        clean, removed = remove_unknown_marks(text, self._known) if self._known else (text, [])
        self.removed += len(removed)
        self.text += clean
        return clean
