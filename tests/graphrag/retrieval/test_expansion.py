"""From hits to passages."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.config.settings import IngestionConfig
from graphrag.ingestion.chunking import MOST_CHILDREN, chunk, chunk_document
from graphrag.models import Chunk, Document, Hit, ParsedText, Passage, SourceLocation, Span
from graphrag.models.documents import ELSEWHERE
from graphrag.models.ingestion import IndexedDocument
from graphrag.rerankers.bundled import read_question
from graphrag.retrieval.expansion import ExpansionWindow, cut, passages
from graphrag.retrieval.expansion import expand as expand_from_store
from graphrag.testing.in_memory_store import InMemoryStore
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
    return passages(hits, neighbours, window=ExpansionWindow(window_sentences, parent_chars), max_chars=max_chars)


def hit(chunk: Chunk, score: float = 0.5) -> Hit:
    return Hit(chunk, score)


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
    [passage] = passages([hit(chunks[1])], neighbours, window=ExpansionWindow(window), max_chars=10_000)
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
    found = passages(hits, {}, window=ExpansionWindow(0), max_chars=used)
    assert [passage.chunk_index for passage in found] == [3, 0]
    assert len(passages(hits, {}, window=ExpansionWindow(0), max_chars=used - 1)) == 1


def test_the_best_hit_is_kept_however_long_it_is() -> None:
    chunks = chunked(TEXT, max_tokens=3)
    [passage] = passages([hit(chunks[0]), hit(chunks[2])], {}, window=ExpansionWindow(0), max_chars=1)
    assert passage.chunk_index == 0


def test_without_neighbours_the_hits_are_the_passages() -> None:
    """R11.1: what is left where expansion fails."""
    chunks = chunked(TEXT, max_tokens=3)
    found = passages([hit(chunks[2], 0.9), hit(chunks[0], 0.8)], {}, window=ExpansionWindow(2), max_chars=10_000)
    assert [passage.content for passage in found] == [chunks[2].content, chunks[0].content]
    assert [passage.matches for passage in found] == [
        ((chunks[2].start_char, chunks[2].end_char),),
        ((chunks[0].start_char, chunks[0].end_char),),
    ]


def test_no_hits_no_passages() -> None:
    assert passages([], {}, window=ExpansionWindow(2), max_chars=100) == []


@given(texts, st.integers(0, 3), st.data())
def test_the_order_of_hits_changes_no_passage(text: str, window: int, data: st.DataObject) -> None:
    """P6 R2.4: and what was merged stays as it is when all that it holds is found again."""
    chunks = chunked(text, max_tokens=2)
    hits = data.draw(st.lists(st.sampled_from(chunks), min_size=1, unique_by=lambda chunk: chunk.index).map(as_hits))
    spans = spans_of(expand(hits, chunks, window_sentences=window))
    assert spans_of(expand(data.draw(st.permutations(hits)), chunks, window_sentences=window)) == spans
    held = [chunk for chunk in chunks if any(start <= chunk.start_char < chunk.end_char <= end for start, end in spans)]
    assert covers(spans_of(expand(as_hits(held), chunks, window_sentences=0)), spans)


def as_hits(chunks: Sequence[Chunk]) -> list[Hit]:
    return [hit(chunk) for chunk in chunks]


def spans_of(found: Sequence[Passage]) -> list[tuple[int, int]]:
    return sorted((passage.start_char, passage.end_char) for passage in found)


def covers(inner: Sequence[tuple[int, int]], outer: Sequence[tuple[int, int]]) -> bool:
    return all(any(start <= a and b <= end for start, end in outer) for a, b in inner)


def family(text: str, *, child_tokens: int = 16, parent_chars: int = 200) -> list[Chunk]:
    """Small chunks with their parents, counted in characters."""
    config = IngestionConfig(chunking="parent_child", child_tokens=child_tokens, parent_child_chars=parent_chars)
    found = chunk_document(
        ParsedText(text, "text/plain"), title="T", config=config, count_tokens=lambda t: list(map(len, t)), embed=None
    )
    document = make_document()
    return [
        make_chunk(text[s.start : s.end], index=index, start_char=s.start, document=document, parent=s.parent)
        for index, s in enumerate(found.spans)
    ]


@given(st.lists(st.sampled_from(PIECES), min_size=10, max_size=80).map("".join), st.data())
def test_a_small_chunk_is_read_as_its_parent(text: str, data: st.DataObject) -> None:
    """R2.5 P6: each hit in the whole of its parent, once; what is read is a span of the text, of no other parent."""
    chunks = family(text)
    drawn = data.draw(st.lists(st.sampled_from(chunks), min_size=1, unique_by=lambda chunk: chunk.index))
    found = expand(as_hits(drawn), chunks, max_chars=1_000_000)
    parents = {(each.parent.start, each.parent.end) for each in drawn if each.parent}
    for passage in found:
        assert passage.content == text[passage.start_char : passage.end_char]
    assert sorted(match for passage in found for match in passage.matches) == sorted(
        (each.start_char, each.end_char) for each in drawn
    )
    assert covers(sorted(parents), spans_of(found))
    assert sum(end - start for start, end in spans_of(found)) == sum(end - start for start, end in parents)


def test_children_of_one_parent_are_read_once() -> None:
    """R2.5, R2.4 merged overlaps, marked matches; sentences around it are not added."""
    text = "Uno dos tres. " * 40
    chunks = family(text, child_tokens=30)
    [first, second] = [chunk for chunk in chunks if chunk.parent == chunks[0].parent][:2]
    [passage] = expand([hit(second, 0.9), hit(first, 0.4)], chunks, window_sentences=3)
    assert first.parent
    assert (passage.start_char, passage.end_char) == (first.parent.start, first.parent.end)
    assert (passage.chunk_index, passage.score, len(passage.matches)) == (second.index, 0.9, 2)


def test_where_characters_run_short_the_child_is_left_of_its_parent() -> None:
    """R2.5 R8.2"""
    chunks = family("Uno dos tres. " * 40)
    found = expand([hit(chunks[0], 0.9), hit(chunks[-1], 0.8)], chunks, max_chars=240)
    assert [len(passage.content) > 100 for passage in found] == [True, False]
    assert found[1].content == chunks[-1].content


async def test_a_parent_is_read_from_the_store() -> None:
    """R2.5: also of as many children as a parent has at most."""
    store = InMemoryStore()
    collection = await store.create_collection("me", "notes", embedding_model="tiny")
    document = make_document(collection_id=collection.id)
    text = "".join(f"Parte {number:02}. " for number in range(60))
    chunks = [replace(chunk, document=document) for chunk in family(text)]
    await store.put_documents(collection, [IndexedDocument(document, chunks, [[1.0]] * len(chunks))])
    for found in chunks:
        [passage] = await expand_from_store(
            [hit(found)], store=store, collections=[collection], window=ExpansionWindow(2), max_chars=10_000
        )
        assert found.parent
        assert (passage.start_char, passage.end_char) == (found.parent.start, found.parent.end)
    assert len(chunks) == 60
    assert max(Counter(chunk.parent for chunk in chunks).values()) == MOST_CHILDREN


async def test_hits_far_below_the_best_are_not_read() -> None:
    """R8.2: what hardly answers costs tokens; a share of 0 reads all."""
    store = InMemoryStore()
    collection = await store.create_collection("me", "notes", embedding_model="tiny")
    document = make_document(collection_id=collection.id)
    chunks = [replace(each, document=document) for each in chunked(TEXT, max_tokens=2)]
    await store.put_documents(collection, [IndexedDocument(document, chunks, [[1.0]] * len(chunks))])
    hits = [hit(chunks[2], 0.8), hit(chunks[5], 0.39), hit(chunks[0], 0.4)]
    for share, read in ((0.5, [2, 0]), (0.0, [2, 5, 0])):
        found = await expand_from_store(
            hits, store=store, collections=[collection], window=ExpansionWindow(0, least_share=share), max_chars=10_000
        )
        assert [passage.chunk_index for passage in found] == read


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
        [hit(chunks[6])],
        store=store,
        collections=[collection],
        window=ExpansionWindow(parent_chars=60),
        max_chars=10_000,
    )
    assert passage.content == "".join(chunk.content for chunk in chunks[4:9])


def test_places_come_with_the_text_that_they_are_of() -> None:
    """R8.3: those of neighbours too, once, and none of what was not taken."""
    chunks = section(1, "Uno. ", "Dos. ", "Tres. ", "Cuatro. ", document=make_document())
    places = [
        SourceLocation(chunk.start_char, chunk.end_char, sheet="Hoja", cells=f"A{chunk.index}") for chunk in chunks
    ]
    shared = SourceLocation(2, 8, sheet="Hoja", cells="Z1")
    placed = [
        replace(chunk, locations=(place, shared), headers=("Número",))
        for chunk, place in zip(chunks, places, strict=True)
    ]
    [passage] = expand([hit(placed[1])], placed, parent_chars=18)
    assert passage.content == "Uno. Dos. Tres. "
    assert passage.locations == (places[0], shared, places[1], places[2])
    assert passage.headers == ("Número",)


def flood(count: int, *, chars: int, document: Document) -> list[Hit]:
    """Hits of one document that do not touch."""
    texts = ["x" * chars for _ in range(count)]
    return [
        hit(make_chunk(text, index=3 * place, start_char=3 * place * chars, document=document), 1 - place / 100)
        for place, text in enumerate(texts)
    ]


@pytest.mark.parametrize("share", [0.2, 0.6, 1.0])
def test_one_document_takes_only_its_share(share: float) -> None:
    """Security 15: a source that holds whatever is asked for leaves room for the others."""
    hits = [*flood(20, chars=100, document=make_document()), *flood(2, chars=100, document=make_document())]
    found = passages(hits, {}, window=ExpansionWindow(), max_chars=1_000, max_share=share)
    taken = Counter(passage.document.id for passage in found)
    assert sorted(taken.values(), reverse=True) == [int(share * 10), 2][: 1 if share == 1 else 2]


def test_a_document_that_was_found_alone_is_read_whole() -> None:
    """Security 15: there is nobody to leave room for."""
    found = passages(
        flood(20, chars=100, document=make_document()), {}, window=ExpansionWindow(), max_chars=1_000, max_share=0.2
    )
    assert len(found) == 10


def test_surroundings_keep_to_the_share() -> None:
    """Security 15: a hit does not grow beyond what its document may take."""
    chunks = chunked("Una frase de diez palabras que llena el contexto entero. " * 40, max_tokens=10)
    other = make_chunk("Otra cosa.")
    found = passages(
        [hit(chunks[20], 0.9), hit(other, 0.8)],
        {chunks[0].document.id: chunks},
        window=ExpansionWindow(10),
        max_chars=1_000,
        max_share=0.5,
    )
    assert [passage.content for passage in found] == [chunks[20].content, "Otra cosa."]


OVEN = (
    "La nave mide mucho. ", "El turno empieza temprano. ", "Nadie trabaja el domingo. ", "La puerta es azul. ",
    "El horno se paró el martes. ", "Faltó gas durante horas. ", "El horno arrancó después. ",
    "La cantina abre al mediodía. ", "El patio tiene dos bancos. ", "La verja se pintó. ",
)  # fmt: skip
OVEN_QUESTION = read_question("¿Cuándo se paró el horno?", "es")


def cut_to(text: str, *, sentences: int = 1, least: float = 0.4, **changes: Any) -> str:
    document = make_document()
    chunk = replace(make_chunk(text, document=document), **changes)
    window = ExpansionWindow(sentences, question=OVEN_QUESTION, least_coverage=least)
    [passage] = passages([hit(chunk)], {}, window=window, max_chars=10_000)
    assert text[passage.start_char : passage.end_char] == passage.content
    return passage.content


@pytest.mark.parametrize(
    ("sentences", "least", "read"),
    [
        (0, 0.4, OVEN[4:7]),
        (1, 0.4, OVEN[3:8]),
        (2, 0.4, OVEN[2:9]),
        (9, 0.4, OVEN),
        (0, 1.0, OVEN[4:5]),
        (0, 0.0, OVEN),
    ],
)
def test_a_passage_is_cut_to_what_matches(sentences: int, least: float, read: Sequence[str]) -> None:
    """R8.2 R2.4: from the first to the last sentence with the question's words, and the sentences around."""
    assert cut_to("".join(OVEN), sentences=sentences, least=least).strip() == "".join(read).strip()


