"""From hits to passages."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrag.ingestion.chunking import chunk
from graphrag.models import Chunk, Document, Hit, IndexedDocument, ParsedText, Passage, Place
from graphrag.retrieval.expansion import Reach, passages
from graphrag.retrieval.expansion import expand as expand_from_store
from graphrag.testing import InMemoryStore
from tests.factories import make_chunk, make_document

TEXT = "Uno. Dos. Tres. Cuatro. Cinco. Seis. Siete. Ocho. Nueve. Diez. Once. Doce."
PIECES = [
    "El horno se paró. ",
    "¿Por qué? ",
    "Faltó gas; mucho. ",
    "# Causa\n\n",
    "- uno\n",
    "\n",
    "日本語。",
    "👩‍🔧 ",
    "x" * 30,
]
texts = st.one_of(
    st.text(min_size=1, max_size=120), st.lists(st.sampled_from(PIECES), min_size=1, max_size=20).map("".join)
)


def chunked(text: str, *, max_tokens: int, document: Document | None = None) -> list[Chunk]:
    """By words."""
    spans = chunk(
        ParsedText(text, "text/plain"),
        title="T",
        count_tokens=lambda parts: [len(part.split()) for part in parts],
        max_tokens=max_tokens,
        overlap_tokens=0,
    )
    document = document or make_document()
    return [
        make_chunk(text[span.start : span.end], index=index, start_char=span.start, document=document)
        for index, span in enumerate(spans)
    ]


def expand(
    hits: Sequence[Hit],
    *documents: Sequence[Chunk],
    window_sentences: int = 2,
    parent_chars: int = 0,
    max_chars: int = 10_000,
) -> list[Passage]:
    """With all chunks of the documents at hand, as a store would give those next to the hits."""
    neighbours: dict[UUID, list[Chunk]] = {chunks[0].document.id: list(chunks) for chunks in documents}
    return passages(hits, neighbours, reach=Reach(window_sentences, parent_chars), max_chars=max_chars)


def hit(chunk: Chunk, score: float = 0.5) -> Hit:
    return Hit(chunk, score)


@settings(deadline=None, max_examples=250)
@given(texts, st.integers(1, 6), st.integers(0, 4), st.data())
def test_a_passage_is_a_span_of_its_document(text: str, max_tokens: int, window: int, data: st.DataObject) -> None:
    """P6 R2.4: also none overlaps another, each hit is marked in one, and no passage lacks a hit."""
    chunks = chunked(text, max_tokens=max_tokens)
    hits = [hit(chunk) for chunk in data.draw(st.lists(st.sampled_from(chunks), unique_by=lambda chunk: chunk.index))]
    found = expand(hits, chunks, window_sentences=window)
    for passage in found:
        assert passage.content == text[passage.start_char : passage.end_char]
        assert passage.matches
        assert all(passage.start_char <= start < end <= passage.end_char for start, end in passage.matches)
    ordered = sorted(found, key=lambda passage: passage.start_char)
    assert all(before.end_char <= after.start_char for before, after in pairwise(ordered))
    marked = [match for passage in ordered for match in passage.matches]
    assert marked == sorted((each.chunk.start_char, each.chunk.end_char) for each in hits)


@pytest.mark.parametrize(
    ("window", "content"),
    [
        (0, "Cuatro. Cinco. Seis."),
        (1, "Tres. Cuatro. Cinco. Seis. Siete."),
        (2, "Dos. Tres. Cuatro. Cinco. Seis. Siete. Ocho."),
        (3, "Uno. Dos. Tres. Cuatro. Cinco. Seis. Siete. Ocho. Nueve."),
    ],
)
def test_a_hit_grows_by_sentences_on_each_side(window: int, content: str) -> None:
    """R2.4"""
    chunks = chunked(TEXT, max_tokens=3)
    neighbours = {chunks[0].document.id: chunks} if window else {}  # as `expand` reads them
    [passage] = passages([hit(chunks[1])], neighbours, reach=Reach(window), max_chars=10_000)
    assert passage.content.strip() == content


def test_at_the_ends_of_a_document_there_is_nothing_to_add() -> None:
    """R2.4"""
    chunks = chunked(TEXT, max_tokens=3)
    first, last = expand([hit(chunks[0]), hit(chunks[-1])], chunks, window_sentences=1)
    assert first.content.strip() == "Uno. Dos. Tres. Cuatro."
    assert last.content.strip() == "Nueve. Diez. Once. Doce."


def test_the_hit_is_marked_in_its_passage() -> None:
    """R2.4"""
    chunks = chunked(TEXT, max_tokens=3)
    [passage] = expand([hit(chunks[1])], chunks)
    [(start, end)] = passage.matches
    assert TEXT[start:end].strip() == "Cuatro. Cinco. Seis."


def test_neighbours_merge() -> None:
    """R2.4"""
    chunks = chunked(TEXT, max_tokens=3)
    [passage] = expand([hit(chunks[1]), hit(chunks[2])], chunks, window_sentences=1)
    assert passage.content.strip() == "Tres. Cuatro. Cinco. Seis. Siete. Ocho. Nueve. Diez."
    assert len(passage.matches) == 2


def test_hits_whose_surroundings_overlap_merge() -> None:
    """R2.4"""
    chunks = chunked(TEXT, max_tokens=3)
    [passage] = expand([hit(chunks[0]), hit(chunks[2])], chunks, window_sentences=2)
    assert passage.content.strip() == TEXT.partition(" Doce")[0]
    assert [TEXT[start:end].strip() for start, end in passage.matches] == ["Uno. Dos. Tres.", "Siete. Ocho. Nueve."]


def test_hits_whose_surroundings_do_not_meet_stay_apart() -> None:
    """R2.4"""
    chunks = chunked(TEXT, max_tokens=3)
    found = expand([hit(chunks[0]), hit(chunks[2])], chunks, window_sentences=1)
    assert [passage.content.strip() for passage in found] == [
        "Uno. Dos. Tres. Cuatro.",
        "Seis. Siete. Ocho. Nueve. Diez.",
    ]


def test_documents_never_merge() -> None:
    """R2.4"""
    one, two = chunked(TEXT, max_tokens=3), chunked(TEXT.upper(), max_tokens=3)
    found = expand([hit(one[1]), hit(two[2])], one, two, window_sentences=3)
    assert [passage.document for passage in found] == [one[0].document, two[0].document]
    assert found[0].content in TEXT
    assert found[1].content in TEXT.upper()


def test_passages_come_in_the_order_of_their_best_hit() -> None:
    one, two = chunked(TEXT, max_tokens=2), chunked(TEXT.upper(), max_tokens=2)
    hits = [hit(two[0], 0.9), hit(one[5], 0.8), hit(one[0], 0.7), hit(two[1], 0.6)]
    found = expand(hits, one, two, window_sentences=1)
    assert [(passage.document.id, passage.chunk_index, passage.score) for passage in found] == [
        (two[0].document.id, 0, 0.9),
        (one[0].document.id, 5, 0.8),
        (one[0].document.id, 0, 0.7),
    ]
    assert len(found[0].matches) == 2


def test_a_merged_passage_is_named_after_its_best_hit() -> None:
    chunks = chunked(TEXT, max_tokens=3)
    [passage] = expand([hit(chunks[2], 0.9), hit(chunks[1], 0.4)], chunks)
    assert (passage.chunk_index, passage.score) == (2, 0.9)


def test_the_least_relevant_are_left_out_of_a_small_context() -> None:
    """R8.2"""
    chunks = chunked("Primera frase. Otra frase. Tercera frase. Cuarta frase.", max_tokens=2)
    hits = [hit(chunks[3], 0.9), hit(chunks[0], 0.8), hit(chunks[2], 0.7)]
    used = len(chunks[3].content) + len(chunks[0].content)
    found = passages(hits, {}, reach=Reach(0), max_chars=used)
    assert [passage.chunk_index for passage in found] == [3, 0]
    assert len(passages(hits, {}, reach=Reach(0), max_chars=used - 1)) == 1


def test_the_best_hit_is_kept_however_long_it_is() -> None:
    chunks = chunked(TEXT, max_tokens=3)
    [passage] = passages([hit(chunks[0]), hit(chunks[2])], {}, reach=Reach(0), max_chars=1)
    assert passage.chunk_index == 0


def test_without_neighbours_the_hits_are_the_passages() -> None:
    """R11.1: what is left where expansion fails."""
    chunks = chunked(TEXT, max_tokens=3)
    found = passages([hit(chunks[2], 0.9), hit(chunks[0], 0.8)], {}, reach=Reach(2), max_chars=10_000)
    assert [passage.content for passage in found] == [chunks[2].content, chunks[0].content]
    assert [passage.matches for passage in found] == [
        ((chunks[2].start_char, chunks[2].end_char),),
        ((chunks[0].start_char, chunks[0].end_char),),
    ]


def test_no_hits_no_passages() -> None:
    assert passages([], {}, reach=Reach(2), max_chars=100) == []


def section(number: int, *texts: str, document: Document, start: int = 0, index: int = 0) -> list[Chunk]:
    starts = [start + sum(map(len, texts[:place])) for place in range(len(texts))]
    return [
        make_chunk(text, index=index + place, start_char=at, document=document, context=f"T › {number}")
        for place, (text, at) in enumerate(zip(texts, starts, strict=True))
    ]


def test_parent_is_the_section_around_the_hit() -> None:
    """R2.5: a child is found, its parent is read, which ends with its section."""
    document = make_document()
    one = section(1, "Uno. ", "Dos. ", "Tres. ", document=document)
    two = section(2, "Cuatro. ", "Cinco.", document=document, start=16, index=3)
    [passage] = expand([hit(one[1])], [*one, *two], parent_chars=2_000)
    assert passage.content == "Uno. Dos. Tres. "
    assert passage.matches == ((5, 10),)


def test_parent_is_no_longer_than_allowed() -> None:
    """R2.5 parents of about 2,000 characters, of whole chunks."""
    chunks = section(1, *(f"{number:09d}. " for number in range(40)), document=make_document())
    [passage] = expand([hit(chunks[20])], chunks, parent_chars=100)
    assert passage.content == "".join(chunk.content for chunk in chunks[16:25])


def test_children_of_one_parent_become_one_passage() -> None:
    """R2.5, R2.4 merged overlaps, marked matches."""
    chunks = section(1, "Uno. ", "Dos. ", "Tres. ", "Cuatro. ", document=make_document())
    [passage] = expand([hit(chunks[0]), hit(chunks[3])], chunks, parent_chars=2_000)
    assert passage.content == "Uno. Dos. Tres. Cuatro. "
    assert passage.matches == ((0, 5), (16, 24))


async def test_parents_are_read_from_the_store() -> None:
    """R2.5"""
    store = InMemoryStore()
    collection = await store.create_collection("me", "notes", embedding_model="tiny")
    document = make_document(collection_id=collection.id)
    chunks = section(1, *(f"Frase {number}. " for number in range(12)), document=document)
    await store.put_documents(collection, [IndexedDocument(document, chunks, [[1.0]] * len(chunks))])
    [passage] = await expand_from_store(
        [hit(chunks[6])], store=store, collection=collection, reach=Reach(parent_chars=60), max_chars=10_000
    )
    assert passage.content == "".join(chunk.content for chunk in chunks[4:9])


def test_places_come_with_the_text_that_they_are_of() -> None:
    """R8.3: those of neighbours too, once, and none of what was not taken."""
    chunks = section(1, "Uno. ", "Dos. ", "Tres. ", "Cuatro. ", document=make_document())
    places = [Place(chunk.start_char, chunk.end_char, sheet="Hoja", cells=f"A{chunk.index}") for chunk in chunks]
    shared = Place(2, 8, sheet="Hoja", cells="Z1")
    placed = [
        replace(chunk, places=(place, shared), headers=("Número",)) for chunk, place in zip(chunks, places, strict=True)
    ]
    [passage] = expand([hit(placed[1])], placed, parent_chars=18)
    assert passage.content == "Uno. Dos. Tres. "
    assert passage.places == (places[0], shared, places[1], places[2])
    assert passage.headers == ("Número",)
