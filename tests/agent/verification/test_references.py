"""A citation as a person and as another program reads it."""

from dataclasses import replace
from datetime import date

import pytest

from agent.output.events import describe_citation
from agent.verification.checking import cite
from graphrag.models import Passage, SourceLocation, TemporalContext
from tests.agent.verification.passages import make_passage
from tests.factories import make_document

ROW = "Mes: diciembre de 2025; Ventas: 1250"
CELL = SourceLocation(0, len(ROW), sheet="Ventes", cells="C12", temporal=TemporalContext(date(2025, 12, 15), "day"))
SHEET = Passage(make_document(filename="sales.xlsx"), 4, 0, len(ROW), ROW, ((0, len(ROW)),), 0.9, (CELL,))
PROSE = "# Obra\n\nEl puente se cerró\ntras la riada. La obra costó 9.240 euros.\n"


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("fr", "Selon la cellule C12 (feuille 'Ventes', fichier sales.xlsx, date: 15 décembre 2025): "),
        ("es", "Según la celda C12 (hoja 'Ventes', archivo sales.xlsx, fecha: 15 de diciembre de 2025): "),
        ("en", "According to cell C12 (sheet 'Ventes', file sales.xlsx, date: 15 December 2025): "),
    ],
)
def test_a_cell_is_told_in_the_answer_s_language(language: str, told: str) -> None:
    """R8.3 «Selon la cellule C12 (feuille 'Ventes', fichier sales.xlsx, date: 15 décembre 2025): …»"""
    described = describe_citation(cite(ROW, 1, SHEET), language=language)
    assert described["sentence"] == told + ROW
    assert described["reference"] == f"[{SHEET.document.id}:4]"


def test_prose_is_told_by_its_page_or_its_lines() -> None:
    """R8.3 The page of a PDF; the lines of a text, where the passage begins with the document's first."""
    passage = make_passage(PROSE)
    described = describe_citation(cite("El puente se cerró tras la riada.", 1, passage), language="es")
    assert described["sentence"] == "Según las líneas 3-4 (archivo notas.md): El puente se cerró tras la riada."
    assert (described["first_line"], described["last_line"]) == (3, 4)
    later = make_passage(PROSE, start=50)
    told = describe_citation(cite("La obra costó 9.240 euros.", 1, later), language="en")
    assert told["sentence"] == "According to the document notas.md: La obra costó 9.240 euros."
    assert told["first_line"] is None
    paged = replace(passage, locations=(SourceLocation(0, len(PROSE), page=2),))
    told = describe_citation(cite("La obra costó 9.240 euros.", 1, paged), language="fr")
    assert told["sentence"] == "Selon la page 2 (fichier notas.md): La obra costó 9.240 euros."
