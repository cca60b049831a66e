"""Texts as other libraries cut them: LlamaIndex's and LangChain's splitters. Needs the extra splitters."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from graphrag.ingestion.chunking.division import EMBEDDED_AT_ONCE, Division, Embed, TokenCounter, cut
from graphrag.linguistics.sentences import split_sentences
from graphrag.models import Chunking, ParsedText

Length = Callable[[str], int]  # in tokens
Split = Callable[[str], list[str]]  # into chunks, which together are the text but for the white space around them
LEAST = 1e-9
_SPACE = re.compile(r"\s*")


def by_splitter(
    parsed: ParsedText, *, chunking: Chunking, count_tokens: TokenCounter, max_tokens: int, embed: Embed | None
) -> Division:
    """Divide where the splitter's chunks begin.

    Overlaps are made of sentences afterwards, as in every strategy: only texts without overlap, which have lost the
    white space around them, can be found again in the document.
    """

    def length(text: str) -> int:
        """Counted as the pieces will be."""
        return sum(count_tokens([text[span.start : span.end] for span in split_sentences(text)]))

    if chunking == "llama_index_sentence":
        split = _llama_index_sentence(length, max_tokens)
    elif chunking == "llama_index_semantic" and embed:
        split = _llama_index_semantic(embed)
    else:
        split = _langchain_recursive(length, max_tokens)
    starts = frozenset(_starts(parsed.text, split(parsed.text)))
    sentences = {span.start for span in split_sentences(parsed.text)}
    return Division(cut(parsed.text, sorted(sentences | starts)), starts, runs_on=True)


def _starts(text: str, chunks: Sequence[str]) -> Iterator[int]:
    """Yield the start of each chunk but the first, which begins with the text."""
    end = 0
    for chunk in filter(None, map(str.strip, chunks)):
        start = _after_space(text, end)
        if end:
            yield start
        end = start + len(chunk)


def _after_space(text: str, start: int) -> int:
    return _SPACE.match(text, start).end()  # type: ignore[union-attr]  # it also matches nothing


def _llama_index_sentence(length: Length, max_tokens: int) -> Split:
    from llama_index.core.node_parser import SentenceSplitter

    def tokens(text: str) -> range:
        """Return one item a token; a lone character counts as one, because llama-index fails on longer ones."""
        return range(length(text) if len(text) > 1 else 1)

    split: Split = SentenceSplitter(
        chunk_size=max_tokens, chunk_overlap=0, tokenizer=tokens, chunking_tokenizer_fn=_punkt_sentences()
    ).split_text
    return split


def _llama_index_semantic(embed: Embed) -> Split:
    """Chunks of any length, which end where neighbouring sentences are most unlike each other."""
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.node_parser import SemanticSplitterNodeParser
    from llama_index.core.schema import Document

    class Vectors(BaseEmbedding):  # type: ignore[misc]  # without the extra there is no such class
        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            moved = np.asarray(embed(texts)) + LEAST  # a text of unknown words has no direction, and no similarity
            vectors: list[list[float]] = moved.tolist()
            return vectors

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        _get_query_embedding = _aget_query_embedding = _get_text_embedding  # there must be some; none is called

    splitter = SemanticSplitterNodeParser(
        embed_model=Vectors(embed_batch_size=EMBEDDED_AT_ONCE), sentence_splitter=_punkt_sentences()
    )
    return lambda text: [node.text for node in splitter.build_semantic_nodes_from_documents([Document(text=text)])]


def _punkt_sentences() -> Split:
    """LlamaIndex's own, but for the data of nltk that it looks for, on the network too, and does not use."""
    from llama_index.core.node_parser.text.utils import split_by_sentence_tokenizer_internal
    from nltk.tokenize import PunktSentenceTokenizer

    return partial(split_by_sentence_tokenizer_internal, tokenizer=PunktSentenceTokenizer())


def _langchain_recursive(length: Length, max_tokens: int) -> Split:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    split: Split = RecursiveCharacterTextSplitter(
        chunk_size=max_tokens, chunk_overlap=0, length_function=length
    ).split_text
    return split
