"""What a document is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.config.settings import ParsingLimits
from graphrag.ingestion.enrichment import AUTHOR_CHARS, TITLE_CHARS, authors, detect_language, title
from graphrag.models import ParsedText
from graphrag.parsers import parsing


def parse(data: bytes, *, filename: str) -> ParsedText:
    return parsing.parse(data, filename=filename, limits=ParsingLimits())


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
    assert title(parse(text.encode(), filename=filename), filename=filename) == expected


def test_a_title_is_short() -> None:
    """R1.3"""
    parsed = parse(f"# {'muy ' * 100}largo".encode(), filename="a.md")
    assert 0 < len(title(parsed, filename="a.md")) <= TITLE_CHARS


def described(text: str = "Se paró el horno.", **fields: object) -> ParsedText:
    return replace(ParsedText(text, "application/pdf"), **fields)  # type: ignore[arg-type]  # a field's name and value


@pytest.mark.parametrize(
    "given",
    ["Averías del horno", "  Averías\n del horno ", "'Averías del horno'"],
)
def test_the_title_that_a_file_gives_itself(given: str) -> None:
    """R1.3"""
    assert title(described("# Otro\n\nNada.", title=given), filename="parte.pdf") == "Averías del horno"


@pytest.mark.parametrize(
    "given",
    [
        *["", " ", "—", "1234", "Untitled", "Sin título 1", "Document1", "Presentación1", "PowerPoint Presentation"],
        *["Presentación de PowerPoint", "Microsoft Word - parte_v2.doc", "parte_v2.indd", "parte de averías"],
        *["Parte_de_averias", "untitled-2", "Libro1", "Title"],
    ],
)
def test_a_title_that_a_program_made_up_is_none(given: str) -> None:
    """R1.3"""
    parsed = described("Acta de la reunión\n\nSe aprobó todo.", title=given)
    assert title(parsed, filename="parte de averías.pdf") == "Acta de la reunión"


@pytest.mark.parametrize("key", ["title", "Título", "titre"])
def test_the_title_of_front_matter(key: str) -> None:
    """R1.3"""
    parsed = parse(f'---\nlang: es\n{key}: "Averías: el horno"\n---\n\n# Otro\n\nNada.'.encode(), filename="a.md")
    assert title(parsed, filename="a.md") == "Averías: el horno"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Autor: Ana Gil\n\nSe paró el horno.", ["Ana Gil"]),
        ("# Parte\n\n**Autora:** Ana Gil\n\nSe paró.", ["Ana Gil"]),
        ("# Parte\n\nAutores: Ana Gil y Eva Sanz\n", ["Ana Gil", "Eva Sanz"]),
        ("Auteur : Léa Roy", ["Léa Roy"]),
        ("Auteur(s) : Léa Roy, Jean Petit et Zoé Ney", ["Léa Roy", "Jean Petit", "Zoé Ney"]),
        ("Autrice : Léa Roy", ["Léa Roy"]),
        ("- Author: Jo Day <jo@example.org>", ["Jo Day"]),
        ("Authors: Jo Day & Al Fox; Bo Ray", ["Jo Day", "Al Fox", "Bo Ray"]),
        ("| Author | Jo Day |\n\n| Author: | Jo Day |", ["Jo Day"]),
        ("Author: Gil, Ana", ["Gil, Ana"]),
        ("Rédigé par : Léa Roy.", ["Léa Roy"]),
        ("---\ntitle: T\nauthor: Ana Gil\n---\n\nNada.", ["Ana Gil"]),
        ("---\nauthor: [Ana Gil, Eva Sanz]\n---\n\nNada.", ["Ana Gil", "Eva Sanz"]),
        ('---\nauthors:\n  - "Ana Gil"\n  - Eva Sanz\ntags: [a]\n---\n\nNada.', ["Ana Gil", "Eva Sanz"]),
        ("Autor: Ana Gil\n- primer punto", ["Ana Gil"]),
        ("Author: unknown\n", []),
        ("El autor: nadie lo sabe.", []),
        ("Autoridad: el alcalde", []),
        ("Autor:\n\nSe paró.", []),
        ("Nada." + "\n\nNada." * 800 + "\n\nAutor: Ana Gil", []),
    ],
)
def test_authors_of_a_text(text: str, expected: list[str]) -> None:
    """R1.3"""
    assert authors(parse(text.encode(), filename="a.md")) == tuple(expected)


def test_the_authors_that_a_file_names_itself() -> None:
    """R1.3: before those of its text; what programs write there is nobody."""
    given = ("Ana Gil", "Microsoft Office User", " Eva  Sanz ", "Ana Gil", "python-docx", "admin", "")
    assert authors(described("Autor: Zoé Ney", authors=given)) == ("Ana Gil", "Eva Sanz")
    assert authors(described("Autor: Zoé Ney", authors=("user",))) == ("Zoé Ney",)


def test_a_table_of_books_has_their_authors() -> None:
    """R1.3: not those of the file."""
    rows = "Autor,Título,Año\nAna Gil,Hornos,2001\nEva Sanz,Hielos,2002\n"
    assert authors(parse(rows.encode(), filename="libros.csv")) == ()


@given(st.text(max_size=200), st.text(max_size=200))
def test_names_and_titles_are_one_line(text: str, given: str) -> None:
    """R1.3: whatever is given."""
    found = [
        *authors(described(f"Autor: {text}", authors=(given,))),
        title(described(title=given), filename="parte.pdf"),
    ]
    assert all("\n" not in name and name == name.strip() and any(map(str.isalpha, name)) for name in found)
    assert all(len(name) <= max(AUTHOR_CHARS, TITLE_CHARS) for name in found)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("El horno se paró porque faltaba gas.", "es"),
        ("Le four s'est arrêté faute de gaz.", "fr"),
        ("The oven stopped for lack of gas.", "en"),
        ("12.000 / 3,5", "und"),
        ("ACTA DE LA REUNION", "es"),
        ("Horno parado", "es"),
        ("mise a jour du plan", "fr"),
        ("O forno parou por falta de gás.", "pt"),
        ("https://example.org/the/end/of/it", "und"),
        ("Хлебозавод остановил печь ночью.", "und"),
        ("توقف الفرن بسبب نقص الغاز. " * 20, "und"),
    ],
)
def test_language(text: str, language: str) -> None:
    """R1.3"""
    assert detect_language(parse(text.encode(), filename="a.txt")) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Mes;Ventas\n2025-11-01;900\n2025-12-01;1000\n", "es"),
        ("Fecha;Cliente;Importe\n2025-11-01;Smith & Jones Ltd;3\n2025-12-01;The Corner Shop;4\n", "es"),
        ("Commande;Fournisseur;Quantité\n1;Molinos Escarra;3\n2;Hijos de la Fuente;4\n", "fr"),
        ("Order;Customer;Due date\n1;Épicerie du Marché;2025-12-01\n2;Halles de la Gare;2025-12-02\n", "en"),
        ("A;B\nEl horno se paró porque faltaba gas;1\nNo hay pan;2\n", "es"),
    ],
)
def test_language_of_a_table_is_that_of_its_headers(text: str, language: str) -> None:
    """R1.3: names and numbers tell none; where the headers don't either, the cells do."""
    assert detect_language(parse(text.encode(), filename="a.csv")) == language
