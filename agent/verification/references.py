"""How a citation is told to a person: «Selon la cellule C12 (feuille 'Ventes', fichier sales.xlsx): …»"""

from agent.verification.checking import Citation
from graphrag.periods import name, period_of

_WORDS = {
    "es": {
        "cell": "Según la celda", "cells": "Según las celdas", "page": "Según la página", "line": "Según la línea",
        "lines": "Según las líneas", "document": "Según el documento",
        "sheet": "hoja", "file": "archivo", "date": "fecha",
    },
    "fr": {
        "cell": "Selon la cellule", "cells": "Selon les cellules", "page": "Selon la page", "line": "Selon la ligne",
        "lines": "Selon les lignes", "document": "Selon le document",
        "sheet": "feuille", "file": "fichier", "date": "date",
    },
    "en": {
        "cell": "According to cell", "cells": "According to cells", "page": "According to page",
        "line": "According to line", "lines": "According to lines", "document": "According to the document",
        "sheet": "sheet", "file": "file", "date": "date",
    },
}  # fmt: skip


def reference(citation: Citation) -> str:
    return f"[{citation.document_id}:{citation.chunk_index}]"


def sentence(citation: Citation, language: str) -> str:
    """With the quote, its white space as single spaces."""
    words = _WORDS[language]
    quote = " ".join(citation.quote.split())
    where, facts = _where(citation, words), _facts(citation, words, language)
    told = f" ({', '.join(facts)})" if facts else ""
    return f"{where}{told}: {quote}"


def _where(citation: Citation, words: dict[str, str]) -> str:
    place = citation.place
    if place and place.cells:
        return f"{words['cells' if ':' in place.cells else 'cell']} {place.cells}"
    if place and place.page:
        return f"{words['page']} {place.page}"
    if citation.first_line is not None and citation.last_line is not None:
        if citation.first_line == citation.last_line:
            return f"{words['line']} {citation.first_line}"
        return f"{words['lines']} {citation.first_line}-{citation.last_line}"
    return f"{words['document']} {citation.filename}"


def _facts(citation: Citation, words: dict[str, str], language: str) -> list[str]:
    place = citation.place
    where = _where(citation, words)
    found = [f"{words['sheet']} '{place.sheet}'"] if place and place.sheet else []
    if not where.endswith(citation.filename):
        found.append(f"{words['file']} {citation.filename}")
    if place and place.temporal:
        found.append(f"{words['date']}: {name(period_of(place.temporal), language)}")
    return found
