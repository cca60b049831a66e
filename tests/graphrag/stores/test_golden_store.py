"""Golden cases in PostgreSQL: their documents exist, no question comes twice, versions never change."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest

from graphrag.errors import (
    CollectionNotFound,
    GoldenCaseExists,
    GoldenCaseNotFound,
    GoldenVersionNotFound,
    InvalidGoldenCase,
)
from graphrag.models.evaluation import DocumentReference, GoldenCase, hash_cases, query_key
from graphrag.services import Services
from tests.golden_library import HORNO, PUENTE, TINS, Shelf, draft, open_shelf


@pytest.fixture
async def shelf(services: Services, owner: str) -> Shelf:
    return await open_shelf(services, owner)


async def cases(shelf: Shelf) -> list[GoldenCase]:
    return await shelf.services.golden.list_all(shelf.collection)


async def test_a_case_is_kept_as_it_was_written(shelf: Shelf) -> None:
    """R10.1 question, documents, expected answer, category, difficulty, tags, when it was seen to be valid."""
    (case_id,) = await shelf.add(
        draft(
            HORNO, "horno.md", expected_answer="El retén.", category="causal", difficulty="hard", tags=("b", "a", "b")
        )
    )
    case = await shelf.services.golden.find(shelf.collection.owner_id, case_id)
    assert (case.query, case.expected_answer, case.category, case.difficulty) == (HORNO, "El retén.", "causal", "hard")
    assert case.tags == ("b", "a")
    assert case.relevant_document_ids == (shelf.id("horno.md"),)
    assert case.missing_document_ids == ()
    assert case.last_validated_at == case.updated_at


async def test_documents_go_by_id_source_or_filename(shelf: Shelf) -> None:
    """R10.1 the id counts before a name; what is named twice is one document."""
    both = DocumentReference(shelf.id("puente.md"), "horno.md", "horno.md")
    await shelf.add(
        draft(HORNO, "horno.md", shelf.id("horno.md"), str(shelf.id("horno.md"))),
        replace(draft(PUENTE), documents=(both,)),
    )
    assert [case.relevant_document_ids for case in await cases(shelf)] == [
        (shelf.id("horno.md"),),
        (shelf.id("puente.md"),),
    ]


async def test_a_document_that_is_not_there_is_refused_with_the_index(shelf: Shelf) -> None:
    """R10.1 relevant documents must exist; of several cases none is taken."""
    with pytest.raises(InvalidGoldenCase, match=r"case 1: relevant documents: nada\.md: not in the collection") as told:
        await shelf.add(draft(HORNO, "horno.md"), draft(PUENTE, "nada.md"))
    assert told.value.details["index"] == 1
    with pytest.raises(InvalidGoldenCase):
        await shelf.add(draft(HORNO, uuid4()))
    assert await cases(shelf) == []


async def test_another_collections_document_is_not_there(shelf: Shelf, services: Services) -> None:
    """R10.1, R4.8 neither the owner's own nor another owner's."""
    other = await open_shelf(services, shelf.collection.owner_id, "otra", **{"único.md": "Un texto único."})
    stranger = await open_shelf(services, f"{shelf.collection.owner_id}-x", "otra", **{"ajeno.md": "Un texto ajeno."})
    for document in (other.id("único.md"), stranger.id("ajeno.md")):
        with pytest.raises(InvalidGoldenCase, match="not in the collection"):
            await shelf.add(draft(HORNO, document))


async def test_a_filename_of_two_documents_names_neither(services: Services, owner: str) -> None:
    """R10.1 a case is never given the wrong document."""
    shelf = await open_shelf(services, owner)
    async with services.database.transaction(owner) as connection:
        await connection.execute("UPDATE documents SET filename = 'x.md' WHERE filename IN ('horno.md', 'puente.md')")
    with pytest.raises(InvalidGoldenCase, match="several documents"):
        await shelf.add(draft(HORNO, "x.md"))
    await shelf.add(draft(HORNO, "horno.md"))  # the source is one document's alone


@pytest.mark.parametrize("again", [HORNO, "  por qué FALLÓ   el horno h2 ", "¿¡Por qué falló el horno H2…!?"])
async def test_no_question_comes_twice(shelf: Shelf, again: str) -> None:
    """R10.1 whatever its case, spaces and marks; which one it is, is told."""
    (first,) = await shelf.add(draft(HORNO, "horno.md"))
    with pytest.raises(GoldenCaseExists) as told:
        await shelf.add(draft(PUENTE, "puente.md"), draft(again, "horno.md"))
    assert told.value.details == {"case": str(first), "index": 1}
    with pytest.raises(InvalidGoldenCase, match="case 0 asks the same"):
        await shelf.add(draft(TINS, "stock.md"), draft(TINS.upper(), "stock.md"))
    assert len(await cases(shelf)) == 1


async def test_questions_that_differ_in_a_letter_are_two(shelf: Shelf) -> None:
    """R10.1 «esta» and «está» ask different things, as do C and C#."""
    queries = ["¿Qué esta?", "¿Qué está?", "What is C?", "What is C#?"]
    await shelf.add(*(draft(query) for query in queries))
    assert [case.query for case in await cases(shelf)] == queries


