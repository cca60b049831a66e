"""Causes and effects around connectives: because, because of, so, therefore."""

import re

from graphrag.causal_graph.clauses import (
    beside_connective,
    has_finite,
    is_aside,
    left_clause,
    parts,
    right_clause,
    right_phrase,
    strong_end,
    strong_start,
    trim,
    trim_words,
)
from graphrag.causal_graph.cue_matches import CueMatch, Draft, draft, sentence_before, weaker
from graphrag.causal_graph.grammar import LIKELY, VAGUE, Form, pattern
from graphrag.models import Span
from graphrag.models.graph import Polarity

_COMMA = re.compile(r",(?=\s)|\s[–—-]\s")


def because(cue_match: CueMatch) -> list[Draft]:
    """Effect because cause; or because cause, effect."""
    g, s = cue_match.g, cue_match.s
    polarity = beside_connective(g, s, cue_match.left, cue_match.start)
    cleft = _cleft(cue_match)
    if cleft:
        return draft(cue_match, *cleft, polarity)
    before = _before(cue_match)
    if _stands_first(cue_match, before):
        split = fronted(cue_match)
        if split:
            return draft(cue_match, *split, polarity)
    if cue_match.cue.form is Form.GIVEN_THAT:
        return []
    cause = _right(cue_match)
    if _corrects(cue_match):
        return draft(cue_match, cause, cue_match.earlier[-1].effect, polarity)
    if before is None:
        return _answer(cue_match, cause)
    if polarity is Polarity.FACT and cause and _is_corrected(cue_match, before, cause):
        polarity = Polarity.NEGATED
    found = draft(cue_match, cause, _without_negation(cue_match, before, polarity), polarity)
    return [*found, *(_excluded(cue_match, cause, before) if cause and found else [])]


def _right(cue_match: CueMatch) -> Span | None:
    take = right_phrase if cue_match.cue.form is Form.BECAUSE_OF else right_clause
    span = take(cue_match.g, cue_match.s, cue_match.end, cue_match.right)
    if span is None:
        return None
    other = pattern(cue_match.g.contrast_not).search(cue_match.s, span.start, span.end)
    return trim(cue_match.s, span.start, other.start()) if other else span


def _excluded(cue_match: CueMatch, cause: Span, effect: Span) -> list[Draft]:
    """«Se debe a X y no a Y»: Y is not the cause."""
    other = pattern(rf"[\s,]*(?:{cue_match.g.contrast_not})").match(cue_match.s, cause.end, cue_match.right)
    if other is None:
        return []
    return draft(
        cue_match, right_phrase(cue_match.g, cue_match.s, other.end(), cue_match.right), effect, Polarity.NEGATED
    )


def _before(cue_match: CueMatch) -> Span | None:
    """The clause before the connective; None where there are but small words."""
    g, s = cue_match.g, cue_match.s
    text = trim(s, cue_match.left, cue_match.start)
    small = g.conjunctions | g.focus | g.negations | g.hypothetical_words
    if all(word in small for word in re.findall(g.word, s[text.start : text.end])):
        return None
    return left_clause(g, s, cue_match.left, cue_match.start)


def _stands_first(cue_match: CueMatch, before: Span | None) -> bool:
    g, s = cue_match.g, cue_match.s
    half = strong_start(s, cue_match.left, cue_match.start)
    if before is None or cue_match.cue.form is Form.GIVEN_THAT or not s[half : cue_match.start].strip():
        return True
    conjunction = re.search(rf"({g.word})[,\s]*$", s[max(cue_match.left, cue_match.start - 20) : cue_match.start])
    if conjunction and conjunction.group(1) in g.complementizers:
        return fronted(cue_match) is not None
    if conjunction and conjunction.group(1) in g.conjunctions:
        return _effect_after(cue_match) is not None
    return not has_finite(g, s, before.start, before.end) and _effect_after(cue_match) is not None


