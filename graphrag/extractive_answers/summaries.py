"""Summaries that quote: the central sentences of a document, a line for each of several, and what is new among them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby, pairwise
from math import log

import numpy as np
from numpy.typing import NDArray

from graphrag.extractive_answers.sheet_summaries import describe_sheets, last_day
from graphrag.extractive_answers.statements import finished, opened
from graphrag.extractive_answers.summary_candidates import (
    FEATURES,
    FRONT_LINES,
    SummaryCandidate,
    SummarySource,
    Vectors,
    find_candidates,
    find_subject,
    summary_rules,
)
from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import content_words, fold, labelled, stem, visible, words
from graphrag.linguistics.periods import name, of_day, spoken
from graphrag.linguistics.sentences import plain, split_sentences, trim_space
from graphrag.models import Span

DEFAULT_POINTS = 7
MAX_LINE_WORDS = 30
MAX_SHOWN_LINES = 30
MAX_CANDIDATES = 4_000  # those with the best features: vectors of more take too much memory
HASHED_DIMENSIONS = 1_024
CLOSING = '"”’»)'
MOST_SHARED = 0.75  # of the words of the shorter of two points
SAME = 0.6  # cosine of the words of two points that say the same
DATE_CHARS, MAX_DATE_LINE_CHARS = 800, 150  # at the beginning of a document, where it says of which day it is
MAX_FIRST_CHARS, MAX_FIRST_LINES, MAX_LINE_CHARS = 4_000, 3, 300  # of a text without sentences
# Set by hand on the half «tune» of tests/golden/summaries.jsonl: fitted to its 50 facts, they held worse on the others.
WEIGHTS: Mapping[str, float] = {
    "opens_document": 0.25,
    "introduces": 0.3,
    "opens_section": 0.25,
    "closes_document": 0.05,
    "telling": 0.15,
    "skipped": -0.7,
    "figures": 0.15,
    "measure": 0.15,
    "decides": 0.1,
    "results": 0.15,
    "sums": 0.1,
    "totals": 0.4,
    "denies": -0.25,
    "limits": 0.1,
    "requests": 0.2,
    "leans": -0.5,
    "supposes": -0.2,
    "row": -0.4,
    "item": -0.05,
    "about_itself": -0.6,
    "broken": -0.5,
    "short": -0.3,
    "long": -0.5,
}
FIRST_OF_DOCUMENT = 0.35  # more, for the one line of a document
PART_OF_LIST = 0.25  # less, for that line
CENTRAL = 0.6  # weight of how central it is, in [0, 1]
AHEAD, DATED = 0.1, 60  # for a date that is still to come; of so many candidates, the best, dates are read
LEAST_SCORE, LEAST_POINTS = -0.1, 3  # a weaker point is left out, where there are so many without it
SIMILAR, SAME_SECTION, NEARBY = 0.5, 0.3, 0.15  # what a point loses to those chosen before it


@dataclass(frozen=True, slots=True)
class SummaryPoint:
    """A point of a summary: its text stands so in the document's [start, end), unless it is computed from there."""

    text: str
    heading: str
    start: int
    end: int
    score: float
    is_computed: bool = False


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """A document's best sentence; `index` is the document's among those given."""

    index: int
    title: str
    group: str  # the period that it is of
    dated: date | None
    point: SummaryPoint


def summarise_document(
    document: SummarySource, *, language: str, today: date, points: int = DEFAULT_POINTS
) -> list[SummaryPoint]:
    """Return at most so many points in the document's order; fewer where it says less, none where it is empty.

    `language`, the answer's, is that of the lines computed from spreadsheets; quotations keep the document's.
    """
    computed = [
        SummaryPoint(line.text, line.sheet, line.start, line.end, 1.0, line.is_computed)
        for line in describe_sheets(document, language)[:points]
    ]
    order = list(dict.fromkeys(point.heading for point in computed))
    computed.sort(key=lambda point: order.index(point.heading))
    candidates = find_candidates(document)
    if not candidates:
        return computed or _first_lines(document, points)
    return [*computed, *_choose(candidates, _score(document, candidates, today), points - len(computed))]


