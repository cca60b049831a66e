"""Passages that fit the model's context window: in characters and tokens, the least relevant cut first."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agent.prompts import write_excerpt
from graphrag.extractive_answers.prompt_format import AnswerPrompt, QuestionAnalysis, render_prompt
from graphrag.models import Chunk, Hit, Passage
from graphrag.observability.telemetry import log
from graphrag.parsers.source_locations import split_rows
from graphrag.retrieval.expansion import clip

DELIMITERS = render_prompt(AnswerPrompt("", QuestionAnalysis(), excerpts=()))


@dataclass(frozen=True, slots=True)
class Window:
    max_chars: int  # of the documents' own text
    max_tokens: int  # of excerpts as they are written, with their delimiters
    count_tokens: Callable[[Sequence[str]], list[int]]


def fit(passages: Sequence[Passage], window: Window, *, language: str, beside: str = "") -> list[Passage]:
    """Return as many passages as fit, in their order; the last may be cut at the end of a sentence.

    `beside` is text that shares the window.
    """
    chars = window.max_chars
    tokens = window.max_tokens - sum(window.count_tokens([DELIMITERS, *([beside] if beside else [])]))
    kept: list[Passage] = []
    for number, passage in enumerate(passages, start=1):

        def count(part: Passage, number: int = number) -> int:
            return window.count_tokens([write_excerpt(number, part, language)])[0]

        def fits(part: Passage, chars: int = chars, tokens: int = tokens) -> bool:
            return len(part.content) <= chars and count(part) <= tokens

        part = _largest(_shorter(passage, chars), fits)
        if part is None and not kept:  # a sentence that is longer than everything
            part = _largest(_cut_anywhere(passage, chars), fits)
        if part is None:
            break
        kept.append(part)
        if part is not passage:
            break
        chars, tokens = chars - len(part.content), tokens - count(part)
    return kept


def log_cut(hits: Sequence[Hit], passages: Sequence[Passage]) -> None:
    """Log the hits of which no passage holds a part, without their text."""
    cut = [hit.chunk for hit in hits if not any(_overlap(hit.chunk, passage) for passage in passages)]
    if cut:
        chars = sum(len(chunk.content) for chunk in cut)
        log.info("context cut", chunks=[str(chunk.id) for chunk in cut], characters=chars)


def _overlap(chunk: Chunk, passage: Passage) -> bool:
    is_same = chunk.document.id == passage.document.id
    return is_same and chunk.start_char < passage.end_char and passage.start_char < chunk.end_char


def _largest(parts: Sequence[Passage], fits: Callable[[Passage], bool]) -> Passage | None:
    """Return the largest that fits, of parts that each hold the next."""
    first = bisect_left(parts, True, key=fits)
    return parts[first] if first < len(parts) else None


def _shorter(passage: Passage, max_chars: int) -> list[Passage]:
    """The passage, then ever less of it: what surrounds its matches goes first, the end before the beginning."""
    match_start = passage.matches[0][0] - passage.start_char
    match_end = passage.matches[-1][1] - passage.start_char
    # A document that is searched whole is long, and no more than this of it can fit.
    begin, end = max(0, match_start - max_chars), min(len(passage.content), match_start + 2 * max_chars)
    spans = split_rows(passage.content[begin:end], passage.locations, start=passage.start_char + begin)
    first, last = int(begin > 0), len(spans) - 1 - int(end < len(passage.content))
    parts = [passage]
    while first <= last:
        parts.append(clip(passage, begin + spans[first].start, begin + spans[last].end))
        if begin + spans[last].start < match_end and begin + spans[first].end <= match_start:
            first += 1
        else:
            last -= 1
    return parts


def _cut_anywhere(passage: Passage, max_chars: int) -> list[Passage]:
    lengths = _halved(min(len(passage.content), max_chars))
    ends = [passage.content.rfind(" ", 0, length) for length in lengths]
    return [clip(passage, 0, end if end > 0 else length) for end, length in zip(ends, lengths, strict=True)]


def _halved(length: int) -> list[int]:
    def less(length: int) -> Iterator[int]:
        while length:
            yield length
            length = length * 3 // 4

    return list(less(length))
