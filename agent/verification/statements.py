"""The statements of an answer: its sentences without their marks, with the numbers that they cite."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent.messages import is_own, without_lead
from agent.verification.marks import MARK, cited_numbers
from graphrag.language import words
from graphrag.sentences import is_heading, split_sentences

_STOP_AND_MARKS = re.compile(r"([.!?…]+(?:\s?[\"'»”’)])*)(\u2060+)")
_LIKE_A_MARK = re.compile(r"\[[\s\d,;]*(?:\]|$)")  # «[ 9 ]» says nothing of documents
_GREETING = re.compile(
    r"(?:¡?hola|buen[oa]s (?:d[ií]as|tardes|noches)|claro|por supuesto|con gusto|de nada|gracias|espero que"
    r"|bonjour|bonsoir|bien s[uû]r|volontiers|avec plaisir|merci|j'esp[eè]re"
    r"|hello|hi|good (?:morning|afternoon|evening)|sure|certainly|of course|thank|you're welcome|i hope)\b",
    re.IGNORECASE,
)
_LONGEST_GREETING = 9  # words


@dataclass(frozen=True, slots=True)
class Statement:
    """[start, end) is where it stands in the answer, marks within it included."""

    text: str
    numbers: tuple[int, ...]
    start: int
    end: int

    @property
    def states(self) -> bool:
        """False for headings, greetings, openings («Esto es lo que dicen:») and what is ours."""
        text = self.text.strip()
        is_greeting = _GREETING.match(text) is not None and len(words(text)) <= _LONGEST_GREETING
        return not (is_heading(text) or is_greeting or text.endswith((":", "?")) or is_own(text))


def find_statements(answer: str, start: int = 0) -> Iterator[Statement]:
    """From `start` on. Marks after a sentence's full stop belong to it.

    So do marks that stand alone, such as those below a paragraph; at the very beginning they belong to what follows.
    """
    held: Statement | None = None
    waiting: tuple[int, ...] = ()
    for end in _statement_ends(answer[start:], start):
        written = answer[start:end]
        piece, cited = MARK.sub("", written).strip(), tuple(cited_numbers(written))
        if words(piece):
            if held:
                yield held
            first = start + len(written) - len(written.lstrip())
            held = Statement(piece, waiting + cited, first, first + len(written.strip()))
            waiting = ()
        elif held:
            held = Statement(held.text, held.numbers + cited, held.start, held.end)
        else:
            waiting += cited
        start = end
    if held:
        yield held


def _statement_ends(answer: str, offset: int) -> list[int]:
    hidden = MARK.sub(lambda match: "\u2060" * len(match.group()), answer)  # marks must not hide the end of a sentence
    visible = _STOP_AND_MARKS.sub(lambda match: match[2] + match[1], hidden)
    ends = [span.end for span in split_sentences(visible)]
    for match in _STOP_AND_MARKS.finditer(hidden):
        ends = [match.end() if match.start() < end < match.end() else end for end in ends]
    return [offset + end for end in ends]


class StatementStream:
    """The statements of a text that grows: what is over is not read again."""

    def __init__(self) -> None:
        self.finished: list[Statement] = []
        self.open: Statement | None = None  # it may go on, or be given more marks
        self._start = 0

    def read(self, text: str) -> None:
        found = list(find_statements(text, self._start))
        self.finished += found[:-1]
        self.open = found[-1] if found else None
        if len(found) > 1:  # marks before the very first belong to it
            self._start = found[-1].start

    def close(self) -> None:
        if self.open:
            self.finished.append(self.open)
        self.open = None


def content_of(statement: str) -> str:
    """What of it is said of the documents: without an opening of ours."""
    return _LIKE_A_MARK.sub(" ", without_lead(statement))
