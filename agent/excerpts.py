"""How a passage is written for a model: numbered, delimited, escaped; what in it speaks to a model is marked."""

import re
from collections.abc import Sequence, Set
from html import escape

from graphrag.characters import visible
from graphrag.instructions import find_instructions
from graphrag.models import Passage, Span, TemporalContext
from graphrag.periods import brief_trend, name, period_of
from graphrag.places import union

JOIN = "^"  # between the words of a stretch that reads like an order: no sentence that could be followed
_SPACE = re.compile(r"[ \t]+")
_TURN = re.compile(r"\[(?=/?(?:INST|SYS)\])", re.IGNORECASE)  # what some models read as the beginning of a turn
SOURCE_WORDS = {
    "es": {
        "source": "Fuente", "page": "página", "pages": "páginas", "sheet": "hoja", "cell": "celda", "cells": "celdas",
        "date": "fecha", "trend": "tendencia",
    },
    "fr": {
        "source": "Source", "page": "page", "pages": "pages", "sheet": "feuille", "cell": "cellule",
        "cells": "cellules", "date": "date", "trend": "tendance",
    },
    "en": {
        "source": "Source", "page": "page", "pages": "pages", "sheet": "sheet", "cell": "cell", "cells": "cells",
        "date": "date", "trend": "trend",
    },
}  # fmt: skip


def write_excerpt(number: int, passage: Passage, language: str) -> str:
    filename = escape(visible(passage.document.filename), quote=True)
    source = source_line(number, passage, language)
    spans = find_instructions(passage.content)
    mark = ' suspicious="true"' if spans else ""
    text = "\n".join(line for line in (source, mark_instructions(passage.content, spans)) if line)
    written = _TURN.sub("[ ", escape(visible(text), quote=False))
    return f'<excerpt number="{number}" file="{filename}"{mark}>\n{written}\n</excerpt>'


def mark_instructions(text: str, spans: Sequence[Span]) -> str:
    """With those stretches' words joined by signs, so that they read as a quotation and not as an order."""
    parts, position = [], 0
    for span in spans:
        parts += [text[position : span.start], _SPACE.sub(JOIN, text[span.start : span.end])]
        position = span.end
    return "".join([*parts, text[position:]])


def source_line(number: int, passage: Passage, language: str) -> str:
    """[Source 1: sales.xlsx, cellule C12, date: 15 déc 2025, tendance: +25% vs mois précédent]

    Empty where no more than the file is known."""
    words, places = SOURCE_WORDS[language], passage.places
    pages = sorted({place.page for place in places if place.page})
    sheets = list(dict.fromkeys(place.sheet for place in places if place.sheet))
    cells = union(place.cells for place in places) if len(sheets) <= 1 else ""
    times = {place.temporal for place in places if place.temporal}
    facts = [
        f"{words['pages' if len(pages) > 1 else 'page']} {_span(pages)}" if pages else "",
        f"{words['sheet']} {', '.join(sheets)}" if sheets else "",
        f"{words['cells' if ':' in cells else 'cell']} {cells}" if cells else "",
        f"{words['date']}: {_dates(times, language)}" if times else "",
        *(f"{words['trend']}: {trend}" for time in times if len(times) == 1 and (trend := brief_trend(time, language))),
    ]
    known = [fact for fact in facts if fact]
    return f"[{words['source']} {number}: {', '.join([passage.document.filename, *known])}]" if known else ""


def _span(pages: Sequence[int]) -> str:
    return f"{pages[0]}-{pages[-1]}" if len(pages) > 1 else f"{pages[0]}"


def _dates(times: Set[TemporalContext], language: str) -> str:
    """«dic 2025», «1 ene 2025 - 15 dic 2025»."""
    ordered = sorted(times, key=lambda time: time.date)
    names = [name(period_of(time), language, short=True) for time in (ordered[0], ordered[-1])]
    return " - ".join(dict.fromkeys(names))
