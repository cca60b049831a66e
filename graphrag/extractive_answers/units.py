"""Units of an excerpt that can answer: sentences, lists with their lead-in, rows, definitions, bodies of questions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from graphrag.extractive_answers.front_matter import FIRST_LINES, is_front_matter
from graphrag.extractive_answers.statements import Excerpt
from graphrag.extractive_answers.table_answers import is_total, markdown_rows, tables
from graphrag.linguistics.language import content_stems, fold, words
from graphrag.linguistics.paragraphs import ITEMS, find_paragraphs
from graphrag.linguistics.rules import Pattern, Rules, read_rules
from graphrag.linguistics.sentences import is_heading, plain, trim_space
from graphrag.models import Span

Kind = Literal["sentence", "list", "item", "row", "definition", "body", "front_matter", "heading", "question"]

MAX_SHOWN_ITEMS = 12
MAX_SHOWN_COLUMNS = 5
NEAR_BEST = 0.6  # share of the best score from which a sibling belongs to a list answer
MIN_ITEMS = 2
_MAX_HEADING_WORDS = 8
_MAX_LINE_HEADING_WORDS = 12  # of a line over prose that is longer
_MAX_ITEM_HEADING_WORDS = 5  # of the short sentence that an item of several begins with: "2. Spare parts. The budget …"
_MAX_TERM_WORDS = 5
_LED_BLOCKS = 6  # how many paragraphs a lead-in without list marks may stand over
_MAX_ITEM_WORDS = 40  # of several sentences; a longer item is given a sentence each
_MAX_LINE_WORDS = 30  # of an item without a mark
_BOLD_LEVEL, _PLAIN_LEVEL, _QUESTION_LEVEL, _LEAD_LEVEL = 7, 8, 9, 10  # below the six of Markdown
_HASHES = re.compile(r"\s*(#{1,6})\s")
_BOLD_LINE = re.compile(r"\s*(?:\*\*[^*\n]+\*\*|__[^_\n]+__)\s*:?\s*")
_TABLE_RULE = re.compile(r"[\s|:=*_-]*")
_ASKS = re.compile(r"\?[*_\s:]*$")
_TERM = re.compile(r"(?P<term>[^\W_][^:.!?;—–\n]{0,60}?)(?:[ \u00a0\u202f]?:| [—–])\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Item:
    text: str
    depth: int = 0  # of nesting


@dataclass(frozen=True, slots=True)
class AnswerUnit:
    """A part of an excerpt: `spans` of the excerpt's text, `text` as a reader is shown it."""

    kind: Kind
    spans: tuple[Span, ...]
    text: str
    number: int  # of the excerpt, its mark in an answer
    headings: tuple[str, ...] = ()  # above it, the outermost first
    lead: str = ""  # of the list that it is, or is an item of; of a definition, its term
    items: tuple[Item, ...] = ()
    is_numbered: bool = False
    cells: tuple[tuple[str, str], ...] = ()  # of a row: header and value

    @property
    def is_answer(self) -> bool:
        """Return whether it may answer any question; front matter only answers one about its document."""
        return self.kind not in ("heading", "question", "front_matter")

    @property
    def inherited(self) -> str:
        """Return the words that it does not repeat: the headings over it and the lead-in of its list."""
        return " ".join([*self.headings, self.lead] if self.kind == "item" else self.headings)


@dataclass(frozen=True, slots=True)
class _UnitBlock:
    """Sentences of one paragraph."""

    kind: str  # of its marker
    spans: tuple[Span, ...]
    text: str
    indent: int
    is_apart: bool  # an empty line stands before it
    place: int  # from the beginning of the document, -1 where the excerpt begins within it
    is_last: bool

    @property
    def shown(self) -> str:
        return plain(self.text)


class UnitRules(Rules):
    list_asked: Pattern
    procedure_asked: Pattern
    more: dict[str, str]


@lru_cache(maxsize=1)
def _rules() -> UnitRules:
    return read_rules(UnitRules, "graphrag.extractive_answers", "units")