def _effect_after(cue_match: CueMatch) -> Span | None:
    split = fronted(cue_match)
    return split[1] if split and has_finite(cue_match.g, cue_match.s, split[1].start, split[1].end) else None


def fronted(cue_match: CueMatch) -> tuple[Span, Span] | None:
    """Cause, effect: after a connective that begins the sentence, around the comma where the main clause begins."""
    g, s = cue_match.g, cue_match.s
    end = strong_end(s, cue_match.end, cue_match.hi)
    clausal = cue_match.cue.form is not Form.BECAUSE_OF
    weak = None
    for comma in _COMMA.finditer(s, cue_match.end, end):
        cause, rest = trim(s, cue_match.end, comma.start()), trim(s, comma.end(), end)
        if cause.end <= cause.start or rest.end <= rest.start:
            continue
        following = parts(s, rest.start, rest.end)[0]
        if is_aside(g, s, following):
            continue
        is_clause = cue_match.cue.form is not Form.BECAUSE or has_finite(g, s, cause.start, cause.end)
        if is_clause and has_finite(g, s, following.start, following.end):
            return cause, _effect(cue_match, rest.start)
        if weak is None and len(s[rest.start : rest.end].split()) > 2:
            weak = cause, _effect(cue_match, rest.start)
    return weak or (None if clausal else _before_main_verb(cue_match, end))


def _effect(cue_match: CueMatch, start: int) -> Span:
    return (
        right_clause(cue_match.g, cue_match.s, start, max(cue_match.right, start))
        or right_clause(cue_match.g, cue_match.s, start, cue_match.hi)
        or Span(start, cue_match.hi)
    )


def _before_main_verb(cue_match: CueMatch, end: int) -> tuple[Span, Span] | None:
    """«A causa del apagón se estropeó el pescado»: no comma."""
    g, s = cue_match.g, cue_match.s
    if _COMMA.search(s, cue_match.end, end):
        return None
    first = pattern(g.word).search(s, cue_match.end, end)
    verb = pattern(g.finite).search(s, first.end(), end) if first else None
    if verb is None or not s[cue_match.end : verb.start()].strip():
        return None
    return trim(s, cue_match.end, verb.start()), _effect(cue_match, verb.start())


def _cleft(cue_match: CueMatch) -> tuple[Span, Span] | None:
    """«C'est à cause de X que Y»."""
    g, s = cue_match.g, cue_match.s
    if not pattern(rf"(?:{g.cleft})\s*$").search(s, max(cue_match.lo, cue_match.start - 30), cue_match.start):
        return None
    that = pattern(g.cleft_that).search(s, cue_match.end, cue_match.right)
    if that is None:
        return None
    effect = right_clause(g, s, that.end(), cue_match.right)
    return (trim(s, cue_match.end, that.start()), effect) if effect else None


def _answer(cue_match: CueMatch, cause: Span | None) -> list[Draft]:
    """Return the draft of a «Porque …» that answers the sentence before: «Cerramos. Porque no había luz.»."""
    if cue_match.cue.form is not Form.BECAUSE:
        return []
    return draft(cue_match, cause, sentence_before(cue_match), Polarity.FACT, VAGUE)


def _corrects(cue_match: CueMatch) -> bool:
    """«… no por X, sino porque Y»: the second cause has the effect of the first."""
    if not cue_match.earlier or cue_match.earlier[-1].cue.form not in (Form.BECAUSE, Form.BECAUSE_OF):
        return False
    between = (
        cue_match.s[cue_match.earlier[-1].cause.end : cue_match.start]
        if cue_match.earlier[-1].cause.end <= cue_match.start
        else ""
    )
    words = re.findall(cue_match.g.word, between)
    is_added = bool(words) and all(word in cue_match.g.conjunctions for word in words)  # «porque A y porque B»
    return is_added or re.fullmatch(rf"[\s,]*(?:{cue_match.g.correction})[\s,]*", between) is not None