def test_without_a_word_of_the_question_all_is_read() -> None:
    """R8.2: the vectors found it, in other words or another language."""
    text = "Le four tomba en panne mardi. " * 3 + "Il manquait du gaz."
    assert cut_to(text, sentences=0).strip() == text


def test_what_was_found_next_to_it_is_read_too() -> None:
    """R2.4: where the match begins its chunk, the sentences before it are of the chunk before."""
    chunks = chunked("".join(OVEN), max_tokens=18, document=make_document())
    [found] = [chunk for chunk in chunks if chunk.content.startswith("El horno se paró")]
    window = ExpansionWindow(1, question=OVEN_QUESTION, least_coverage=1.0)
    [passage] = passages([hit(found)], {found.document.id: chunks}, window=window, max_chars=10_000)
    assert passage.content.strip() == "".join(OVEN[3:6]).strip()
    [(start, end)] = passage.matches
    assert passage.start_char <= found.start_char == start < end <= passage.end_char


LIST = "Para arrancar el horno:\n\n1. Abra el gas.\n2. Espere.\n3. Pulse el botón.\n4. Anote la hora.\n\n"


def test_lists_stay_whole() -> None:
    """R8.2: whoever asks what its lead says asks for all of its items."""
    assert cut_to(f"La nave mide mucho.\n\n{LIST}La verja es azul.", sentences=0) == LIST.strip()
    item = LIST.replace("Espere", "Si el horno se paró, espere").replace("el horno:", "todo:")
    assert cut_to(f"La nave mide mucho.\n\n{item}La verja es azul.", sentences=0) == item.strip()