def read_units(excerpt: Excerpt) -> list[AnswerUnit]:
    """Return the units of an excerpt in their order; a list and a question's body come before their parts.

    Without the lists and bodies the units do not overlap; what is suspicious and the rules of tables are left out.
    """
    return list(_UnitReader(excerpt).read())


class _UnitReader:
    def __init__(self, excerpt: Excerpt) -> None:
        self._excerpt = excerpt
        self._blocks = _read_blocks(excerpt)
        self._rows = {} if excerpt.rows else markdown_rows(excerpt.text)
        self._cells = {
            row.text: tuple(
                (header, row.cells[number]) for number, header in enumerate(table.headers) if number in row.cells
            )
            for table in tables(excerpt)
            for row in table.rows
        }
        self._path: list[tuple[int, str]] = []
        self._begins_body = False
        self._led_until = 0  # place from which a lead-in no longer stands over what follows

    def read(self) -> Iterator[AnswerUnit]:
        place = 0
        while place < len(self._blocks):
            block = self._blocks[place]
            last = self._end_of_list(place)
            if last > place:
                yield from self._list(self._blocks[place : last + 1])
                place = last + 1
                continue
            if place >= self._led_until and self._path and self._path[-1][0] == _LEAD_LEVEL:
                self._path.pop()
            following = self._blocks[place + 1] if place + 1 < len(self._blocks) else None
            yield from self._single(block, following, place)
            place += 1

    def _unit(self, kind: Kind, spans: Sequence[Span], text: str, **more: object) -> AnswerUnit:
        return AnswerUnit(
            kind,
            tuple(spans),
            text,
            self._excerpt.number,
            tuple(text for _, text in self._path),
            **more,  # type: ignore[arg-type]
        )

    def _single(self, block: _UnitBlock, following: _UnitBlock | None, place: int) -> Iterator[AnswerUnit]:
        shown = block.shown
        if block.kind == "row":
            yield self._unit("row", block.spans, shown, cells=self._cells.get(block.text.strip(), ()))
        elif "|" in block.text and shown in self._rows:
            text = self._rows[shown]
            kind: Kind = "row" if text else "heading"
            yield self._unit(kind, block.spans, text or shown, cells=self._cells.get(text, ()))
        elif _TABLE_RULE.fullmatch(block.text):
            return
        elif level := self._heading_level(block, following):
            while self._path and self._path[-1][0] >= level:
                self._path.pop()
            yield self._unit("question" if _ASKS.search(shown) else "heading", block.spans, shown)
            self._path.append((level, shown.rstrip(" :")))
            if level == _LEAD_LEVEL:
                self._led_until = place + _LED_BLOCKS
            self._begins_body = _ASKS.search(shown) is not None
            return
        elif block.kind not in ITEMS and is_front_matter(shown, place=block.place, is_last=block.is_last):
            yield self._unit("front_matter", block.spans, shown)
            return
        else:
            yield from self._prose(block)
        self._begins_body = False

    def _prose(self, block: _UnitBlock) -> Iterator[AnswerUnit]:
        if self._begins_body:
            yield self._unit("body", block.spans, block.shown)
        term = _TERM.match(block.shown)
        is_definition = term is not None and len(words(term["term"])) <= _MAX_TERM_WORDS
        if term and is_definition:
            first = self._excerpt.text[block.spans[0].start : block.spans[0].end]
            yield self._unit("definition", block.spans[:1], plain(first), lead=term["term"])
        for span in block.spans[1:] if is_definition else block.spans:
            text = plain(self._excerpt.text[span.start : span.end])
            if text:
                yield self._unit("question" if _ASKS.search(text) else "sentence", (span,), text)

    def _heading_level(self, block: _UnitBlock, following: _UnitBlock | None) -> int:
        """Return the depth of a heading, from 1; 0 where the block is none."""
        text = block.text.strip()
        if hashes := _HASHES.match(block.text):
            return len(hashes[1])
        if is_heading(block.text):
            return 1 if "\n=" in block.text else 2
        if block.kind in ITEMS or len(block.spans) != 1 or "\n" in text or "|" in text:
            return 0
        if _ASKS.search(text) and following is not None:
            return _QUESTION_LEVEL
        if _BOLD_LINE.fullmatch(text) or (text.isupper() and len(text) > 4 and text[-1] not in ".:,"):
            return _BOLD_LEVEL
        if text[-1] == ":" and following is not None and following.is_apart and following.kind not in ITEMS:
            is_greeting = is_front_matter(text, place=block.place, is_last=block.is_last)
            return 0 if is_greeting or len(words(text)) > _MAX_HEADING_WORDS else _LEAD_LEVEL
        if following is None or text[-1] in ".!…;,:" or not (text[0].isupper() or text[0].isdigit()):
            return 0
        is_short = len(words(text)) <= _MAX_LINE_HEADING_WORDS and len(text) < len(following.text)
        is_over_prose = following.kind not in ("name", "alone", "row") and following.text.rstrip()[-1:] in ".:"
        is_front = 0 <= block.place < FIRST_LINES and is_front_matter(text, place=block.place, is_last=block.is_last)
        return _PLAIN_LEVEL if is_short and is_over_prose and not is_front else 0

    def _end_of_list(self, place: int) -> int:
        """Return the number of the last block of a list that begins here, with its lead-in; `place` if none does."""
        blocks = self._blocks
        is_led = blocks[place].kind not in ITEMS and blocks[place].shown.endswith(":") and "|" not in blocks[place].text
        first = place + is_led
        if is_heading(blocks[place].text) or first >= len(blocks):
            return place
        last = first
        if blocks[first].kind in ITEMS:
            while last < len(blocks) and (blocks[last].kind in ITEMS or self._goes_on(last, first)):
                last += 1
        elif is_led:
            while last < len(blocks) and _is_line(blocks[last]):
                last += 1
        return last - 1 if last - first >= MIN_ITEMS else place

    def _goes_on(self, place: int, first: int) -> bool:
        """Return whether a block is a further paragraph of the item above it."""
        return self._blocks[place].kind == "" and self._blocks[place].indent > self._blocks[first].indent

    def _list(self, blocks: Sequence[_UnitBlock]) -> Iterator[AnswerUnit]:
        has_lead = blocks[0].kind not in ITEMS and blocks[0].shown.endswith(":")
        lead_spans = blocks[0].spans[-1:] if has_lead else ()
        if has_lead and len(blocks[0].spans) > 1:
            before = blocks[0].spans[:-1]
            text = self._excerpt.text[before[0].start : before[-1].end]
            yield from self._prose(_UnitBlock("", before, text, 0, True, -1, False))
        lead = "".join(plain(self._excerpt.text[span.start : span.end]) for span in lead_spans)
        parts = blocks[1:] if has_lead else blocks
        depths: list[int] = []
        items: list[Item] = []
        for block in parts:
            while depths and depths[-1] > block.indent:
                depths.pop()
            if not depths or depths[-1] < block.indent:
                depths.append(block.indent)
            items.append(Item(block.shown, len(depths) - 1))
        spans = (Span((lead_spans or parts[0].spans)[0].start, parts[-1].spans[-1].end),)
        text = " ".join(filter(None, [lead, "; ".join(item.text.rstrip(".;, ") for item in items)]))
        is_numbered = parts[0].kind in ("number", "counter", "letter")
        own = lead.rstrip(": \u00a0\u202f") or (self._path[-1][1] if self._path else "")
        yield self._unit("list", spans, text, lead=own, items=tuple(items), is_numbered=is_numbered)
        for block, item in zip(parts, items, strict=True):
            yield from self._item(block, item, own, is_numbered=is_numbered)
        self._begins_body = False

    def _item(self, block: _UnitBlock, item: Item, lead: str, *, is_numbered: bool) -> Iterator[AnswerUnit]:
        """Yield an item, or the sentences of a long one; a short one that opens it is the others' heading."""
        if len(block.spans) == 1 or len(words(item.text)) <= _MAX_ITEM_WORDS:
            kind: Kind = "question" if _ASKS.search(item.text) else "item"
            yield self._unit(kind, block.spans, item.text, lead=lead, is_numbered=is_numbered)
            return
        for place, span in enumerate(block.spans):
            text = plain(self._excerpt.text[span.start : span.end])
            if place == 0 and len(words(text)) <= _MAX_ITEM_HEADING_WORDS:
                yield self._unit("heading", (span,), text)
                lead = f"{lead} {text}".strip()
                continue
            yield self._unit("question" if _ASKS.search(text) else "item", (span,), text, lead=lead)