def _is_corrected(cue_match: CueMatch, before: Span, cause: Span) -> bool:
    """Return whether a cause is denied to be corrected: «No me fui por X; simplemente …»."""
    g, s = cue_match.g, cue_match.s
    first = next(iter(re.findall(g.word, s[before.start : before.end])), "")
    negated = first in g.negations or any(
        word in g.negations for word in re.findall(g.word, s[before.start : before.end])
    )
    return negated and pattern(rf"[\s,;.]*(?:{g.correction})(?!\w)").match(s, cause.end) is not None


def _without_negation(cue_match: CueMatch, span: Span, polarity: Polarity) -> Span:
    g, s = cue_match.g, cue_match.s
    span = trim_words(g, s, span, right=g.copulas | g.negations | g.focus | g.hypothetical_words | g.conjunctions)
    if polarity is not Polarity.NEGATED:
        return span
    supposed = pattern(rf"(?:{g.condition})(?!\w)").match(s, span.start, span.end)  # «si me voy no es porque …»
    span = trim(s, supposed.end(), span.end) if supposed else span
    return trim_words(g, s, span, left=g.negations)


def therefore(cue_match: CueMatch) -> list[Draft]:
    """Cause. Therefore effect; or both in one sentence."""
    g, s = cue_match.g, cue_match.s
    effect = right_clause(g, s, cue_match.end, cue_match.right)
    begin = trim(s, cue_match.lo, cue_match.start)
    if all(word in g.conjunctions for word in re.findall(g.word, s[begin.start : begin.end])):
        return weaker(draft(cue_match, sentence_before(cue_match), effect, Polarity.FACT), 0.8)
    if s[: cue_match.start].rstrip()[-1:] == "," == s[cue_match.end : cue_match.end + 1] and not has_finite(
        g, s, cue_match.left, cue_match.start
    ):
        return midway(cue_match)  # «El plazo, por tanto, se amplió»
    return draft(
        cue_match, _stated(cue_match, left_clause(g, s, cue_match.left, cue_match.start)), effect, Polarity.FACT
    )


def _stated(cue_match: CueMatch, clause: Span | None) -> Span | None:
    """Return the clause, or None for a heading or another short phrase that states nothing."""
    if clause is None or has_finite(cue_match.g, cue_match.s, clause.start, clause.end):
        return clause
    return clause if len(cue_match.s[clause.start : clause.end].split()) > 2 else None


def midway(cue_match: CueMatch) -> list[Draft]:
    """Cause. Effect with «donc», "therefore" in its midst."""
    g, s = cue_match.g, cue_match.s
    begin = strong_start(s, cue_match.lo, cue_match.start)
    clause = right_clause(g, s, begin, cue_match.hi)
    if clause is None or not clause.start <= cue_match.start < clause.end:
        begin = max([begin, *(comma.end() for comma in _COMMA.finditer(s, begin, cue_match.start))])
        clause = right_clause(g, s, begin, cue_match.hi)
    if clause is None or not clause.start <= cue_match.start < clause.end:
        return []
    if trim(s, cue_match.lo, clause.start).end <= trim(s, cue_match.lo, clause.start).start:
        return weaker(draft(cue_match, sentence_before(cue_match), clause, Polarity.FACT))
    return draft(
        cue_match, _stated(cue_match, left_clause(g, s, cue_match.lo, clause.start)), clause, Polarity.FACT, LIKELY
    )


def so_that(cue_match: CueMatch) -> list[Draft]:
    """«Llovió tanto que se pudrieron»."""
    g, s = cue_match.g, cue_match.s
    joint = pattern(cue_match.cue.joint).search(s, cue_match.end, strong_end(s, cue_match.end, cue_match.right))
    if joint is None or not has_finite(g, s, joint.end(), cue_match.right):
        return []
    return draft(
        cue_match,
        left_clause(g, s, cue_match.left, joint.start()),
        right_clause(g, s, joint.end(), cue_match.right),
        Polarity.FACT,
    )