def test_rows_parents_and_other_services_texts_stay_whole() -> None:
    """R8.2: a row says nothing without those it is compared with; a parent was asked for."""
    text = "".join(OVEN)
    cells = SourceLocation(0, len(text), sheet="Turnos", cells="A1:B9")
    elsewhere = make_document(source_type=ELSEWHERE)
    wholes: list[dict[str, Any]] = [
        {"headers": ("Turno",)}, {"locations": (cells,)}, {"parent": Span(0, len(text))}, {"document": elsewhere},
    ]  # fmt: skip
    assert cut_to(text, sentences=0) != text
    for changes in wholes:
        assert cut_to(text, sentences=0, **changes) == text
    window = ExpansionWindow(0, parent_chars=500, question=OVEN_QUESTION, least_coverage=0.4)
    [passage] = passages([hit(make_chunk(text))], {}, window=window, max_chars=10_000)
    assert passage.content == text


@given(
    st.lists(st.sampled_from([*OVEN, *PIECES, LIST]), min_size=1, max_size=25).map("".join),
    st.integers(0, 3),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_more_coverage_reads_less(text: str, sentences: int, one: float, other: float) -> None:
    """R8.2: a part of the passage that has some text, within what a smaller share reads; none cuts nothing."""
    chunk = make_chunk(text, document=make_document())
    whole = Passage(chunk.document, 0, 0, len(text), text, ((0, len(text)),), score=0.5)

    def read(least: float) -> Passage:
        window = ExpansionWindow(sentences, question=OVEN_QUESTION, least_coverage=least)
        return cut(whole, [hit(chunk)], window)

    least, most = read(min(one, other)), read(max(one, other))
    assert read(0.0) == whole
    assert most.content == text[most.start_char : most.end_char]
    assert least.start_char <= most.start_char <= most.end_char <= least.end_char
    assert [(most.start_char, most.end_char)] == list(most.matches)
