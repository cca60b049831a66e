"""Paragraphs, headings, list items, table rows and the lines of a letter, as line breaks separate them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphrag.linguistics.sentence_stops import (
    CAPITALS,
    OPENING,
    Abbreviation,
    abbreviation,
    sentence_rules,
)

BULLETS = "-*+•–·∙◦‣⁃▪●○■□◆◇►▶➢➤→✓✔✗✘☐☑★"
ITEMS = frozenset(("bullet", "number", "letter", "counter"))
_ROMAN_NUMBERS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_MARKER = re.compile(
    rf"""\s*(?:
    (?P<alone>\#{{1,6}}(?:\s|$)|\||\*{{3,}}\s*$|```|~~~)  # heading, table row, rule, code
    |(?P<line>>|[—–](?=\s?[{CAPITALS}¿¡«“\"]))  # quotation, dialogue
    |(?P<stamp>\[[\d/.,\ -]{{0,12}}\d\d?:\d\d(?::\d\d)?\]\s|\d{{4}}-\d\d-\d\d[\ T]\d\d:\d\d)  # chat, log
    |(?P<dash>—\s)
    |(?P<bullet>[{BULLETS}]\s|•|-(?=[^\W\d_]{{2}})|\[[ xX]\]\s)
    |\(?(?P<number>\d{{1,3}})
        (?:[)/]\s|\.?-\s|\.(?:\s|(?=[{CAPITALS}¿¡]))|\.?[ºª°]\)?\s|(?:\.\d{{1,2}})+\.?\s(?=[{CAPITALS}]))
    |(?P<letter>\(?(?:[a-zA-Z]|[ivx]{{2,5}}|[IVX]{{2,5}})\)\s|[a-zA-Z]\.-)
    |(?P<counter>[a-z]|[ivx]{{2,5}})\.\s(?!\w{{1,2}}\.)
    |(?P<name>\w[\w .'’-]{{0,24}}:(?:\s|$))
    )""",
    re.VERBOSE,
)
_FIRST_OF_MARKER = frozenset(f"#|>—([`~{BULLETS}0123456789")
_RULER = re.compile(r"={2,}|-{2,}")
_INITIAL = re.compile(r"[^\W\d_]\.")
_POST_CODE = re.compile(rf"\d{{4,5}} [{CAPITALS}]")
_ROMAN_NUMBER = re.compile(r"[IVXLC]{2,}(?:\s|,)")
_NAME_AT_START = re.compile(rf"\w+(?: [{CAPITALS}]\w*)?[.!?](?:\s|$)")  # the end of a sentence, rather than one
_INNER_END = re.compile(rf"[^\W\d_]{{3,}}[.!?…][\"»”)]*\s+[{CAPITALS}¿¡«“]")
_SHORT_LINE = 60  # characters; prose that was wrapped by hand runs longer
_SHORT_CAPITALS = 45  # characters of a line in capitals
_WRAPPED_SHARE = 0.7  # of the longest line of a paragraph, which a wrapped line reaches
_LONGEST_ACRONYM = 4
_GREETING_WORDS = 6
_CLOSING_WORDS = 8
_SIGNATURE_WORDS = 6
_SHORT_CLOSING_WORDS = 4
_ITEM_WORDS = 4


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together, [start, end) in the text; `kind` of the marker that they begin with."""

    start: int
    end: int
    kind: str


@dataclass(slots=True)
class _LineBlock:
    """Lines without an empty line or a marker between them, `width` characters the longest.

    `wraps`: a line begins in lower case. `items`: how many short lines follow a colon, if no other lines do.
    """

    width: int = 0
    wraps: bool = False
    items: int = -1
    last: "_Line | None" = None

    def add(self, line: "_Line") -> None:
        if self.last:
            self.wraps |= line.text[0].islower() and not self.last.ends_sentence
            is_item = self.items >= 0 and not line.ends_sentence and len(line.text.split()) <= _ITEM_WORDS
            self.items = self.items + 1 if is_item and line.first_word not in sentence_rules().unfinished else -1
        elif line.text[-1] == ":":
            self.items = 0
        self.width = max(self.width, len(line.text))
        self.last = line


@dataclass(slots=True)
class _Line:
    """A line without the white space around it, which begins at `start`; `kind` and `number` of its marker.

    `expected`: the number after that of the list item before. `is_apart`: it follows an empty line.
    `begins`: it begins a paragraph, or follows the end of a sentence.
    """

    start: int
    text: str
    indent: int
    kind: str
    number: int
    expected: int
    block: _LineBlock
    is_apart: bool
    begins: bool = True

    @property
    def first_word(self) -> str:
        return self.text.split(None, 1)[0].strip("¡¿,:").lower()

    @property
    def is_capitalised(self) -> bool:
        """Tell whether it begins with a capital letter, or with a post code before one."""
        letter = OPENING.match(self.text)
        is_upper = letter is not None and self.text[letter.end() : letter.end() + 1].isupper()
        return is_upper or _POST_CODE.match(self.text) is not None

    @property
    def is_title(self) -> bool:
        """Tell whether it is written in capitals."""
        return self.text.isupper() and len(self.text) > _LONGEST_ACRONYM and not self.is_unfinished

    @property
    def ends_sentence(self) -> bool:
        return self.text.rstrip("\"'»”’)* \u00a0\u202f")[-1:] in (".", "!", "?", "…")

    @property
    def abbreviation(self) -> Abbreviation | None:
        """The kind of the abbreviation that it ends with."""
        last = self.text.rsplit(None, 1)[-1]
        return abbreviation(last[:-1].rpartition("'")[2].lstrip('(«"')) if last[-1] == "." else None

    @property
    def is_unfinished(self) -> bool:
        """Tell whether nothing can end with the last word: «de», "the", «Sr.»."""
        words = self.text.rsplit(None, 1)
        last = words[-1]
        if last[-1] in "'’(/" or (last[-1] == "-" and last[:-1].isalpha()) or _INITIAL.fullmatch(last):
            return True
        if self.abbreviation in (Abbreviation.TITLE, Abbreviation.REFERENCE) or self.text.count("(") > self.text.count(
            ")"
        ):
            return True
        unfinished = sentence_rules().unfinished
        is_in_capitals = len(last) > 1 and last.isupper() and last.lower() in unfinished
        return len(words) > 1 and (last in unfinished or is_in_capitals)


def find_paragraphs(text: str) -> Iterator[Paragraph]:
    """Yield what line breaks separate: paragraphs, headings, list items, table rows, the lines of a letter."""
    lines = _read_lines(text)
    if not lines:
        if text:
            yield Paragraph(0, len(text), "")
        return
    first = before = lines[0]
    start = 0
    for line in lines[1:]:
        if line.is_apart or _begins_paragraph(line, before, first):
            yield Paragraph(start, line.start, first.kind)
            first, start = line, line.start
        else:
            line.begins = before.ends_sentence
        before = line
    yield Paragraph(start, len(text), first.kind)


def _read_lines(text: str) -> list[_Line]:
    lines: list[_Line] = []
    position, expected = 0, 1
    is_apart = True
    block = _LineBlock()
    for raw in text.splitlines(keepends=True):
        written = raw.strip()
        if written:
            is_below_row = bool(lines) and (lines[-1].kind == "alone" or " | " in lines[-1].text)
            kind, number = _read_marker(raw, written, expected, is_below_row=is_below_row)
            if is_apart or kind not in ("", "name"):
                block = _LineBlock()
            indent = len(raw) - len(raw.lstrip())
            lines.append(_Line(position, written, indent, kind, number, expected, block, is_apart))
            block.add(lines[-1])
            expected = number + 1 if number else expected
        is_apart = not written
        position += len(raw)
    return lines


def _read_marker(raw: str, written: str, expected: int, *, is_below_row: bool) -> tuple[str, int]:
    """Return the kind of a line's marker, empty if it has none, and its number: 2 for «2.», «b.» and «ii.»."""
    marker = None
    if written[0] in _FIRST_OF_MARKER or ":" in written[:28] or ")" in written[:7] or "." in written[:6]:
        marker = _MARKER.match(raw)
    kind = (marker.lastgroup if marker else None) or ""
    if kind in ("", "name"):
        cells = max(written.count("\t"), written.count(" | "))
        if cells > 1 or (cells == 1 and is_below_row):
            return "alone", 0
    if not marker or kind not in ("number", "counter"):
        return kind, 0
    written = marker[kind]
    if kind == "number":
        return kind, int(written)
    roman = _ROMAN_NUMBERS.index(written) + 1 if written in _ROMAN_NUMBERS else 0
    return kind, roman if len(written) > 1 or roman in (1, expected) else ord(written) - ord("a") + 1


def _begins_paragraph(line: _Line, before: _Line, first: _Line) -> bool:
    """Tell whether a line does not continue the line before it, in a paragraph that begins with `first`."""
    if line.kind in ("alone", "line", "stamp", "bullet", "letter") or before.kind == "alone":
        return True
    if _RULER.fullmatch(line.text):
        return before.ends_sentence
    if line.kind == before.kind == "name":
        return True
    if line.kind == "dash":
        return before.kind == "dash" or before.text[-1] == ":"
    if line.kind in ("number", "counter"):
        return _is_item_number(line, before)
    if first.kind in ITEMS and line.indent > first.indent:
        return False
    if before.begins and (_greets(before) or _is_signed(before, line) or (before.is_title and not line.text.isupper())):
        return True
    if line.block.items > 1 and line.block is before.block:
        return True
    if _is_wrapped(before, line):
        return False
    if line.kind == "name":
        return not (line.text[0].islower() or before.is_unfinished)
    if before.text[-1] == ",":
        return before.begins and _takes_leave(before, line)
    return _RULER.fullmatch(before.text) is not None or (line.is_capitalised and _ends_paragraph(before, line))


def _is_wrapped(line: _Line, following: _Line) -> bool:
    """Tell whether a line was broken because it was full: some lines of its block go on, and no further word fits."""
    if line.ends_sentence or line.text[-1] == ":" or not line.block.wraps or line.block is not following.block:
        return False
    return len(line.text) + 1 + len(following.text.split(None, 1)[0]) > line.block.width


def _is_item_number(line: _Line, before: _Line) -> bool:
    """Tell whether a number begins a list item; in «Hoy quedan⏎87. El resto» it goes on with a sentence."""
    if 1 < line.number == line.expected:
        return True
    if line.kind == "counter":
        return line.number == 1
    if before.is_unfinished or before.abbreviation in (Abbreviation.BEFORE_NUMBER, Abbreviation.WORD_BEFORE_NUMBER):
        return False
    return line.number == 1 or before.kind != "" or before.ends_sentence or before.text[-1] in ":;,"


def _greets(line: _Line) -> bool:
    words, rules = line.text.split(None, _GREETING_WORDS), sentence_rules()
    if line.text[-1] not in ",:" or len(words) > _GREETING_WORDS:
        return False
    return line.first_word in rules.greetings or (len(words) == 1 and line.first_word in rules.closings)


def _is_signed(line: _Line, following: _Line) -> bool:
    """Tell whether a short line with a comma at its end is above the last line of a letter: «Un beso,⏎mamá»."""
    if line.text[-1] != "," or following.block.last is not following or following.ends_sentence:
        return False
    return max(len(line.text.split()), len(following.text.split())) <= _SHORT_CLOSING_WORDS


def _takes_leave(line: _Line, following: _Line) -> bool:
    """Tell whether a line with a comma at its end takes leave or addresses somebody, on a line of its own."""
    if not following.is_capitalised:
        return False
    words, signed = len(line.text.split()), len(following.text.split())
    is_closing = words <= _GREETING_WORDS and line.first_word in sentence_rules().closings
    is_signed = words <= _CLOSING_WORDS and signed <= _SIGNATURE_WORDS and not following.ends_sentence
    return words < 3 or is_closing or is_signed or max(words, signed) <= _SHORT_CLOSING_WORDS


def _goes_on_with_name(words: Sequence[str], following: _Line) -> bool:
    """Tell whether the capital at the beginning of a line may be a name's: «el papa Juan⏎XXIII», «en Río⏎Negro.»."""
    is_end = len(words) > 3 and words[-1][0].isupper() and _NAME_AT_START.match(following.text) is not None
    return is_end or _ROMAN_NUMBER.match(following.text) is not None


def _ends_paragraph(line: _Line, following: _Line) -> bool:
    """Tell whether a short line is a heading or a note of its own, though what follows begins with a capital letter."""
    length = len(line.text)
    if length >= _SHORT_LINE or line.is_unfinished:
        return False
    words = line.text.split()
    is_name = len(words) > 2 and words[-1] in sentence_rules().name_openers
    if is_name and following.first_word not in sentence_rules().starters:
        return False
    if not (line.ends_sentence or line.text.isupper()) and _goes_on_with_name(words, following):
        return False
    if not line.begins and line.text[0].islower() and length > _WRAPPED_SHARE * line.block.width:
        return False
    if not line.ends_sentence and _INNER_END.search(line.text):
        return not (following.ends_sentence or len(following.text.split()) > 2)
    return not (line.text.isupper() and following.text.isupper()) or length < _SHORT_CAPITALS
