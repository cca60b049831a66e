"""Collections as LlamaIndex sees them."""

import sys

import pytest
from langchain_core.documents import Document

from graphrag.errors import CollectionNotFound, MissingExtra
from graphrag.ingestion.sources import SourceText
from graphrag.langchain import CausewayRetriever
from graphrag.services import Services

TEXTS = [
    SourceText("horno", "El horno H2 falló porque se rompió el retén de la puerta.", title="Parte 7"),
    SourceText("entrepot", "L'entrepôt de Toulouse consomme trop d'électricité en hiver.", title="Note"),
    SourceText("limpieza", "El horno pequeño se limpia los viernes por la tarde.", title="Parte 8"),
]
QUESTION = "¿Por qué falló el horno H2?"


@pytest.fixture
async def retriever(services: Services, owner: str) -> CausewayRetriever:
    made = await services.store.create_collection(owner, "notes", embedding_model="bundled")
    model = await services.collections.embedding_model(made)
    await services.ingestion.ingest(TEXTS, collection=made, model=model)
    return CausewayRetriever(services=services, collection="notes", owner_id=owner)


@pytest.mark.slow
async def test_nodes_are_the_documents_of_langchain_s_retriever(retriever: CausewayRetriever) -> None:
    """R4.7 The same ids, texts, scores and metadata, in the same order, awaited and blocking."""
    from llama_index.core.schema import MetadataMode

    from graphrag.llamaindex import CausewayNodeRetriever

    expected = await retriever.ainvoke(QUESTION)
    assert len(expected) > 1
    nodes = CausewayNodeRetriever(retriever)
    for found in (await nodes.aretrieve(QUESTION), nodes.retrieve(QUESTION)):
        assert [
            Document(id=each.node.node_id, page_content=each.node.get_content(), metadata=each.node.metadata)
            for each in found
        ] == expected
        assert [each.score for each in found] == [document.metadata["score"] for document in expected]
    best = found[0].node
    assert best.ref_doc_id == best.metadata["document_id"]
    told = best.get_content(metadata_mode=MetadataMode.LLM)
    assert "Parte 7" in told
    assert best.metadata["chunk_id"] not in told


@pytest.mark.slow
async def test_what_is_wrong_is_our_own_error(retriever: CausewayRetriever, owner: str) -> None:
    """R4.8 another owner has no such collection."""
    from graphrag.llamaindex import CausewayNodeRetriever

    theirs = CausewayNodeRetriever(retriever.model_copy(update={"owner_id": f"other-{owner}"}))
    with pytest.raises(CollectionNotFound):
        await theirs.aretrieve(QUESTION)
    with pytest.raises(CollectionNotFound):
        theirs.retrieve(QUESTION)


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """R13.5 with the way out."""
    monkeypatch.delitem(sys.modules, "graphrag.llamaindex", raising=False)
    monkeypatch.setitem(sys.modules, "llama_index.core.retrievers", None)
    with pytest.raises(MissingExtra, match=r"make install WITH=llamaindex"):
        import graphrag.llamaindex  # noqa: F401
