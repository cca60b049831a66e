"""Sanitize a model's text: no active markup, no false marks, none of its rules."""

import re
from collections.abc import Sequence

from agent.output.markup import MarkupFilter, find_addresses
from agent.verification.statements import MarkFilter
from graphrag.linguistics.language import fold, visible
from graphrag.models import Document, Passage

LONGEST = 7  # words in a row that an answer may share with the rules
FREE = 3  # words in a row that are passed on at once: common turns of phrase, before which nothing waits
CUT = "…"
_RUNS = re.compile(r"\w+|\W+")
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"[«“\"]([^«»“”\"]+)[»”\"]")
_BREAK = ""  # no word of an answer equals it


class LeakFilter:
    """Takes a text in pieces and lets it through without stretches of `secret`; however it is cut, the same comes out.

    What `secret` itself quotes, «…» or “…”, is meant to be said.
    """

    def __init__(self, secret: str) -> None:
        parts = _QUOTED.sub("\0", secret).split("\0")
        self._secret = [word for part in parts for word in (*map(fold, _WORD.findall(part)), _BREAK)]
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(self._secret):
            self._places.setdefault(word, []).append(place)
        self._runs: dict[int, int] = {}  # where in the secret the answer's last words stand → how many of them
        self._word = ""
        self._held = ""
        self._is_leaking = False
        self.text = ""  # what was let through
        self.cuts = 0

    def feed(self, piece: str) -> str:
        before = len(self.text)
        for run in _RUNS.findall(piece):
            if not _WORD.match(run):
                self._end_word()
            else:
                self._word += run
            self._held += run
            if not self._is_leaking and self._longest < FREE:
                self._release()
        return self.text[before:]

    def flush(self) -> str:
        before = len(self.text)
        self._end_word()
        self._release()
        return self.text[before:]

    @property
    def _longest(self) -> int:
        return max(self._runs.values(), default=0)

    def _end_word(self) -> None:
        if not self._word:
            return
        word, self._word = fold(self._word), ""
        self._runs = {place: self._runs.get(place - 1, 0) + 1 for place in self._places.get(word, ())}
        if self._longest > LONGEST:
            self.cuts += not self._is_leaking
            self._is_leaking, self._held = True, ""
        elif self._is_leaking:
            self._is_leaking, self._held = False, f"{CUT}{self._held}"

    def _release(self) -> None:
        if self._is_leaking:
            self._held = CUT
            self._is_leaking = False
        self.text += self._held
        self._held = ""


class AnswerFilter:
    """Filter of a streamed answer, which lets through what may be shown.

    Marks are removed first: text removed later never joins to a mark, while a removed mark could join the text around
    it to a tag or an address.
    """

    def __init__(self, passages: Sequence[Passage], *, documents: Sequence[Document] = (), secret: str = "") -> None:
        """`documents`: those that the answer may name without quoting them."""
        known = {each.id: each for each in (*documents, *(passage.document for passage in passages))}.values()
        names = [text for document in known for text in (document.title, document.filename)]
        self._marks = MarkFilter(len(passages))
        self._markup = MarkupFilter(find_addresses([*names, *(passage.content for passage in passages)]))
        self._leaks = LeakFilter(secret)

    @property
    def text(self) -> str:
        """Return the sanitised text."""
        return self._leaks.text

    @property
    def leaks(self) -> int:
        return self._leaks.cuts

    @property
    def removed_marks(self) -> int:
        return self._marks.removed

    def feed(self, token: str) -> str:
        return self._leaks.feed(self._markup.feed(self._marks.feed(visible(token))))

    def flush(self) -> str:
        text = self._markup.feed(self._marks.flush()) + self._markup.flush()
        return self._leaks.feed(text) + self._leaks.flush()


def sanitize(text: str, passages: Sequence[Passage], documents: Sequence[Document] = ()) -> str:
    """Return a whole text as AnswerFilter lets it through."""
    shown = AnswerFilter(passages, documents=documents)
    return shown.feed(text) + shown.flush()
