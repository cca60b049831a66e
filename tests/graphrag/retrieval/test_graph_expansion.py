"""R7.2 Passages that no word of the question leads to, by the names that passages share."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.linguistics.names import mentions
from graphrag.models import Chunk, Collection, Hit, Intent, TransformedQuery
from graphrag.models.graph import ChunkGraph, MentionEdge
from graphrag.models.ingestion import IndexedDocument
from graphrag.retrieval.graph_expansion import expand_by_graph, leads_on, walk
from graphrag.testing.in_memory_graph import InMemoryGraph
from graphrag.testing.in_memory_store import InMemoryStore
from tests.factories import make_chunk, make_document, make_query

QUESTION = TransformedQuery("Which river borders the birthplace of the author of Dead Ernest?", "en", Intent.FACTUAL)
TEXTS = {
    "Dead Ernest": "Dead Ernest is a novel by Phoebe Taylor.",
    "Phoebe Taylor": "Phoebe Taylor was an American author who was born in Boston.",
    "Boston": "Boston lies on the river Charles, which borders Cambridge.",
    "Danube": "The Danube is a river that borders ten countries.",
    "Bread": "Bread is baked from flour.",
}


class Library:
    def __init__(self, store: InMemoryStore, collection: Collection, chunks: dict[str, Chunk]) -> None:
        self.graph, self.collection, self.chunks = InMemoryGraph(store), collection, chunks

    async def found(self, *titles: str, query: TransformedQuery = QUESTION) -> list[str]:
        hits = [Hit(self.chunks[title], 0.9 - 0.1 * place) for place, title in enumerate(titles)]
        led = await expand_by_graph(make_query(query, self.collection), hits, graph=self.graph)
        assert [hit.score for hit in led] == sorted((hit.score for hit in led), reverse=True)
        return [hit.chunk.document.title for hit in led]


@pytest.fixture
async def library() -> Library:
    store = InMemoryStore()
    collection = await store.create_collection("me", "books", embedding_model="bundled")
    chunks = {}
    for title, text in TEXTS.items():
        document = make_document(collection_id=collection.id, title=title, filename=f"{title}.txt", language="en")
        chunks[title] = make_chunk(text, document=document, context=title)
        graph = [ChunkGraph(names) for names in mentions([chunks[title]])]
        await store.put_documents(collection, [IndexedDocument(document, [chunks[title]], [[1.0]], graph=graph)])
    (collection,) = await store.list_collections("me")
    return Library(store, collection, chunks)


async def test_names_lead_to_what_the_question_does_not_name(library: Library) -> None:
    """R7.2 two names far; what shares no name stays behind."""
    found = await library.found("Dead Ernest", "Danube")
    assert found == ["Dead Ernest", "Phoebe Taylor", "Boston", "Danube"]


async def test_a_document_that_the_question_names_is_a_beginning(library: Library) -> None:
    """R7.2 though no search found it."""
    assert await library.found("Danube") == ["Danube", "Dead Ernest", "Phoebe Taylor", "Boston"]


async def test_hits_stay_as_they_are_where_nothing_adds_to_them(library: Library) -> None:
    """R7.2 the graph does not hurt where it is not needed."""
    query = replace(QUESTION, original="flour bread")
    assert await library.found("Bread", "Danube", query=query) == ["Bread", "Danube"]


def test_only_a_question_that_needs_more_than_one_passage_leads_on(library: Library) -> None:
    """R7.2 decided for each question."""
    hit = Hit(library.chunks["Dead Ernest"], 0.9)
    assert leads_on(QUESTION, [hit])
    assert not leads_on(replace(QUESTION, original="Who wrote the novel Dead Ernest?"), [hit])
    assert leads_on(replace(QUESTION, original="Dead Ernest?", is_multi_hop=True), [hit])
    assert not leads_on(QUESTION, [])


IDS = [uuid4() for _ in range(6)]
edges = st.builds(
    MentionEdge, st.sampled_from(IDS), st.sampled_from("abcdef"), st.sampled_from([0.5, 1.0, 3.0]), st.integers(1, 100)
)


@given(
    st.lists(edges, max_size=20, unique_by=lambda edge: (edge.chunk_id, edge.key)),
    st.sets(st.sampled_from(IDS), min_size=1),
)
def test_a_walk_is_a_distribution(found: Sequence[MentionEdge], beginnings: set[UUID]) -> None:
    """R7.2 its probabilities are positive and sum to 1 at most; where it begins it is likely to be."""
    start = {chunk: 1 / len(beginnings) for chunk in beginnings}
    reached = walk(found, start, chunk_count=100)
    assert all(0 < share <= 1 + 1e-9 for share in reached.values())
    assert sum(reached.values()) <= 1 + 1e-9
    assert beginnings <= reached.keys()
