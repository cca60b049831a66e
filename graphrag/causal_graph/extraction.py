"""Extraction of causal relations from a text, by the words that join a cause and an effect."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, islice

from graphrag.causal_graph.clauses import ClauseFinder
from graphrag.causal_graph.cue_readings import CueMatch, Draft, read_cue
from graphrag.causal_graph.grammar import CONNECTIVES, OPENERS, Cue, read_causal_grammar
from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.normalization import normalize
from graphrag.linguistics.sentences import is_heading, split_sentences, trim_space
from graphrag.models import Chunk, Span
from graphrag.models.graph import CausalRelation, Polarity

REACH = 400  # characters to either side of a cue; no clause is longer, but a text without full stops may be
MOST_CUES = 20  # of a sentence; what has more of them is no prose
_MENTION = re.compile(r"\b(?:word|palabra|mot|término|conjunción|conjunction|terme|conjonction)\s+[\"'«“‘]?\s*$")
_QUOTES = "«\"“‘'", "»\"”’'"
_CLAUSE_MARKS = ',;:.(¿¡«"–—'


def extract_relations(text: str, *, language: str) -> list[CausalRelation]:
    """Spans are characters of the text. Of any language but Spanish, French and English: none."""
    if language not in ANSWER_LANGUAGES:
        return []
    finder = ClauseFinder(read_causal_grammar(language), normalize(text))
    relations: list[CausalRelation] = []
    previous: Span | None = None
    for span in split_sentences(text):
        sentence = trim_space(finder.s, span)
        if is_heading(text[span.start : span.end]):
            previous = None
            continue
        relations += [_relation(draft, sentence, previous) for draft in _read_sentence(finder, sentence, previous)]
        previous = sentence
    return relations


def states_cause(text: str, *, language: str) -> bool:
    """Return whether a text gives a cause as a fact."""
    return any(relation.polarity is Polarity.FACT for relation in extract_relations(text, language=language))


def extract_from_chunks(text: str, chunks: Sequence[Chunk], *, language: str) -> list[tuple[CausalRelation, ...]]:
    """The relations of a document, those of each chunk whose quotes begin in it. Chunks tile the text, in order."""
    found: list[list[CausalRelation]] = [[] for _ in chunks]
    starts = [chunk.start_char for chunk in chunks]
    for relation in extract_relations(text, language=language) if chunks else ():
        found[max(0, bisect_right(starts, relation.quote.start) - 1)].append(relation)
    return [tuple(relations) for relations in found]


def _read_sentence(finder: ClauseFinder, sentence: Span, previous: Span | None) -> list[Draft]:
    found = _find_cues(finder, sentence)
    if not found:
        return []
    ends = [match.end() if cue.form in CONNECTIVES else -1 for cue, match in found]
    lefts = accumulate(ends, max, initial=sentence.start)
    rights = [sentence.end]
    for cue, match in reversed(found[1:]):
        rights.append(match.start() if cue.form in CONNECTIVES else rights[-1])
    drafts: list[Draft] = []
    for (cue, match), left, right in zip(found, lefts, reversed(rights), strict=False):
        lo, hi = max(sentence.start, match.start() - REACH), min(sentence.end, match.end() + REACH)
        left, right = max(lo, left), min(hi, right)
        earlier = drafts[-1] if drafts else None
        cue_match = CueMatch(finder, cue, match.start(), match.end(), lo, left, right, hi, previous, earlier)
        if draft := read_cue(cue_match):
            drafts.append(draft)
    return drafts


def _find_cues(finder: ClauseFinder, sentence: Span) -> list[tuple[Cue, re.Match[str]]]:
    return [
        (cue, match)
        for cue, match in islice(finder.g.find_cues(finder.s, sentence.start, sentence.end), MOST_CUES)
        if not _is_mentioned(finder.s, match)
        and (cue.form not in OPENERS or _opens_clause(finder, sentence.start, match.start()))
    ]


def _is_mentioned(s: str, match: re.Match[str]) -> bool:
    """The word itself is meant: «porque»."""
    before, after = s[match.start() - 1 : match.start()], s[match.end() : match.end() + 1]
    is_quoted = bool(before and after) and before in _QUOTES[0] and after in _QUOTES[1]
    return is_quoted or _MENTION.search(s, max(0, match.start() - 30), match.start()) is not None


def _opens_clause(finder: ClauseFinder, lo: int, start: int) -> bool:
    before = finder.s[max(lo, start - 60) : start].rstrip()
    if not before or before[-1] in _CLAUSE_MARKS:
        return True
    word = finder.words(Span(max(lo, start - 60), start))[-1:]
    return bool(word) and word[0] in finder.g.conjunctions | finder.g.complementizers


def _relation(draft: Draft, sentence: Span, previous: Span | None) -> CausalRelation:
    start = min(draft.cause.start, draft.effect.start)
    quote = sentence if previous is None or start >= sentence.start else replace(sentence, start=previous.start)
    return CausalRelation(draft.cause, draft.effect, quote, draft.cue.type, draft.polarity, round(draft.confidence, 2))
