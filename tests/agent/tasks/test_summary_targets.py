"""Which documents a summary is of, and since when."""

from datetime import date

import pytest

from agent.tasks.summary import find_targets, read_since
from tests.factories import make_document

RECALL = make_document(title="Recall report: Almendrina lot A-2517", filename="almendrina-recall.md", language="en")
QUALITY = make_document(title="Informe de calidad: horno H2", filename="informe-calidad.md", language="es")
ACCIDENT = make_document(title="Informe de accidente: pasillo L4", filename="informe-accidente.md", language="es")
YEAR = make_document(title="A year at Brisalba", filename="yearly_review-2025.md", language="en")


@pytest.mark.parametrize(
    ("target", "language", "found"),
    [
        ("the recall report", "en", [RECALL]),
        ("el informe de accidente", "es", [ACCIDENT]),
        ("le rapport sur l'accident", "fr", [ACCIDENT]),
        ("the year 2025", "en", [YEAR]),
        ("la huelga de transportes", "es", []),
    ],
)
def test_a_document_is_named_by_the_words_of_its_title(target: str, language: str, found: list[object]) -> None:
    """R6.1 In any language; a word that many titles have tells little."""
    assert find_targets(target, language, [RECALL, QUALITY, ACCIDENT, YEAR]) == found


@pytest.mark.parametrize(
    ("phrase", "language", "day"),
    [
        ("since May", "en", date(2026, 5, 1)),
        ("depuis le 3 mars 2026", "fr", date(2026, 3, 3)),
        ("desde diciembre", "es", date(2025, 12, 1)),
        ("", "es", None),
    ],
)
def test_what_is_new_begins_on_a_day_that_is_past(phrase: str, language: str, day: date | None) -> None:
    """R6.1 A month without a year is the last one."""
    assert read_since(phrase, language, date(2026, 11, 24)) == day
