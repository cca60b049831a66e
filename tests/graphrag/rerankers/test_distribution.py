"""One chunk a document first."""

from hypothesis import given
from hypothesis import strategies as st

from graphrag.models import Document
from graphrag.rerankers.mmr import one_per_document_first
from tests.factories import make_document, make_hit

DOCUMENTS = [make_document(filename=f"{number}.md") for number in range(4)]


@given(st.lists(st.sampled_from(DOCUMENTS), max_size=12))
def test_every_document_speaks_before_one_speaks_twice(documents: list[Document]) -> None:
    """R5.3 Nothing is lost, and apart from that the order stays."""
    hits = [make_hit(str(place), document=document) for place, document in enumerate(documents)]
    spread = one_per_document_first(hits)
    places = [hits.index(hit) for hit in spread]
    count = len({document.id for document in documents})
    firsts, others = places[:count], places[count:]
    assert sorted(places) == list(range(len(hits)))
    assert len({hits[place].chunk.document.id for place in firsts}) == count
    assert (firsts, others) == (sorted(firsts), sorted(others))
    assert all(documents.index(documents[place]) == place for place in firsts)


def test_the_best_chunk_speaks_for_its_document() -> None:
    """R5.3"""
    first, second, _, _ = DOCUMENTS
    hits = [
        make_hit(text, document=document)
        for text, document in [("a", first), ("b", first), ("c", second), ("d", first)]
    ]
    assert [hit.chunk.content for hit in one_per_document_first(hits)] == ["a", "c", "b", "d"]
