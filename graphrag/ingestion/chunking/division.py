"""Division of a text into pieces, by own rules or an installed splitter, and runs of at most so many tokens."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphrag.linguistics.sentences import is_heading, split_sentences
from graphrag.models import Chunking, ParsedText, Span

_PARAGRAPH_END = re.compile(r"\n\s*\n")
_WORD_END = re.compile(r"\s+")
SECTION_CHARS = (200, 8_000)  # of sections that are worth chunks of their own, in the median
FEWEST_SECTIONS = 3
HEADING_LEVELS = 6  # of Markdown and HTML
SHORT_LINE_CHARS = 200  # text with shorter paragraphs is a list of notes rather than prose
DIPS = 0.2  # of the places between sentences are taken to be changes of subject, where the meaning differs most
NEIGHBOURS = 2  # sentences on either side that are compared
EMBEDDED_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Division:
    """Pieces that stay whole where they can, and where a chunk begins in any case."""

    pieces: Sequence[Span]  # they tile the text
    breaks: Set[int] = frozenset()  # characters at which pieces begin
    runs_on: bool = False  # what begins at a break goes on from what is before it


Matrix = NDArray[np.float32]
Divide = Callable[[ParsedText], Division]
Embed = Callable[[list[str]], Sequence[Sequence[float]]]


def by_sentences(parsed: ParsedText) -> Division:
    return Division(split_sentences(parsed.text))


def by_words(parsed: ParsedText) -> Division:
    """Windows of a fixed length, wherever their ends fall."""
    return Division(cut(parsed.text, [match.end() for match in _WORD_END.finditer(parsed.text)]))


def by_paragraphs(parsed: ParsedText) -> Division:
    return Division(cut(parsed.text, [match.end() for match in _PARAGRAPH_END.finditer(parsed.text)]))


def by_headings(parsed: ParsedText) -> Division:
    """A section a chunk. A heading right under another one begins none."""
    starts = [heading.start_char for heading in parsed.headings]
    ends = [parsed.text.find("\n", start) for start in starts]
    begun = {
        start
        for start, before in zip(starts, [0, *ends], strict=False)
        if before == -1 or parsed.text[before:start].strip()
    }
    cuts = sorted({span.start for span in split_sentences(parsed.text)} | begun)
    return Division(cut(parsed.text, cuts), frozenset(begun))


def by_rows(parsed: ParsedText) -> Division:
    """A spreadsheet's rows; each table begins a chunk, with its sheet's name and what else is written over it."""
    headings = [heading.start_char for heading in parsed.headings]
    rows = [row.start_char for table in parsed.tables for row in table.rows]
    cuts = sorted({*headings, *rows, *(location.start_char for location in parsed.locations)})
    return Division(cut(parsed.text, cuts), frozenset({*headings, *_table_starts(parsed, headings, cuts)}))


def _table_starts(parsed: ParsedText, headings: Sequence[int], cuts: Sequence[int]) -> Iterator[int]:
    """A heading over a table belongs to it, and so does all that comes after the rows of the one before."""
    end = 0
    for table in parsed.tables:
        if table.rows:
            first = table.rows[0].start_char
            above = headings[bisect_right(headings, first) - 1] if headings and headings[0] <= first else 0
            after = cuts[bisect_left(cuts, end)] if end else 0
            yield max(above, after)
            end = table.rows[-1].end_char


def by_family(parsed: ParsedText) -> Division:
    """Divide into the pieces of small chunks, with breaks where their larger passages end."""
    return by_rows(parsed) if has_rows(parsed) else by_headings(parsed)


DIVISIONS: Mapping[Chunking, Divide] = {
    "sentence": by_sentences,
    "paragraph": by_paragraphs,
    "heading_section": by_headings,
    "fixed_window": by_words,
    "rows": by_rows,
    "parent_child": by_family,
}


def by_meaning(parsed: ParsedText, *, embed: Embed) -> Division:
    """A chunk ends where the sentences before and after have least in common: TextTiling (Hearst 1997) with vectors."""
    sentences = split_sentences(parsed.text)
    if len(sentences) <= 2 * NEIGHBOURS:
        return Division(sentences)
    sums = _sums_of_neighbours(_vectors([parsed.text[span.start : span.end] for span in sentences], embed))
    before, after = sums[1 : len(sentences)], sums[NEIGHBOURS + 1 :]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    alike = (before * after).sum(axis=1) / np.maximum(lengths, 1e-9)
    around = np.pad(alike, 1, constant_values=np.inf)
    is_lowest = (alike <= around[:-2]) & (alike < around[2:])
    dips = np.flatnonzero(is_lowest & (alike <= np.quantile(alike, DIPS))) + 1
    return Division(sentences, frozenset(sentences[place].start for place in dips))


def _vectors(texts: Sequence[str], embed: Embed) -> Matrix:
    batches = range(0, len(texts), EMBEDDED_AT_ONCE)
    return np.concatenate([np.asarray(embed(list(texts[n : n + EMBEDDED_AT_ONCE])), dtype=np.float32) for n in batches])


def _sums_of_neighbours(vectors: Matrix) -> Matrix:
    """Row n is the sum of the rows from n - NEIGHBOURS up to n, without n."""
    padded = np.pad(vectors, ((NEIGHBOURS, NEIGHBOURS), (0, 0)))
    rows = len(vectors) + NEIGHBOURS
    sums: Matrix = np.sum([padded[shift : shift + rows] for shift in range(NEIGHBOURS)], axis=0)
    return sums


def choose(parsed: ParsedText) -> Chunking:
    """Choose the strategy that suits the text; the same text always gets the same one."""
    if has_rows(parsed):
        return "rows"
    starts = [heading.start_char for heading in parsed.headings]
    sections = [end - start for start, end in pairwise([*starts, len(parsed.text)])]
    if len(sections) >= FEWEST_SECTIONS and SECTION_CHARS[0] <= np.median(sections) <= SECTION_CHARS[1]:
        return "heading_section"
    paragraphs = by_paragraphs(parsed).pieces
    if len(paragraphs) >= FEWEST_SECTIONS and np.median([p.end - p.start for p in paragraphs]) <= SHORT_LINE_CHARS:
        return "paragraph"
    return "sentence"


def has_rows(parsed: ParsedText) -> bool:
    """Return whether the text has rows; a spreadsheet without headers has cells alone."""
    return bool(parsed.tables) or any(location.cells for location in parsed.locations)


def cut(text: str, cuts: Sequence[int]) -> list[Span]:
    return [Span(start, end) for start, end in pairwise([0, *(cut for cut in cuts if 0 < cut < len(text)), len(text)])]


TokenCounter = Callable[[Sequence[str]], list[int]]
_CLAUSE_END = re.compile(r"(?<=[,;:–—،؛])\s+|(?<=[、，；：])\s*|\n+")
_PACKED_WORD_END = re.compile(r"\s+")
_JOINER = "\u200d"  # of the parts of one emoji


@dataclass(frozen=True, slots=True)
class Piece:
    span: Span
    tokens: int


def pack(
    parsed: ParsedText, division: Division, *, count_tokens: TokenCounter, max_tokens: int
) -> tuple[list[Piece], list[int]]:
    """The pieces, those too long cut up, and the indexes of those that begin a run.

    A piece is cut between its sentences, then at their clauses, then between words, then anywhere. A heading stays with
    what follows it.
    """
    whole = _measure(parsed.text, division.pieces, count_tokens)
    is_any_long = any(piece.tokens > max_tokens for piece in whole)
    sentences = [span.start for span in split_sentences(parsed.text)] if is_any_long else []
    pieces = [part for piece in whole for part in _split_long(parsed.text, piece, sentences, count_tokens, max_tokens)]
    return pieces, list(_beginnings(parsed, pieces, division, max_tokens))


def overlap_start(pieces: Sequence[Piece], index: int, division: Division, *, overlap_tokens: int) -> int:
    """Return the start of the whole pieces, at most `overlap_tokens` of them, before this one.

    A piece after a break has no overlap.
    """
    first, total = index, 0
    while first > 0 and (division.runs_on or pieces[first].span.start not in division.breaks):
        total += pieces[first - 1].tokens
        if total > overlap_tokens:
            break
        first -= 1
    return pieces[first].span.start


def _measure(text: str, spans: Sequence[Span], count_tokens: TokenCounter) -> list[Piece]:
    counts = count_tokens([text[span.start : span.end] for span in spans])
    return [Piece(span, tokens) for span, tokens in zip(spans, counts, strict=True)]


def _beginnings(parsed: ParsedText, pieces: Sequence[Piece], division: Division, max_tokens: int) -> Iterator[int]:
    headings = {heading.start_char for heading in parsed.headings}
    yield 0
    start, total = 0, 0
    for index, piece in enumerate(pieces):
        if index > start and piece.span.start in division.breaks:
            start, total = index, 0
            yield start
        elif index > start and total + piece.tokens > max_tokens:
            start = _before_headings(parsed.text, pieces, start, index, headings)
            total = sum(kept.tokens for kept in pieces[start:index])
            if total + piece.tokens > max_tokens:
                start, total = index, 0
            yield start
        total += piece.tokens


def _before_headings(text: str, pieces: Sequence[Piece], start: int, index: int, headings: Set[int]) -> int:
    """Return the place of the headings over a piece; its own where there are too many to be over anything."""
    end = index
    while end - 1 > start and index - end <= HEADING_LEVELS and _is_heading(text, pieces[end - 1].span, headings):
        end -= 1
    return end if index - end <= HEADING_LEVELS else index


def _is_heading(text: str, span: Span, headings: Set[int]) -> bool:
    written = text[span.start : span.end]
    return is_heading(written) or (span.start in headings and "\n" not in written.strip())


def _split_long(
    text: str, piece: Piece, sentences: Sequence[int], count_tokens: TokenCounter, max_tokens: int
) -> list[Piece]:
    """`sentences`: where those of the text begin."""
    if piece.tokens <= max_tokens:
        return [piece]
    for cuts in _cuts(text, piece.span, sentences, max_tokens):
        if cuts:
            parts = [Span(*pair) for pair in pairwise([piece.span.start, *cuts, piece.span.end])]
            joined = _join(_measure(text, parts, count_tokens), max_tokens)
            return [small for part in joined for small in _split_long(text, part, sentences, count_tokens, max_tokens)]
    return [piece]


def _cuts(text: str, span: Span, sentences: Sequence[int], max_tokens: int) -> Iterator[list[int]]:
    """Yield lists of positions where the span can be cut, best kind first."""
    yield list(sentences[bisect_right(sentences, span.start) : bisect_left(sentences, span.end)])
    for boundary in (_CLAUSE_END, _PACKED_WORD_END):
        ends = (match.end() for match in boundary.finditer(text, span.start, span.end))
        yield [end for end in ends if span.start < end < span.end]
    length = min(max_tokens, (span.end - span.start + 1) // 2)
    yield list(_cuts_anywhere(text, span, length))


def _cuts_anywhere(text: str, span: Span, length: int) -> Iterator[int]:
    """Every so many characters, or before, where that keeps together what is seen as one."""
    start = span.start
    while length and start + length < span.end:
        cut = start + length
        while cut > start and _continues(text, cut):
            cut -= 1
        start = cut if cut > start else start + length
        yield start


def _continues(text: str, cut: int) -> bool:
    """Return whether the character at the cut belongs to the one before it."""
    return unicodedata.combining(text[cut]) > 0 or _JOINER in text[cut - 1 : cut + 1] or text[cut] in "\ufe0e\ufe0f"


def _join(pieces: Sequence[Piece], max_tokens: int) -> list[Piece]:
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].tokens + piece.tokens <= max_tokens:
            joined[-1] = Piece(Span(joined[-1].span.start, piece.span.end), joined[-1].tokens + piece.tokens)
        else:
            joined.append(piece)
    return joined


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