def _is_line(block: _UnitBlock) -> bool:
    """Return whether a block may be an item without a mark: a line right below the one before it."""
    is_short = len(block.spans) == 1 and len(words(block.text)) <= _MAX_LINE_WORDS
    return block.kind in ("", "name", "dash") and is_short and not block.is_apart and not block.shown.endswith(":")


def _read_blocks(excerpt: Excerpt) -> list[_UnitBlock]:
    text = excerpt.text
    starts = {paragraph.start: paragraph.kind for paragraph in find_paragraphs(text)}
    rows = {row.start for row in excerpt.rows} | ({0} if excerpt.rows and excerpt.rows[0].start < 0 else set())
    groups: list[tuple[str, list[Span]]] = []
    for span in excerpt.sentences:
        is_line = bool(groups) and _ends_line(text, groups[-1][1][-1])
        if span.start in rows or span.start in starts or is_line or not groups or groups[-1][0] == "row":
            groups.append(("row" if span.start in rows else starts.get(span.start, ""), [span]))
        else:
            groups[-1][1].append(span)
    hidden = [(each.start, each.end) for each in excerpt.suspicious]
    blocks: list[_UnitBlock] = []
    is_apart = True
    for place, (kind, spans) in enumerate(groups):
        whole = Span(spans[0].start, spans[-1].end)
        raw = text[whole.start : whole.end]
        shown = trim_space(text, whole)
        kept = tuple(span for span in spans if not any(start < span.end and span.start < end for start, end in hidden))
        if kept and shown.end > shown.start:
            indent = shown.start - (text.rfind("\n", whole.start, shown.start) + 1 or whole.start)
            own = raw if len(kept) == len(spans) else "".join(text[span.start : span.end] for span in kept)
            known = place if excerpt.start_char == 0 else -1
            blocks.append(_UnitBlock(kind, kept, own, indent, is_apart, known, place >= len(groups) - 2))
        is_apart = raw[len(raw.rstrip()) :].count("\n") > 1
    return blocks


