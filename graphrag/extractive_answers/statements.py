"""Excerpts that are read, and the statements extracted from them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graphrag.linguistics.language import fold, words
from graphrag.linguistics.rules import Pattern, Rules, read_rules
from graphrag.models import Span
from graphrag.parsers.source_locations import split_around_rows


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A numbered passage of a document, as a prompt holds it."""

    number: int  # its mark in the answer
    title: str
    text: str
    language: str
    start_char: int = 0  # in its document
    rows: tuple[Span, ...] = ()  # of a spreadsheet, in the text: a line each
    headers: tuple[str, ...] = ()  # of the table whose rows it holds
    suspicious: tuple[Span, ...] = ()  # of the text: instructions for a language model, or planted; they answer nothing
    posed: tuple[Span, ...] = ()  # of the text: what stands under the question there
    score: float = 0.35  # relevance to the question, in [0, 1]; where nobody judged it, as in a doubtful case
    filename: str = ""
    source_line: str = ""  # «[Fuente 1: ventas.xlsx, celda C12]»; empty where no more than the file is known

    @property
    def is_of_table(self) -> bool:
        return bool(self.rows)

    @property
    def sentences(self) -> tuple[Span, ...]:
        """Return the spans of its sentences and rows, which tile the text."""
        return split_around_rows(self.text, self.rows)


@dataclass(frozen=True, slots=True)
class ChainLink:
    """The sentences of an excerpt that state a link, from `first` to `last`, counted from 0."""

    number: int  # of the excerpt
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Chain:
    """A causal chain, each link of which an excerpt states."""

    text: str  # «A» –CAUSES→ «B» [1]
    score: float
    links: tuple[ChainLink, ...]


@dataclass(frozen=True, slots=True)
class ExtractedStatement:
    text: str
    number: int
    language: str
    score: float
    is_row: bool = False  # of a table; several make a list


def distinct(statements: Iterator[ExtractedStatement] | Sequence[ExtractedStatement]) -> list[ExtractedStatement]:
    """Return the first of several statements that say the same."""
    kept: list[tuple[ExtractedStatement, set[str]]] = []
    for statement in statements:
        own = {fold(word) for word in words(statement.text)}
        if statement.is_row or all(len(own & other) < SAME * min(len(own), len(other)) for _, other in kept):
            kept.append((statement, own))
    return [statement for statement, _ in kept]


def finished(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…", ":", "»", '"')) else f"{text}."


def without_marks(text: str) -> str:
    """Return a document's or a question's text, of which «[3]» would be read as a mark of ours; it stays as long."""
    return _MARK.sub(r"(\1)", text)


def points_back(text: str) -> bool:
    return _rules().points_back.match(fold(text).replace("’", "'")) is not None


def opened(text: str) -> str:
    """Return the text with a capital first letter, which a list item may lack."""
    first = text.split(maxsplit=1)[0] if text else ""
    return text[:1].upper() + text[1:] if first.islower() and first.isalpha() else text


_MARK = re.compile(r"\[([\d\s,;]*)\]")
SAME = 0.6  # share of words from which two sentences say the same


class StatementRules(Rules):
    points_back: Pattern


@lru_cache(maxsize=1)
def _rules() -> StatementRules:
    return read_rules(StatementRules, "graphrag.extractive_answers", "statements")
