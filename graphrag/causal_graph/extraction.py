"""Extraction of causal relations from a text, by the words that join a cause and an effect."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from graphrag.causal_graph.connectives import because, midway, so_that, therefore
from graphrag.causal_graph.cue_matches import REACH, CueMatch, Draft, match_cues
from graphrag.causal_graph.grammar import CausalGrammar, Form, read_causal_grammar
from graphrag.causal_graph.predicates import attributes, cause_of, labelled, passive, verb
from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.normalization import normalize
from graphrag.linguistics.sentences import is_heading, split_sentences, trim_space
from graphrag.models import Chunk, Span
from graphrag.models.graph import CausalRelation

_READERS: Mapping[Form, Callable[[CueMatch], list[Draft]]] = {
    Form.BECAUSE: because,
    Form.BECAUSE_OF: because,
    Form.GIVEN_THAT: because,
    Form.SO: therefore,
    Form.THEREFORE: therefore,
    Form.MIDWAY: midway,
    Form.OUTCOME: labelled,
    Form.REASON: labelled,
    Form.VERB: verb,
    Form.PASSIVE: passive,
    Form.ATTRIBUTES: attributes,
    Form.CAUSE_OF: cause_of,
    Form.RESULT_OF: cause_of,
    Form.SO_THAT: so_that,
}


def extract_relations(text: str, *, language: str) -> list[CausalRelation]:
    """Spans are characters of the text. Of any language but Spanish, French and English: none."""
    if language not in ANSWER_LANGUAGES:
        return []
    grammar = read_causal_grammar(language)
    s = normalize(text)
    relations: list[CausalRelation] = []
    previous: Span | None = None
    for span in split_sentences(text):
        sentence = trim_space(s, span)
        if is_heading(text[span.start : span.end]):
            previous = None
            continue
        relations += _of_sentence(grammar, s, sentence, previous)
        previous = sentence
    return relations


def extract_from_chunks(text: str, chunks: Sequence[Chunk], *, language: str) -> list[tuple[CausalRelation, ...]]:
    """The relations of a document, those of each chunk whose quotes begin in it. Chunks tile the text, in order."""
    found: list[list[CausalRelation]] = [[] for _ in chunks]
    starts = [chunk.start_char for chunk in chunks]
    for relation in extract_relations(text, language=language) if chunks else ():
        found[max(0, bisect_right(starts, relation.quote.start) - 1)].append(relation)
    return [tuple(relations) for relations in found]


def _of_sentence(g: CausalGrammar, s: str, sentence: Span, previous: Span | None) -> list[CausalRelation]:
    drafts: list[Draft] = []
    for cue, match, left, right in match_cues(g, s, sentence):
        lo, hi = max(sentence.start, match.start() - REACH), min(sentence.end, match.end() + REACH)
        left, right = max(lo, left), min(hi, right)
        cue_match = CueMatch(g, s, cue, match.start(), match.end(), lo, left, right, hi, previous, tuple(drafts[-2:]))
        drafts += _READERS[cue.form](cue_match)
    return [_relation(s, draft, sentence, previous) for draft in _without_doubles(drafts)]


def _without_doubles(drafts: list[Draft]) -> list[Draft]:
    """Two cues may tell the same relation: «se debe a», "the cause … is that … because". The surer one stays."""
    kept: list[Draft] = []
    for one in sorted(drafts, key=lambda draft: -draft.confidence):
        if not any({one.cause, one.effect} == {other.cause, other.effect} for other in kept):
            kept.append(one)
    return [one for one in drafts if one in kept]


def _relation(s: str, draft: Draft, sentence: Span, previous: Span | None) -> CausalRelation:
    start = min(draft.cause.start, draft.effect.start)
    quote = sentence if previous is None or start >= sentence.start else replace(sentence, start=previous.start)
    return CausalRelation(draft.cause, draft.effect, quote, draft.cue.type, draft.polarity, round(draft.confidence, 2))