def _ends_line(text: str, span: Span) -> bool:
    """Return whether a sentence has a line break after it, and no full stop."""
    raw = text[span.start : span.end]
    written = raw.rstrip()
    return "\n" in raw[len(written) :] and written[-1:] not in (".", "!", "…", "")


def asks_for_list(question: str) -> bool:
    """Return whether a question asks for several things: "Which deliveries are late?", «¿Qué documentos…?»."""
    return _rules().list_asked.search(_folded(question)) is not None


def asks_for_procedure(question: str) -> bool:
    """Return whether a question asks for steps: "How do I …?", « Comment faire … ? »."""
    return _rules().procedure_asked.search(_folded(question)) is not None


def _folded(question: str) -> str:
    return fold(question).replace("’", "'")


def gather_list(
    question: str, units: Sequence[AnswerUnit], scores: Sequence[float], *, language: str, titles: Mapping[int, str]
) -> list[AnswerUnit]:
    """Return the units that answer a request for a list, in their order: the best one and its siblings near it.

    Siblings are rows of the same columns, items of the same list, or sentences that hold all the words of the
    question that the best one holds, with those of their headings; rows need not hold what their document's title or
    their columns say. Empty where nothing is an answer. `titles`: of the documents, by the number of the excerpt.
    """
    places = [place for place, unit in enumerate(units) if unit.is_answer and scores[place] > 0]
    if not places:
        return []
    best = max(places, key=lambda place: scores[place])
    if units[best].kind == "list":
        return [units[best]]
    asked = content_stems(question, language)
    met = asked & _stems(units[best], language)
    is_row = units[best].kind == "row"
    if is_row:
        columns = " ".join(header for header, _ in units[best].cells)
        met -= content_stems(f"{titles.get(units[best].number, '')} {units[best].inherited} {columns}", language)
    found: list[AnswerUnit] = []
    for place in places:
        unit = units[place]
        is_near = unit.kind == units[best].kind and (is_row or scores[place] >= NEAR_BEST * scores[best])
        if is_near and (place == best or (_is_sibling(unit, units[best]) and met <= _stems(unit, language))):
            found.append(unit)
    return found[:MAX_SHOWN_ITEMS]


