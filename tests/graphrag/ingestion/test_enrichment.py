"""What a document is about."""

import pytest

from graphrag.ingestion.enrichment import TITLE_CHARS, detect_language, title
from graphrag.parsers.parsing import parse
from graphrag.settings import ParsingLimits


@pytest.mark.parametrize(
    ("filename", "text", "expected"),
    [
        ("a.md", "# Informe **H2**\n\ntexto\n\n# Otro", "Informe H2"),
        ("a.md", "## Resumen\n\ntexto\n\n# Informe\n", "Informe"),
        ("a.md", "texto antes\n\n## Resumen\n", "Resumen"),
        ("a.txt", "Acta de la reunión\n\nSe aprobó todo.", "Acta de la reunión"),
        ("a.txt", "# Acta\n\nSe aprobó todo.", "Acta"),
        ("parte_de-averías.txt", "Se paró el horno.\nLuego siguió.", "parte de averías"),
        ("parte.txt", "Fecha: 3 de mayo\n\nSe paró el horno", "parte"),
        ("parte.txt", "Una sola línea", "parte"),
        ("parte.txt", "-----\n\nSe paró el horno", "parte"),
        ("parte.txt", f"{'muy ' * 40}largo\n\nSe paró", "parte"),
        ("parte.md", "---\ntags: [a]\n---\n\nSe paró el horno.", "parte"),
    ],
)
def test_title(filename: str, text: str, expected: str) -> None:
    """R1.3"""
    assert title(parse(text.encode(), filename=filename, limits=ParsingLimits()), filename=filename) == expected


def test_a_title_is_short() -> None:
    """R1.3"""
    parsed = parse(f"# {'muy ' * 100}largo".encode(), filename="a.md", limits=ParsingLimits())
    assert 0 < len(title(parsed, filename="a.md")) <= TITLE_CHARS


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("El horno se paró porque faltaba gas.", "es"),
        ("Le four s'est arrêté faute de gaz.", "fr"),
        ("The oven stopped for lack of gas.", "en"),
        ("12.000 / 3,5", "und"),
    ],
)
def test_language(text: str, language: str) -> None:
    """R1.3"""
    assert detect_language(parse(text.encode(), filename="a.txt", limits=ParsingLimits())) == language