@dataclass(frozen=True, slots=True)
class _Scored:
    kept: list[int]
    scores: Vectors
    vectors: Vectors


def _score(document: SummarySource, candidates: Sequence[SummaryCandidate], today: date) -> _Scored:
    weights = np.array([WEIGHTS[feature] for feature in FEATURES], dtype=np.float32)
    own = np.array([candidate.features for candidate in candidates], dtype=np.float32) @ weights
    kept = sorted(np.argsort(-own, kind="stable")[:MAX_CANDIDATES].tolist())
    texts = [candidates[place].text for place in kept]
    title = f"{find_subject(document.text)} {document.title} {document.filename.rpartition('.')[0]}"
    vectors = _word_vectors(texts, document.language, title)
    central = _centrality(vectors[1:], vectors[0])
    if document.embed is not None:
        embedded = np.asarray(document.embed(texts), dtype=np.float32)
        central = 0.5 * central + 0.5 * _centrality(embedded, embedded.sum(axis=0))
    scores = own[kept] + CENTRAL * central
    return _Scored(kept, scores + AHEAD * _dates_ahead(texts, scores, document.language, today), vectors[1:])


def _word_vectors(texts: Sequence[str], language: str, title: str) -> Vectors:
    """Return vectors of unit length: the document's, to which its title counts twice, and the texts'."""
    stems = [[stem(word, language) for word in content_words(text, language)] for text in (title, *texts)]
    numbers: dict[str, int] = {}
    held: dict[str, int] = {}
    for found in stems:
        for word in dict.fromkeys(found):
            numbers.setdefault(word, len(numbers))
            held[word] = held.get(word, 0) + 1
    rarity = np.array([log(1 + len(texts) / held[word]) for word in numbers] or [0.0], dtype=np.float32)
    vectors = np.zeros((len(stems), HASHED_DIMENSIONS), dtype=np.float32)
    for row, found in enumerate(stems):
        places = np.array([numbers[word] for word in found], dtype=np.intp)
        np.add.at(vectors[row], places % HASHED_DIMENSIONS, rarity[places] if len(places) else 0)
    vectors = _unit(vectors)
    vectors[0] = 2 * vectors[0] + vectors[1:].sum(axis=0) / max(1.0, np.sqrt(len(texts)))
    return _unit(vectors)


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit


def _centrality(vectors: Vectors, middle: Vectors) -> Vectors:
    """Return how close each is to the middle: 1 the closest, 0 the furthest."""
    near = vectors @ middle
    low, high = float(near.min()), float(near.max())
    return np.asarray((near - low) / (high - low) if high > low else np.zeros_like(near), dtype=np.float32)


def _dates_ahead(texts: Sequence[str], scores: Vectors, language: str, today: date) -> Vectors:
    ahead = np.zeros(len(texts), dtype=np.float32)
    for place in np.argsort(-scores, kind="stable")[:DATED].tolist():
        dates = read_dates(texts[place], language) if any(map(str.isdigit, texts[place])) else ()
        ahead[place] = any(found.last is not None and found.last >= today for found in dates)
    return ahead


