"""Chunks as other libraries cut them. (The laws that they keep like all others: test_documents_as_chunks.py.)"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.config.settings import PACKAGES, IngestionConfig, Settings, check_splitter
from graphrag.errors import InvalidSettings, MissingExtra
from graphrag.ingestion.chunking import chunk_document
from graphrag.ingestion.chunking.division import by_splitter
from graphrag.models import Chunking, ParsedText

PIECES = [
    "El horno se paró. ",
    "El Sr. Gil avisó, según el parte; ",
    "x" * 30,
    "日本語。",
    "👩‍🔧",
    "\n",
    "\n\n\n",
    "  ",
    "e\u0301 ",
]
texts = st.one_of(st.text(min_size=1), st.lists(st.sampled_from(PIECES), min_size=1, max_size=40).map("".join))
OFFLINE = """
import sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        raise SystemExit(f"{event} {arguments}")

sys.addaudithook(refuse)
from graphrag.config.settings import PACKAGES
from graphrag.ingestion.chunking.division import by_splitter
from graphrag.models import ParsedText

def count(texts):
    return [len(text) for text in texts]

def embed(texts):
    return [[1.0, text.count("o")] for text in texts]

parsed = ParsedText("El horno se paró. " * 20 + "La línea fue reparada. " * 20, "text/plain")
for name in PACKAGES:
    assert by_splitter(parsed, chunking=name, count_tokens=count, max_tokens=90, embed=embed).breaks
"""


def embed(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0, *(float(text.lower().count(letter)) for letter in "aeiou")] for text in texts]


def count_characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def llama_index_sentence(text: str, length: int) -> list[str]:
    from llama_index.core.node_parser import SentenceSplitter

    chunks: list[str] = SentenceSplitter(chunk_size=length, chunk_overlap=0, tokenizer=list).split_text(text)
    return chunks


def langchain_recursive(text: str, length: int) -> list[str]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    chunks: list[str] = RecursiveCharacterTextSplitter(chunk_size=length, chunk_overlap=0).split_text(text)
    return chunks


def llama_index_semantic(text: str, length: int) -> list[str]:
    from llama_index.core import MockEmbedding
    from llama_index.core.node_parser import SemanticSplitterNodeParser
    from llama_index.core.schema import Document

    class Vectors(MockEmbedding):  # type: ignore[misc]  # without the extra there is no such class
        def _get_text_embedding(self, text: str) -> list[float]:
            return embed([text])[0]

    splitter = SemanticSplitterNodeParser.from_defaults(embed_model=Vectors(embed_dim=6))
    return [node.text for node in splitter.get_nodes_from_documents([Document(text=text)])]


EACH = {
    "llama_index_sentence": llama_index_sentence,
    "llama_index_semantic": llama_index_semantic,
    "langchain_recursive": langchain_recursive,
}
each_splitter = pytest.mark.parametrize(("chunking", "split"), EACH.items(), ids=list(EACH))


@pytest.mark.slow
@each_splitter
@given(text=texts, length=st.integers(1, 60))
def test_chunks_are_those_of_the_library(
    chunking: Chunking, split: Callable[[str, int], list[str]], text: str, length: int
) -> None:
    """R13.5: as whoever calls it with its defaults has them, at their exact places, whatever the text repeats."""
    division = by_splitter(
        ParsedText(text, "text/plain"),
        chunking=chunking,
        count_tokens=count_characters,
        max_tokens=length,
        embed=embed,
    )
    cuts = [0, *sorted(division.breaks), len(text)]
    chunks = [text[start:end].strip() for start, end in pairwise(cuts)]
    assert chunks == ([chunk.strip() for chunk in split(text, length) if chunk.strip()] or [""])


@pytest.mark.slow
@pytest.mark.parametrize("chunking", PACKAGES)
def test_a_chunk_begins_with_whole_sentences_of_the_one_before(chunking: Chunking) -> None:
    """R13.5 R2.2"""
    parsed = ParsedText("Se paró el horno. Faltó gas en la línea. " * 20, "text/plain")
    config = IngestionConfig(chunking=chunking, chunk_tokens=100, chunk_overlap_tokens=45)
    found = chunk_document(parsed, title="T", config=config, count_tokens=count_characters, embed=embed).spans
    overlaps = [parsed.text[span.window_start : span.start] for span in found[1:]]
    assert all(overlaps)
    assert all(overlap.startswith(("Se paró", "Faltó")) for overlap in overlaps)


@pytest.mark.slow
def test_nothing_is_looked_for_on_the_network() -> None:
    """R13.5: though LlamaIndex downloads what it does not find where these two say."""
    nowhere = {"NLTK_DATA": os.devnull, "TIKTOKEN_CACHE_DIR": os.devnull}
    run = subprocess.run(
        [sys.executable, "-c", OFFLINE], env=os.environ | nowhere, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.fixture
def without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in PACKAGES.values():
        monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.usefixtures("without_packages")
@pytest.mark.parametrize("chunking", PACKAGES)
def test_the_missing_extra_is_named_where_it_is_chosen(monkeypatch: pytest.MonkeyPatch, chunking: Chunking) -> None:
    """R13.5 As in a core install: for a request, for a collection, for the service."""
    way_out = rf"{chunking} needs: make install WITH=splitters"
    with pytest.raises(MissingExtra, match=way_out):
        check_splitter(chunking)
    with pytest.raises(InvalidSettings, match=way_out):
        IngestionConfig.checked({"chunking": chunking})
    monkeypatch.setenv("RAG_CHUNKING", chunking)
    with pytest.raises(InvalidSettings, match=rf"RAG_CHUNKING.*{way_out}"):
        Settings.from_environment()


@pytest.mark.usefixtures("without_packages")
@pytest.mark.parametrize("chunking", PACKAGES)
def test_a_worker_without_it_takes_sentences(chunking: Chunking) -> None:
    """R13.5: of a document whose strategy was chosen where it is installed."""
    parsed = ParsedText("El horno se paró. Faltó gas. " * 20, "text/plain")
    config = IngestionConfig().model_copy(update={"chunking": chunking})
    found = chunk_document(parsed, title="T", config=config, count_tokens=count_characters, embed=embed)
    assert found.strategy == "sentence"


@pytest.mark.slow
def test_words_that_a_model_does_not_know_hide_no_change_of_subject() -> None:
    """R13.5: a vector without direction is like no other; without this the library would find nothing at all."""
    text = "Aa a. A aa. Aaa. Aa. 日本. 日本. 日本. Oo oo. O o. Ooo. Oo."
    division = by_splitter(
        ParsedText(text, "text/plain"),
        chunking="llama_index_semantic",
        count_tokens=count_characters,
        max_tokens=99,
        embed=lambda texts: [vector[1:] for vector in embed(texts)],
    )
    assert division.breaks
