"""Files of golden cases: what is written is read again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from api.schemas.golden import GoldenExport, GoldenImport, export_golden, read_golden_file
from graphrag.config.settings import Settings
from graphrag.errors import InvalidGoldenCase
from graphrag.models.evaluation import CaseDraft, Category, Difficulty, DocumentReference, GoldenCase, query_key
from graphrag.services import Services, open_services
from tests.factories import CREATED_AT
from tests.golden_library import HORNO, TEXTS, draft, open_shelf

GOLDEN = Path(__file__).parents[1] / "golden"
# No NUL, no half of a surrogate pair: neither a database nor a file takes them.
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
filenames = sorted(TEXTS)


@st.composite
def distinct_drafts(draw: st.DrawFn) -> list[CaseDraft]:
    queries = draw(st.lists(texts.filter(query_key), max_size=6, unique_by=query_key))
    return [
        draft(
            query,
            *draw(st.lists(st.sampled_from(filenames), unique=True)),
            expected_answer=draw(texts),
            category=draw(st.sampled_from(get_args(Category))),
            difficulty=draw(st.sampled_from(get_args(Difficulty))),
            tags=tuple(draw(st.lists(texts.filter(bool), max_size=3, unique=True))),
        )
        for query in queries
    ]


def said(cases: list[GoldenCase], names: dict[UUID, str]) -> list[tuple[Any, ...]]:
    """What a case says, its documents by filename."""
    return [
        (
            case.query,
            [names[document] for document in case.relevant_document_ids],
            case.expected_answer,
            case.category,
            case.difficulty,
            case.tags,
        )
        for case in cases
    ]


@settings(max_examples=8)
@given(drafts=distinct_drafts())
async def test_what_is_exported_is_imported_elsewhere_as_it_was(postgres: str, drafts: list[CaseDraft]) -> None:
    """R10.1 in another owner's collection, where the same documents have other ids; and what it exports is the same."""
    services = open_services(Settings.from_environment(database_url=SecretStr(postgres)))
    try:
        here, there = [await open_shelf(services, f"owner-{uuid4().hex}") for _ in range(2)]
        await services.golden.add(here.collection, drafts)
        text = (await export_golden(services.golden, here.collection, version=None)).model_dump_json()
        given = GoldenImport.model_validate_json(text)
        await services.golden.add(there.collection, given.drafts())
        shelves = [
            said(
                await services.golden.list_all(shelf.collection),
                {shelf.id(name): name for name in filenames},
            )
            for shelf in (here, there)
        ]
        assert shelves[0] == shelves[1]
        assert [case[0] for case in shelves[0]] == [one.query for one in drafts]
    finally:
        await services.close()


@given(st.lists(st.tuples(texts.filter(bool), texts), max_size=5))
def test_a_file_says_what_its_cases_say(pairs: list[tuple[str, str]]) -> None:
    """R10.1 whatever characters there are; a document that is gone keeps its id."""
    known, gone = uuid4(), uuid4()
    cases = [
        GoldenCase(
            uuid4(), query, (known, gone), answer, "causal", "hard", (), CREATED_AT, CREATED_AT, CREATED_AT, (gone,)
        )
        for query, answer in pairs
    ]
    names = {known: DocumentReference(known, "fuente/a.md", "a.md")}
    text = GoldenExport.of("demo", 3, cases, names).model_dump_json()
    drafts = GoldenImport.model_validate_json(text).drafts()
    assert [(one.query, one.expected_answer) for one in drafts] == pairs
    assert all(one.documents == (names[known], DocumentReference(gone)) for one in drafts)


def test_the_demos_questions_are_golden_cases() -> None:
    """R10.1 what the file says besides is passed over."""
    drafts = read_golden_file(GOLDEN / "demo.json").drafts()
    assert len(drafts) == 50
    assert len({query_key(one.query) for one in drafts}) == 50
    assert sum(not one.documents for one in drafts) == 10
    assert drafts[0].documents == (DocumentReference.named("actas-comite-invierno.txt"),)
    assert drafts[0].expected_answer.startswith("41.000 euros")


async def test_a_document_is_known_by_id_before_any_name(services: Services, owner: str) -> None:
    """R10.1"""
    shelf = await open_shelf(services, owner)
    case = {"query": HORNO, "category": "causal"}
    for name in (str(shelf.id("horno.md")), {"id": str(shelf.id("horno.md")), "source": "puente.md"}):
        given = GoldenImport.model_validate({"cases": [case | {"relevant_documents": [name]}], "existing": "replace"})
        await services.golden.add(shelf.collection, given.drafts(), existing=given.existing)
        (kept,) = await services.golden.list_all(shelf.collection)
        assert kept.relevant_document_ids == (shelf.id("horno.md"),)


GOOD = {"query": HORNO, "category": "causal"}


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (lambda path: path.write_text("[{"), "not JSON in UTF-8"),
        (lambda path: path.write_bytes(b'[{"query": "\xff"}]'), "not JSON in UTF-8"),
        (lambda path: path.write_text("[" * 100_000), "not JSON in UTF-8"),
        (lambda path: path.write_text("{}"), "cases: Field required"),
        (lambda path: path.write_text('"x"'), "valid dictionary"),
        (lambda path: path.write_text('{"cases": 3}'), "cases: Input should be a valid list"),
        (lambda path: path.write_text(json.dumps([GOOD, {"query": "x"}])), "case 1: category: Field required"),
        (lambda path: path.write_text(json.dumps([GOOD, 7])), "case 1: "),
        (lambda path: path.write_text(json.dumps([GOOD | {"query": "a\0b"}])), "case 0: query: "),
        (lambda path: path.write_text(json.dumps([GOOD | {"tags": ["\ud800"]}])), "case 0: tags.0: "),
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: None, "No such file"),
    ],
)
def test_a_file_that_is_none_is_told(tmp_path: Path, write: Callable[[Path], object], told: str) -> None:
    """R10.1 with the index of a bad case."""
    path = tmp_path / "cases.json"
    write(path)
    with pytest.raises(InvalidGoldenCase) as error:
        read_golden_file(path)
    assert told in str(error.value)
    assert ("index" in error.value.details) == ("case " in told)