def _choose(candidates: Sequence[SummaryCandidate], scored: _Scored, points: int) -> list[SummaryPoint]:
    """Choose by maximal marginal relevance: points lose what they share with those chosen, and their section's turn."""
    chosen: list[int] = []
    scores = scored.scores.copy()
    sections = np.array([candidates[place].section for place in scored.kept])
    starts = np.array([candidates[place].span.start for place in scored.kept])
    ends = np.array([candidates[place].span.end for place in scored.kept])
    turn = SAME_SECTION * _rarity_of(sections)
    parts = np.arange(len(scored.kept)) * max(points, 1) // len(scored.kept)
    while len(chosen) < points:
        best = int(np.argmax(scores))
        if scores[best] == -np.inf:
            break
        is_weak = scored.scores[best] < LEAST_SCORE and len(chosen) >= LEAST_POINTS
        text = candidates[scored.kept[best]].text
        if is_weak or any(_say_the_same(text, candidates[scored.kept[other]].text) for other in chosen):
            scores[best] = -np.inf
            continue
        chosen.append(best)
        alike = scored.vectors @ scored.vectors[best]
        scores -= SIMILAR * alike + turn * (sections == sections[best]) + NEARBY * (parts == parts[best])
        scores[(alike >= SAME) | ((starts < ends[best]) & (ends > starts[best]))] = -np.inf
    found = sorted(chosen)
    return [_point(candidates[scored.kept[place]], float(scored.scores[place])) for place in found]


def _say_the_same(one: str, other: str) -> bool:
    own, others = ({fold(word) for word in words(text)} for text in (one, other))
    return len(own & others) >= MOST_SHARED * min(len(own), len(others))


def _rarity_of(sections: NDArray[np.intp]) -> Vectors:
    """Return how few others stand in the section of each: 1 in an average one or a smaller, less in larger ones."""
    _, places, counts = np.unique(sections, return_inverse=True, return_counts=True)
    return np.asarray(np.minimum(1.0, counts.mean() / counts)[places], dtype=np.float32)


def _point(candidate: SummaryCandidate, score: float) -> SummaryPoint:
    return SummaryPoint(candidate.text, candidate.heading, candidate.span.start, candidate.span.end, score)


def _first_lines(document: SummarySource, points: int) -> list[SummaryPoint]:
    """Return the first lines of a document in which no sentence is fit for a summary."""
    found: list[SummaryPoint] = []
    for span in split_sentences(document.text[:MAX_FIRST_CHARS]):
        written = _cut(document.text, trim_space(document.text, span))
        text = visible(plain(document.text[written.start : written.end]))
        is_said = any(map(str.isalnum, text)) and not text.endswith(":") and all(text != point.text for point in found)
        if is_said and len(found) < min(points, MAX_FIRST_LINES):
            found.append(SummaryPoint(text, "", written.start, written.end, 0.0))
    return found


def _cut(text: str, span: Span) -> Span:
    """Return the span without the words beyond `MAX_LINE_CHARS`."""
    if span.end - span.start <= MAX_LINE_CHARS:
        return span
    head = text[span.start : span.start + MAX_LINE_CHARS]
    return Span(span.start, span.start + len(head.rsplit(None, 1)[0]))


def summarise_collection(
    sources: Sequence[SummarySource], *, language: str, today: date, limit: int = MAX_SHOWN_LINES
) -> list[SummaryLine]:
    """Return a line each of the newest documents, grouped by quarter; undated ones last."""
    return _lines(sources, range(len(sources)), limit, language, today)


def what_is_new(
    sources: Sequence[SummarySource], since: date, *, language: str, today: date, limit: int = MAX_SHOWN_LINES
) -> list[SummaryLine]:
    """Return a line each of the documents that are of `since` or later, or were added then; newest first."""
    recent = [
        index
        for index, source in enumerate(sources)
        if any(day is not None and since <= day for day in (source.added, find_date(source, today)))
    ]
    return _lines(sources, recent, limit, language, today)


def _lines(
    sources: Sequence[SummarySource], places: Sequence[int], limit: int, language: str, today: date
) -> list[SummaryLine]:
    days = {place: find_date(sources[place], today) or sources[place].added for place in places}
    order = sorted(places, key=lambda place: (days[place] or date.min).toordinal(), reverse=True)
    lines: list[SummaryLine] = []
    for place in order:
        if len(lines) >= limit:
            break
        if (point := _best_line(sources[place], language, today)) is not None:
            day = days[place]
            quarter = of_day(day).within("quarter") if day else None
            group = name(quarter, spoken(language)) if quarter else _word("undated", language)
            source = sources[place]
            lines.append(
                SummaryLine(place, find_subject(source.text) or source.title or source.filename, group, day, point)
            )
    return lines