@pytest.mark.parametrize("query", ["", "   ", "¿?", "…"])
async def test_a_question_without_words_is_refused(shelf: Shelf, query: str) -> None:
    """R10.1"""
    with pytest.raises(InvalidGoldenCase):
        await shelf.add(draft(query))
    assert query_key(query) == ""


async def test_of_two_writers_at_once_one_is_refused(shelf: Shelf) -> None:
    """R10.1 no duplicate comes in through a race."""
    outcomes = await asyncio.gather(*(shelf.add(draft(HORNO)) for _ in range(6)), return_exceptions=True)
    assert sum(isinstance(outcome, GoldenCaseExists) for outcome in outcomes) == 5
    assert len(await cases(shelf)) == 1


async def test_existing_questions_are_kept_or_replaced_as_wished(shelf: Shelf) -> None:
    """R10.1 a file that is read again changes nothing, or what it says anew."""
    golden, collection = shelf.services.golden, shelf.collection
    (first,) = await shelf.add(draft(HORNO, "horno.md"))
    again = [draft(HORNO, "puente.md", category="causal"), draft(PUENTE, "puente.md")]
    kept = await golden.add(collection, again[:1], existing="keep")
    assert (kept.added, kept.replaced, kept.kept) == ((), 0, 1)
    assert (await golden.find(collection.owner_id, first)).category == "factual"
    written = await golden.add(collection, again, existing="replace")
    assert (len(written.added), written.replaced, written.kept) == (1, 1, 0)
    case = await golden.find(collection.owner_id, first)
    assert (case.category, case.relevant_document_ids) == ("causal", (shelf.id("puente.md"),))


async def test_a_case_is_written_anew_and_deleted(shelf: Shelf) -> None:
    """R10.1, R9.5"""
    golden, owner = shelf.services.golden, shelf.collection.owner_id
    first, second = await shelf.add(draft(HORNO, "horno.md"), draft(PUENTE, "puente.md"))
    changed = await golden.replace(owner, first, draft(f"{HORNO} ", "horno.md", difficulty="easy"))
    assert (changed.id, changed.difficulty) == (first, "easy")
    with pytest.raises(GoldenCaseExists) as told:
        await golden.replace(owner, first, draft(PUENTE))
    assert told.value.details["case"] == str(second)
    with pytest.raises(InvalidGoldenCase):
        await golden.replace(owner, first, draft(HORNO, "nada.md"))
    await golden.delete(owner, first)
    for late in (
        golden.find(owner, first),
        golden.delete(owner, first),
        golden.replace(owner, first, draft("Otra cosa")),
    ):
        with pytest.raises(GoldenCaseNotFound):
            await late
    assert [case.id for case in await cases(shelf)] == [second]


async def test_list_filters_and_pages(shelf: Shelf) -> None:
    """R9.5 in the order in which they came; each page after the last case of the one before."""
    await shelf.add(
        draft(HORNO, category="causal", difficulty="hard"),
        draft(PUENTE, category="temporal", difficulty="hard"),
        draft(TINS, category="temporal", difficulty="easy"),
    )
    golden, collection = shelf.services.golden, shelf.collection
    every = await cases(shelf)
    assert [case.query for case in every] == [HORNO, PUENTE, TINS]
    first = await golden.list_all(collection, limit=2)
    rest = await golden.list_all(collection, limit=2, after=(first[-1].created_at, first[-1].id))
    assert first + rest == every
    assert await golden.list_all(collection, category="temporal", difficulty="easy") == every[2:]
    assert await golden.list_all(collection, query="CERRO EL PUENTE") == every[1:2]
    assert await golden.list_all(collection, query="100%_\\") == []


async def test_a_deleted_document_breaks_its_cases_visibly(shelf: Shelf) -> None:
    """R10.1, security 19: the case stays, says what is missing, and validation does not pass it."""
    golden, collection = shelf.services.golden, shelf.collection
    await shelf.add(draft(HORNO, "horno.md", "puente.md"), draft(TINS, "stock.md"))
    assert await golden.validate(collection) == (2, 0)
    before = await cases(shelf)
    await shelf.drop("puente.md")
    assert await golden.validate(collection) == (1, 1)
    broken, valid = await cases(shelf)
    assert broken.missing_document_ids == (shelf.id("puente.md"),)
    assert (broken.last_validated_at, valid.missing_document_ids) == (before[0].last_validated_at, ())
    assert valid.last_validated_at > before[1].last_validated_at
    assert await golden.list_all(collection, broken=True) == [broken]
    assert await golden.list_all(collection, broken=False) == [valid]


