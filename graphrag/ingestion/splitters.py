"""Texts as other libraries cut them: LlamaIndex's and LangChain's splitters. Needs the extra splitters."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec

from graphrag.errors import MissingExtra
from graphrag.ingestion.division import Division, cut
from graphrag.ingestion.packing import TokenCounter
from graphrag.models import Chunking, ParsedText
from graphrag.sentences import split_sentences

Length = Callable[[str], int]  # in tokens
Split = Callable[[str], list[str]]  # into chunks, which together are the text but for the white space around them
PACKAGES: Mapping[Chunking, str] = {
    "llama_index_sentence": "llama_index.core",
    "langchain_recursive": "langchain_text_splitters",
}
_SPACE = re.compile(r"\s*")


def check_splitter(chunking: Chunking | None) -> None:
    """Raises MissingExtra where the strategy is that of a package that is not installed."""
    if not has_splitter(chunking):
        raise MissingExtra(f"{chunking} needs: pip install 'causeway[splitters]'", extra="splitters")


def has_splitter(chunking: Chunking | None) -> bool:
    package = PACKAGES.get(chunking) if chunking else None
    try:
        return package is None or find_spec(package) is not None
    except ModuleNotFoundError:  # of the package that holds this one
        return False


def by_splitter(parsed: ParsedText, *, chunking: Chunking, count_tokens: TokenCounter, max_tokens: int) -> Division:
    """Chunks begin where the splitter's do. What it repeats of one chunk in the next is left out of its work and made
    of sentences, as in every strategy: only then do its texts, which have lost the white space around them, say where
    they stand."""

    def length(text: str) -> int:
        """Counted as the pieces will be."""
        return sum(count_tokens([text[span.start : span.end] for span in split_sentences(text)]))

    open_splitter = _llama_index_sentence if chunking == "llama_index_sentence" else _langchain_recursive
    starts = frozenset(_starts(parsed.text, open_splitter(length, max_tokens)(parsed.text)))
    sentences = {span.start for span in split_sentences(parsed.text)}
    return Division(cut(parsed.text, sorted(sentences | starts)), starts, runs_on=True)


def _starts(text: str, chunks: Sequence[str]) -> Iterator[int]:
    """Of all but the first, which begins with the text."""
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
    from llama_index.core.node_parser.text.utils import split_by_sentence_tokenizer_internal
    from nltk.tokenize import PunktSentenceTokenizer

    punkt = PunktSentenceTokenizer()

    def sentences(text: str) -> list[str]:
        """As its default does, which also looks for data of nltk's that it does not use, on the network too."""
        found: list[str] = split_by_sentence_tokenizer_internal(text, punkt)
        return found

    def tokens(text: str) -> range:
        """As many as there are; a character alone is never too long, which would be an error."""
        return range(length(text) if len(text) > 1 else 1)

    split: Split = SentenceSplitter(
        chunk_size=max_tokens, chunk_overlap=0, tokenizer=tokens, chunking_tokenizer_fn=sentences
    ).split_text
    return split


def _langchain_recursive(length: Length, max_tokens: int) -> Split:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    split: Split = RecursiveCharacterTextSplitter(
        chunk_size=max_tokens, chunk_overlap=0, length_function=length
    ).split_text
    return split