def _best_line(source: SummarySource, language: str, today: date) -> SummaryPoint | None:
    computed = describe_sheets(source, language)
    if computed:
        line = computed[0]
        return SummaryPoint(line.text, line.sheet, line.start, line.end, 1.0, line.is_computed)
    candidates = find_candidates(source)
    short = [candidate for candidate in candidates if candidate.word_count <= MAX_LINE_WORDS] or candidates
    if not short:
        return next(iter(_first_lines(source, 1)), None)
    scored = _score(source, short, today)
    features = np.array([short[place].features for place in scored.kept], dtype=np.float32)
    opening, row, item = (features[:, FEATURES.index(feature)] for feature in ("opens_document", "row", "item"))
    best = int(np.argmax(scored.scores + FIRST_OF_DOCUMENT * opening - PART_OF_LIST * (row + item)))
    return _point(short[scored.kept[best]], float(scored.scores[best]))


def find_date(source: SummarySource, today: date) -> date | None:
    """Return the day that a document says it is of, at its beginning or in its title, or the given one.

    A spreadsheet is of the last day that it has a row of.
    """
    if source.dated is not None:
        return source.dated
    if source.sheets and (day := last_day(source, today)) is not None:
        return day
    head = source.text[:DATE_CHARS].rpartition("\n")[0] or source.text[:DATE_CHARS]
    lines = [line.strip() for line in head.splitlines() if line.strip()][: FRONT_LINES + 1]
    front = [
        line
        for line, following in pairwise([*lines, ""])
        if len(line) <= MAX_DATE_LINE_CHARS
        and not following[:1].islower()
        and (not line.endswith(".") or summary_rules().not_content.match(line))
    ]
    dates = [
        found
        for text in (source.title, "\n".join(front))
        for found in read_dates(text, source.language)
        if found.first is not None and found.first <= today
    ]
    days = [found.first for found in dates if found.first == found.last]
    titled = [found.last for found in read_dates(source.title, source.language) if found.last and found.last <= today]
    return max((day for day in days or titled if day is not None), default=None)


def _word(key: str, language: str, **values: object) -> str:
    return summary_rules().sentences[spoken(language)][key].format(**values)


def write_summary(points: Sequence[SummaryPoint], mark: Callable[[SummaryPoint], int]) -> str:
    """Return bullets in Markdown under the document's own headings; `mark` gives the number of a point's citation."""
    return "\n\n".join(_write_groups((point.heading, _bullet(point, mark(point))) for point in points))


def write_lines(
    lines: Sequence[SummaryLine], language: str, mark: Callable[[SummaryLine], int], *, total: int = 0
) -> str:
    """Return a bullet for each document under its period, and how many of `total` are left out."""
    parts = list(
        _write_groups(
            (line.group, f"- {labelled(f'**{line.title}**', said(line.point), language)} [{mark(line)}]")
            for line in lines
        )
    )
    if total > len(lines):
        parts.append(_word("more", language, count=total - len(lines)))
    return "\n\n".join(parts)


def _bullet(point: SummaryPoint, number: int) -> str:
    return f"- {said(point)} [{number}]"


def said(point: SummaryPoint) -> str:
    """Return the point with a capital first letter and a full stop, which a list's item may lack."""
    text = opened(point.text)
    return text if text.rstrip(CLOSING).endswith((".", "!", "?", "…")) else finished(text)


def _write_groups(bullets: Iterator[tuple[str, str]]) -> Iterator[str]:
    for heading, group in groupby(bullets, key=lambda pair: pair[0]):
        lines = "\n".join(line for _, line in group)
        yield f"**{heading}**\n\n{lines}" if heading else lines