def _stems(unit: AnswerUnit, language: str) -> set[str]:
    return content_stems(f"{unit.inherited} {unit.text}", language)


def _is_sibling(unit: AnswerUnit, best: AnswerUnit) -> bool:
    if unit.kind == "row":
        same = [header for header, _ in unit.cells] == [header for header, _ in best.cells]
        return same and unit.number == best.number and not (unit.cells and is_total(unit.cells[0][1]))
    if unit.kind == "item":
        return unit.number == best.number and unit.lead == best.lead and unit.headings == best.headings
    return len(unit.headings) == len(best.headings)


def present_list(question: str, units: Sequence[AnswerUnit], *, language: str) -> str:
    """Return a list, a procedure or rows in Markdown, each item with the mark of its excerpt: `- item [1]`."""
    if units and all(unit.kind == "row" and unit.cells for unit in units):
        return _present_rows(question, units, language)
    single = units[0] if len(units) == 1 and units[0].items else None
    items = list(single.items) if single else [Item(unit.text) for unit in units]
    numbers = [units[0].number] * len(items) if single else [unit.number for unit in units]
    is_numbered = bool(single and (single.is_numbered or asks_for_procedure(question)))
    lines: list[str] = []
    step = 0
    for item, number in zip(items[:MAX_SHOWN_ITEMS], numbers, strict=False):
        step += item.depth == 0
        mark = f"{step}." if is_numbered and item.depth == 0 else "-"
        lines.append(f"{'   ' * item.depth}{mark} {item.text} [{number}]")
    lead = single.lead if single else ""
    count = sum(item.depth == 0 for item in items)
    head = [f"{lead} ({count}):", ""] if lead else []
    return "\n".join([*head, *lines, *_more(len(items), language)])


def _more(count: int, language: str) -> list[str]:
    left = count - MAX_SHOWN_ITEMS
    return ["", _rules().more[language].format(count=left)] if left > 0 else []


def _present_rows(question: str, units: Sequence[AnswerUnit], language: str) -> str:
    headers = list(dict.fromkeys(header for unit in units for header, _ in unit.cells))
    if len(headers) > MAX_SHOWN_COLUMNS:
        asked = content_stems(question, language)
        ranked = sorted(headers[1:], key=lambda header: -len(asked & content_stems(header, language)))
        shown = {headers[0], *ranked[: MAX_SHOWN_COLUMNS - 1]}
        headers = [header for header in headers if header in shown]
    lines = [f"| {' | '.join(headers)} |", f"|{'---|' * len(headers)}"]
    for unit in units[:MAX_SHOWN_ITEMS]:
        cells = dict(unit.cells)
        texts = [cells.get(header, "").replace("|", "\\|") for header in headers]
        lines.append(f"| {' | '.join(texts)} [{unit.number}] |")
    return "\n".join([*lines, *_more(len(units), language)])