async def test_a_document_whose_time_is_over_is_missing(shelf: Shelf) -> None:
    """R1.8, R10.1"""
    await shelf.add(draft(HORNO, "horno.md"))
    async with shelf.services.database.transaction(shelf.collection.owner_id) as connection:
        await connection.execute("UPDATE documents SET expires_at = now() - interval '1 second'")
    assert (await cases(shelf))[0].missing_document_ids == (shelf.id("horno.md"),)
    with pytest.raises(InvalidGoldenCase):
        await shelf.add(draft(PUENTE, "puente.md"))


async def test_a_version_never_changes(shelf: Shelf) -> None:
    """R10.1 what is written, changed and deleted afterwards is not in it; its number is the next one."""
    golden, collection = shelf.services.golden, shelf.collection
    first, second = await shelf.add(draft(HORNO, "horno.md", tags=("a",)), draft(PUENTE, "puente.md"))
    before = await cases(shelf)
    version = await golden.add_version(collection, "primera")
    assert (version.number, version.name, version.case_count) == (1, "primera", 2)
    await golden.replace(collection.owner_id, first, draft("¿Qué horno falló?", "horno.md"))
    await golden.delete(collection.owner_id, second)
    assert (await golden.add_version(collection)).number == 2
    read, kept = await golden.read_version(collection, 1)
    assert read == version
    assert kept == before
    assert version.content_hash == hash_cases(before) == hash_cases(before[::-1]) != hash_cases(await cases(shelf))
    assert [of.number for of in await golden.list_versions(collection)] == [2, 1]
    assert [of.number for of in await golden.list_versions(collection, before=2)] == [1]
    with pytest.raises(GoldenVersionNotFound):
        await golden.read_version(collection, 3)


async def test_a_version_says_what_is_missing_now(shelf: Shelf) -> None:
    """R10.1 its references break as those of the cases do, and nothing of the document is in it."""
    golden, collection = shelf.services.golden, shelf.collection
    await shelf.add(draft(HORNO, "horno.md", "puente.md"))
    await golden.add_version(collection)
    await shelf.drop("horno.md")
    _, (case,) = await golden.read_version(collection, 1)
    assert case.missing_document_ids == (shelf.id("horno.md"),)
    async with shelf.services.database.transaction(collection.owner_id) as connection:
        (row,) = await (await connection.execute("SELECT cases::text AS cases FROM golden_versions")).fetchall()
    assert "horno.md" not in str(row["cases"])


async def test_versions_made_at_once_have_numbers_of_their_own(shelf: Shelf) -> None:
    """R10.1"""
    await shelf.add(draft(HORNO))
    made = await asyncio.gather(*(shelf.services.golden.add_version(shelf.collection) for _ in range(5)))
    assert sorted(version.number for version in made) == [1, 2, 3, 4, 5]


async def test_another_owner_sees_and_changes_nothing(shelf: Shelf, services: Services) -> None:
    """R4.8, security 3: an id of another owner's is an unknown one, in the same words."""
    (case_id,) = await shelf.add(draft(HORNO, "horno.md"))
    await services.golden.add_version(shelf.collection)
    golden, stranger = services.golden, f"{shelf.collection.owner_id}-x"
    unknown = uuid4()
    for each in (case_id, unknown):
        for attempt in (
            golden.find(stranger, each),
            golden.delete(stranger, each),
            golden.replace(stranger, each, draft("Otra")),
        ):
            with pytest.raises(GoldenCaseNotFound) as told:
                await attempt
            assert str(told.value) == f"There is no golden case {each}."
    theirs = replace(shelf.collection, owner_id=stranger)
    assert await golden.list_all(theirs) == []
    assert await golden.list_versions(theirs) == []
    assert await golden.validate(theirs) == (0, 0)
    with pytest.raises(GoldenVersionNotFound):
        await golden.read_version(theirs, 1)
    for write in (golden.add(theirs, [draft("Otra")]), golden.add_version(theirs)):
        with pytest.raises(CollectionNotFound):
            await write
    assert len(await cases(shelf)) == 1


async def test_cases_go_with_their_collection(shelf: Shelf) -> None:
    """R9.3, R10.1"""
    (case_id,) = await shelf.add(draft(HORNO))
    assert await shelf.services.store.delete_collection(shelf.collection)
    with pytest.raises(GoldenCaseNotFound):
        await shelf.services.golden.find(shelf.collection.owner_id, case_id)
    with pytest.raises(CollectionNotFound):
        await shelf.add(draft(PUENTE))
