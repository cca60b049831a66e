"""The statements of an answer and their citation marks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent.messages import is_own, without_lead
from graphrag.linguistics.language import fold, question_words, words
from graphrag.linguistics.sentences import is_heading, split_sentences
from graphrag.table_queries.answers import tells_more

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
    """Return the start of a citation mark that later text may complete; the text's length if there is none."""
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
        return not (is_heading(text) or is_greeting or text.endswith((":", "?")) or is_own(text) or tells_more(text))


# What states nothing of the documents: a table's head with the rule under it, a formula, code.
_FORM = re.compile(
    r"^[^\n|]*\|[^\n]*\n[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*$"
    r"|\$\$[^$]{1,2000}\$\$|\\\[.{1,2000}?\\\]|^```[^`]{0,5000}```",
    re.MULTILINE | re.DOTALL,
)
_ITEM = re.compile(r"^(?:>\s?|[-*+•]\s+|\d{1,3}[.)]\s+)+")  # signs of a quotation, of a list's item


def find_statements(answer: str, start: int = 0) -> Iterator[Statement]:
    """Yield the statements from `start` on; marks after a sentence's full stop belong to it.

    Marks that stand alone, such as those below a paragraph, belong to it too; at the very beginning they belong to what
    follows.
    """
    held: Statement | None = None
    waiting: tuple[int, ...] = ()
    forms = [match.span() for match in _FORM.finditer(answer, start)]
    for end in _statement_ends(answer[start:], start):
        written = answer[start:end]
        is_form = any(first <= start and end <= last + 1 for first, last in forms)
        piece = "" if is_form else _ITEM.sub("", _FORM.sub("", MARK.sub("", written)).strip())
        cited = tuple(cited_numbers(written))
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


_SHORT_ANSWER = re.compile(r"\*\*([^*\n]{1,300})\*\*\s*[—–:]\s*(?=[^\n]*\1)")  # that the words after it repeat


_ASKED = re.compile(r"[\s-]*(\w+)[^*\n:]{1,100}: (?=\*\*)")  # a part of the question, over its short answer


def content_of(statement: str) -> str:
    """Return the part of it that is about the documents: without an opening of ours, and with nothing said twice."""
    text = without_lead(statement)
    asked = _ASKED.match(text)
    if asked and fold(asked[1]) in question_words() and _SHORT_ANSWER.match(text, asked.end()):
        text = text[asked.end() :]
    return _LIKE_A_MARK.sub(" ", _SHORT_ANSWER.sub("", text))
