"""Summaries without a language model: of a document, of a collection, of what is new in it."""

import json
import time
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from graphrag.config.settings import ParsingLimits
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.extractive_answers.summaries import (
    SummaryPoint,
    find_date,
    summarise_collection,
    summarise_document,
    what_is_new,
    write_lines,
    write_summary,
)
from graphrag.extractive_answers.summary_candidates import (
    SummarySource,
    Vectors,
    source_of_chunks,
    source_of_parsed,
)
from graphrag.ingestion.enrichment import title
from graphrag.linguistics.language import visible
from graphrag.linguistics.sentences import plain
from graphrag.models import Chunk, Document, SourceLocation
from graphrag.parsers.parsing import parse

ROOT = Path(__file__).parents[3]
DEMO = ROOT / "notebooks" / "demo"
GOLDEN = ROOT / "tests" / "golden" / "summaries.jsonl"
TODAY = date(2026, 2, 1)
LEAST_SHARE = 0.64  # of the facts that a reader wants; the first seven sentences hold .40 (tune) and .47 (kept)


def read_references() -> list[dict[str, Any]]:
    return [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


@cache
def read_source(filename: str, language: str) -> SummarySource:
    parsed = parse((DEMO / filename).read_bytes(), filename=filename, limits=ParsingLimits())
    return source_of_parsed(parsed, title=title(parsed, filename=filename), filename=filename, language=language)


def make_source(text: str, *, language: str = "en", title: str = "", **values: Any) -> SummarySource:
    return SummarySource(title, "note.txt", language, text, **values)


def summarise(source: SummarySource, **values: Any) -> list[SummaryPoint]:
    return summarise_document(source, language=source.language, today=TODAY, **values)


def flat(text: str) -> str:
    return " ".join(text.replace("’", "'").split())


@pytest.mark.parametrize("reference", read_references(), ids=lambda reference: reference["document"])
def test_points_stand_in_the_document(reference: Mapping[str, Any]) -> None:
    """R8.4: A point's text is found at its offsets, in the document's order, unless it is marked as computed."""
    source = read_source(reference["document"], reference["language"])

    points = summarise(source)

    quoted = [point for point in points if not point.is_computed]
    assert 3 <= len(points) <= 7
    for point in quoted:
        assert point.text in visible(plain(source.text[point.start : point.end]))
    assert [point.start for point in quoted] == sorted(point.start for point in quoted)
    assert all(other.start >= one.end for one, other in pairwise(quoted))


@pytest.mark.parametrize("split", ["tune", "kept"])
def test_facts_that_readers_want_are_in_summaries(split: str) -> None:
    """R8: Summaries hold most of the facts written down for each document before any summary was seen."""
    found = wanted = 0
    for reference in read_references():
        if reference["split"] == split:
            points = summarise(read_source(reference["document"], reference["language"]))
            text = flat(" ".join(point.text for point in points))
            found += sum(any(flat(phrase) in text for phrase in fact["any"]) for fact in reference["facts"])
            wanted += len(reference["facts"])

    assert found / wanted >= LEAST_SHARE


FRONT_MATTER = [
    ("recall.md", "en", "# Recall\n\nPrepared by Owen Pritchett, Bristol.\nFinal version, 12 May 2025\n\n## Facts\n\n"),
    ("acta.md", "es", "# Acta\n\nRedacta: Nuria Castán (Recursos Humanos).\nAsisten: Marta e Íñigo.\n\n## Hechos\n\n"),
    ("audit.md", "fr", "# Audit\n\nRédigé par Delphine Caussade pour Marta Ainsa.\nDiffusion : tous.\n\n## Faits\n\n"),
]
BODIES = {
    "en": "The oven stopped for two days because the seal was worn. We agreed to buy a second seal by 3 March.\n",
    "es": "El horno se paró dos días porque el retén estaba gastado. Se acuerda comprar otro antes del 3 de marzo.\n",
    "fr": "Le four s'est arrêté deux jours car le joint était usé. Il est décidé d'en acheter un avant le 3 mars.\n",
}


@pytest.mark.parametrize(("filename", "language", "front"), FRONT_MATTER)
def test_front_matter_is_no_point(filename: str, language: str, front: str) -> None:
    """R8: Titles, bylines, those present and headings are left out, in three languages."""
    points = summarise(SummarySource("", filename, language, front + BODIES[language]))

    assert " ".join(point.text for point in points) == BODIES[language].strip()
    assert {point.heading for point in points} == {front.rpartition("## ")[2].strip()}


def test_messages_lose_greeting_and_signature_and_keep_what_is_asked() -> None:
    """R8: Of an e-mail who asks for what is kept, although it is a question; greeting and signature are not."""
    text = (
        "De : Julien\nÀ : Teresa\nDate : 28 mai 2025\nObjet : Valadour nous quitte\n\nBonjour à tous,\n\n"
        "Le contrat avec Valadour prendra fin le 30 juin.\n\n"
        "Teresa, pourrais-tu m'envoyer ton rapport sur le four H2 avant vendredi ?\n\nBien à vous,\nJulien\n"
    )

    points = summarise(make_source(text, language="fr"))

    assert [point.text for point in points] == [
        "Le contrat avec Valadour prendra fin le 30 juin.",
        "Teresa, pourrais-tu m'envoyer ton rapport sur le four H2 avant vendredi ?",
    ]


def test_questions_are_no_points_elsewhere() -> None:
    """R8: A bare question says nothing."""
    points = summarise(make_source("Could we ever pay for a second oven this year? The second oven costs €37,000.\n"))

    assert [point.text for point in points] == ["The second oven costs €37,000."]


def test_sentences_that_point_back_come_with_the_one_before() -> None:
    """R8: A sentence that begins with a pronoun is quoted with its antecedent, or not at all."""
    text = "Marta Ainsa leads the plant. She cut the budget by €21,000 because of the repair of the roof.\n"
    alone = "It " + "was agreed upon by all of the people who had come to the meeting " * 3 + "at a cost of €5.\n"

    joined = summarise(make_source(text), points=1)

    assert [point.text for point in joined] == [text.strip()]
    assert all(not point.text.startswith("It ") for point in summarise(make_source(f"{alone}\n{text}"), points=1))


def test_announced_items_come_with_what_announces_them() -> None:
    """R8: «Se acuerda:» is quoted with its first item, never alone."""
    text = "Para ajustarse a la cifra se acuerda:\n\n- aplazar de febrero a mayo la revisión del compresor C3;\n"

    (point,) = summarise(make_source(text, language="es"))

    assert point.text == (
        "Para ajustarse a la cifra se acuerda: aplazar de febrero a mayo la revisión del compresor C3"
    )


def test_nothing_is_said_twice() -> None:
    """R8: Repeated sentences make one point."""
    text = "The recall of Almendrina cost €48,600 in all.\n\n" * 5 + "A second oven was ordered for March 2026.\n"

    points = summarise(make_source(text))

    assert [point.text for point in points] == [
        "The recall of Almendrina cost €48,600 in all.",
        "A second oven was ordered for March 2026.",
    ]


def test_points_are_spread_over_the_headings() -> None:
    """R8: Each of five sections has its point, although one is far longer than the others."""
    long = " ".join(f"Oven {number} cost €{number}00 more than the budget of hall {number}." for number in range(1, 30))
    short = (
        "## Butter\n\nThe lorry was blocked by snow for a whole day.\n\n"
        "## Almonds\n\nFrost destroyed a large part of the blossom in March.\n\n"
        "## Staff\n\nFive colleagues have passed the training course in autumn.\n\n"
        "## Plans\n\nSolar panels will be built on the roof next year."
    )

    points = summarise(make_source(f"## Ovens\n\n{long}\n\n{short}\n"))

    assert {point.heading for point in points} == {"Ovens", "Butter", "Almonds", "Staff", "Plans"}


@pytest.mark.parametrize(("text", "expected"), [("", []), ("  \n\n", []), ("Hello", ["Hello"]), ("---\n***\n", [])])
def test_documents_that_say_next_to_nothing(text: str, expected: list[str]) -> None:
    """R8: Empty documents have no points, and one line is its own summary."""
    assert [point.text for point in summarise(make_source(text))] == expected
    assert len(summarise_collection([make_source(text)], language="en", today=TODAY)) == len(expected)


HOSTILE = {
    "one word": "a" * 1_000_000,
    "tokens": "spam " * 100_000,
    "bars": "|" * 200_000,
    "rows": "| a | b |\n" * 30_000,
    "items": "- x\n" * 50_000,
    "leads": "A thing follows:\n" * 20_000,
    "sentences": "The cost was 5 € today. " * 15_000,
    "labels": "Title line\n" * 40_000,
    "controls": "\x00abc. " * 40_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_documents_take_linear_time(text: str) -> None:
    """R8: A million characters, or many thousand equal lines, take seconds at most and give few short points."""
    started = time.process_time()

    points = summarise(make_source(text))

    assert time.process_time() - started < 6  # of about 1 on an idle core
    assert len(points) <= 7
    assert all(len(point.text) <= 700 for point in points)


def test_spreadsheets_are_described() -> None:
    """R8: Of a spreadsheet its columns, rows and period are said, the total that it states, and extremes."""
    points = summarise(read_source("ventas-2025.xlsx", "es"))

    said = [point.text for point in points if point.heading == "Ventas 2025"]
    assert said[0] == "12 filas con las columnas Mes, Ventas (€), Pedidos, de enero de 2025 a diciembre de 2025"
    assert said[1] == "Mes: Total; Ventas (€): 418400; Pedidos: 13870"
    assert "máximo 60.000 € (Diciembre de 2025), mínimo 22.100 € (Agosto de 2025)" in said[2]
    assert [point.is_computed for point in points][:2] == [True, False]


def test_states_of_a_spreadsheet_are_counted() -> None:
    """R8: Values that few rows share are counted in the answer's language, from rows as they are stored."""
    parsed = read_source("livraisons-2026.xlsx", "fr")
    rows = parsed.sheets[0].rows
    document = Document(
        uuid4(), uuid4(), "l.xlsx", "l.xlsx", "", "", "fr", "Livraisons", datetime(2026, 2, 1, tzinfo=UTC)
    )
    locations = tuple(SourceLocation(row.start, row.end, sheet="Livraisons", cells="A1:G1") for row in rows)
    chunk = Chunk(
        uuid4(), 0, parsed.text, 0, len(parsed.text), 0, "", document, locations, headers=parsed.sheets[0].headers
    )

    points = summarise(source_of_chunks(document, [chunk]))

    assert [point.text for point in points] == [point.text for point in summarise(parsed)]
    assert "État : Livrée 9, En attente 1, En douane 1, Annulée 1" in [point.text for point in points]


def test_vectors_are_used_where_given() -> None:
    """R8: Embeddings of the sentences change which are central, and the points stay quotations."""
    model, seen = BundledEmbeddings(), []

    def embed(texts: list[str]) -> Vectors:
        seen.extend(texts)
        return np.asarray(model.embed_documents(texts), dtype=np.float32)

    source = read_source("yearly-review-2025.md", "en")
    points = summarise(SummarySource(source.title, source.filename, "en", source.text, source.headings, embed=embed))

    assert {point.text for point in points} <= set(seen)


def test_collection_is_listed_newest_first() -> None:
    """R8: A line each, by quarter, newest first, undated last; the limit leaves out the oldest."""
    body = "The plant was closed for good in the spring of that year.\n"
    sources = [
        make_source(body, title="Old", dated=date(2024, 5, 2)),
        make_source(body, title="Undated"),
        make_source(f"Last updated 10 October 2025\n\n{body}", title="New"),
    ]

    lines = summarise_collection(sources, language="en", today=TODAY)
    text = write_lines(lines[:2], "en", lambda line: line.index + 1, total=3)

    assert [line.title for line in lines] == ["New", "Old", "Undated"]
    assert [line.group for line in lines] == ["4th quarter 2025", "2nd quarter 2024", "Undated"]
    assert text.splitlines()[2] == f"- **New**: {body.strip()} [3]"
    assert text.endswith("… and 1 more")


def test_new_documents_are_those_dated_or_added_since() -> None:
    """R8: A document is new by its own day or by the day on which it was added."""
    body = "The plant was closed for good in the spring of that year.\n"
    sources = [
        make_source(body, title="Old", dated=date(2024, 5, 2), added=date(2024, 5, 3)),
        make_source(body, title="Added", dated=date(2024, 5, 2), added=date(2026, 1, 20)),
        make_source(body, title="Dated", dated=date(2026, 1, 15)),
    ]

    lines = what_is_new(sources, date(2026, 1, 1), language="en", today=TODAY)

    assert [line.title for line in lines] == ["Dated", "Added"]


DATES = {
    "actas-comite-invierno.txt": date(2025, 2, 18),
    "correo-compras-almendra.txt": date(2025, 10, 8),
    "informe-accidente-pasillo-l4.md": date(2025, 9, 26),
    "supplier-contract-pellington.md": date(2025, 10, 10),
    "ventas-2025.xlsx": date(2025, 12, 1),
    "yearly-review-2025.md": date(2025, 12, 18),
}


def test_dates_are_read_where_documents_begin() -> None:
    """R8: A document's day is that of its byline, header or last row."""
    languages = {reference["document"]: reference["language"] for reference in read_references()}
    found = {name: find_date(read_source(name, languages[name]), TODAY) for name in DATES}

    assert found == DATES


def test_points_are_written_under_their_headings() -> None:
    """R8.3: Each bullet carries the mark of its passage; bullets of one heading stand together."""
    points = [
        SummaryPoint("first of all", "", 0, 12, 1.0),
        SummaryPoint("Second.", "Costs", 20, 27, 1.0),
        SummaryPoint("“Third.”", "Costs", 30, 38, 1.0),
    ]

    text = write_summary(points, lambda point: point.start + 1)

    assert text == "- First of all. [1]\n\n**Costs**\n\n- Second. [21]\n- “Third.” [31]"
