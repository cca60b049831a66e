"""The nouns of proposing: a document as it is read for questions, and a question that was made from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from graphrag.linguistics.sentences import is_heading, plain
from graphrag.llm.prompt_injection import find_instructions
from graphrag.models import Chunk, Document, Span
from graphrag.models.evaluation import Category
from graphrag.parsers.source_locations import overlapping, split_rows


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    text: str
    answer: str  # a sentence of the document, or a value of a table
    quote: str  # of the document, as it is written there
    category: Category
    kind: str  # what it was made from: "cause", "date", "role", "row", "model"


@dataclass(frozen=True)
class ReadDocument:
    document: Document
    chunks: Sequence[Chunk]  # all of them, in order: they tile its text

    @property
    def language(self) -> str:
        return self.document.language

    @cached_property
    def text(self) -> str:
        return "".join(chunk.content for chunk in self.chunks)

    @cached_property
    def orders(self) -> tuple[Span, ...]:
        """Spans with instructions for a language model: no question is made from them."""
        return find_instructions(self.text)

    @cached_property
    def sentences(self) -> list[Span]:
        """Return the sentences of its prose: neither headings nor rows of tables nor instructions."""
        locations = overlapping((location for chunk in self.chunks for location in chunk.locations), 0, len(self.text))
        cells = [location for location in locations if location.cells]
        return [
            span
            for span in split_rows(self.text, locations)
            if not is_heading(self.text[span.start : span.end])
            and "|" not in self.text[span.start : span.end]
            and not any(location.start_char < span.end and span.start < location.end_char for location in cells)
            and self.is_harmless(span)
        ]

    def is_harmless(self, span: Span) -> bool:
        return not any(order.start < span.end and span.start < order.end for order in self.orders)

    def read(self, span: Span) -> str:
        """Return the span's text without markup."""
        return plain(self.text[span.start : span.end])
