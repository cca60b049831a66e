"""Collections for LlamaIndex code: a retriever over the whole search."""

from langchain_core.documents import Document

from graphrag.errors import MissingExtra, install_command
from graphrag.langchain import CausewayRetriever

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
except ModuleNotFoundError as exc:
    raise MissingExtra.of("LlamaIndex", install_command("llamaindex")) from exc

SHOWN = {"filename", "title"}  # of the metadata, to language models and embedding models


class CausewayNodeRetriever(BaseRetriever):  # type: ignore[misc]  # an extra's, without types
    """Finds what the LangChain retriever finds, as nodes: `aretrieve` in the caller's loop, `retrieve` anywhere."""

    def __init__(self, retriever: CausewayRetriever) -> None:
        super().__init__()
        self._retriever = retriever

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [to_node(document) for document in self._retriever.invoke(query_bundle.query_str)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [to_node(document) for document in await self._retriever.ainvoke(query_bundle.query_str)]


def to_node(document: Document) -> NodeWithScore:
    metadata = document.metadata
    hidden = [name for name in metadata if name not in SHOWN]
    node = TextNode(
        id_=document.id,
        text=document.page_content,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=metadata["document_id"])},
        start_char_idx=metadata["start_char"],
        end_char_idx=metadata["end_char"],
    )
    return NodeWithScore(node=node, score=metadata["score"])
