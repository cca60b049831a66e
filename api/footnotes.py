"""An answer's marks and citations as Markdown footnotes, as chat clients show them, and back."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_MARK = re.compile(r"\[(?:\^|(\d{1,3})\])")
_UNFINISHED = re.compile(r"\[\d{0,3}$")
_REFERENCE = re.compile(r"\[\^(\d{1,3})\]")
_DEFINITION = re.compile(r"\[\^\d{1,3}\]: ")
# What a quote may hold that a renderer would act upon. Brackets as entities: clients read `\[` as a formula.
_ESCAPED = str.maketrans(
    {"&": "&amp;", "<": "&lt;", "[": "&#91;", "\0": "�"} | {character: f"\\{character}" for character in "\\`*_~|^$"}
)


class Footnotes:
    """Takes an answer as it streams and turns its marks [1] into [^1]; so many sources are known.

    Where there is no source, nothing is a mark: a[0] stays.
    """

    def __init__(self, known: int = 0) -> None:
        self.known = known
        self._held = ""

    def feed(self, text: str) -> str:
        if not self.known:
            return text
        held = self._held + text
        unfinished = _UNFINISHED.search(held)
        end = unfinished.start() if unfinished else len(held)
        self._held = held[end:]
        return _MARK.sub(self._reference, held[:end])

    def flush(self) -> str:
        held, self._held = self._held, ""
        return held

    def _reference(self, match: re.Match[str]) -> str:
        if match[1] is None:  # a document's own footnote, which is none of ours
            return "[\\^"
        return f"[^{match[1]}]" if 1 <= int(match[1]) <= self.known else match[0]


def definitions(citations: Sequence[Mapping[str, Any]]) -> str:
    """Below the answer: of each cited source where its quotes stand, and what they say."""
    told: dict[int, dict[str, None]] = {}
    for citation in sorted(citations, key=lambda citation: int(citation["number"])):
        told.setdefault(citation["number"], {})[citation["sentence"]] = None
    return "".join(f"\n\n[^{number}]: {' · '.join(map(_escaped, sentences))}" for number, sentences in told.items())


def with_footnotes(answer: str, *, sources: int, citations: Sequence[Mapping[str, Any]]) -> str:
    marks = Footnotes(sources)
    return marks.feed(answer) + marks.flush() + definitions(citations)


def without_footnotes(answer: str) -> str:
    """As it was before: a client sends it back with the next question."""
    lines = answer.split("\n")
    while lines and (not lines[-1].strip() or _DEFINITION.match(lines[-1])):
        lines.pop()
    return _REFERENCE.sub(r"[\1]", "\n".join(lines))


def _escaped(sentence: str) -> str:
    return sentence.translate(_ESCAPED)
