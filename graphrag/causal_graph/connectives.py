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
from graphrag.causal_graph.cue_matches import Draft, Site, draft, sentence_before, weaker
from graphrag.causal_graph.grammar import LIKELY, VAGUE, Form, pattern
from graphrag.models import Span
from graphrag.models.graph import Polarity

_COMMA = re.compile(r",(?=\s)|\s[–—-]\s")


def because(site: Site) -> list[Draft]:
    """Effect because cause; or because cause, effect."""
    g, s = site.g, site.s
    polarity = beside_connective(g, s, site.left, site.start)
    cleft = _cleft(site)
    if cleft:
        return draft(site, *cleft, polarity)
    before = _before(site)
    if _stands_first(site, before):
        split = fronted(site)
        if split:
            return draft(site, *split, polarity)
    if site.cue.form is Form.GIVEN_THAT:
        return []
    cause = _right(site)
    if _corrects(site):
        return draft(site, cause, site.earlier[-1].effect, polarity)
    if before is None:
        return _answer(site, cause)
    if polarity is Polarity.FACT and cause and _is_corrected(site, before, cause):
        polarity = Polarity.NEGATED
    found = draft(site, cause, _without_negation(site, before, polarity), polarity)
    return [*found, *(_excluded(site, cause, before) if cause and found else [])]


def _right(site: Site) -> Span | None:
    take = right_phrase if site.cue.form is Form.BECAUSE_OF else right_clause
    span = take(site.g, site.s, site.end, site.right)
    if span is None:
        return None
    other = pattern(site.g.contrast_not).search(site.s, span.start, span.end)
    return trim(site.s, span.start, other.start()) if other else span


def _excluded(site: Site, cause: Span, effect: Span) -> list[Draft]:
    """«Se debe a X y no a Y»: Y is not the cause."""
    other = pattern(rf"[\s,]*(?:{site.g.contrast_not})").match(site.s, cause.end, site.right)
    if other is None:
        return []
    return draft(site, right_phrase(site.g, site.s, other.end(), site.right), effect, Polarity.NEGATED)


def _before(site: Site) -> Span | None:
    """The clause before the connective; None where there are but small words."""
    g, s = site.g, site.s
    text = trim(s, site.left, site.start)
    small = g.conjunctions | g.focus | g.negations | g.hypothetical_words
    if all(word in small for word in re.findall(g.word, s[text.start : text.end])):
        return None
    return left_clause(g, s, site.left, site.start)


def _stands_first(site: Site, before: Span | None) -> bool:
    g, s = site.g, site.s
    half = strong_start(s, site.left, site.start)
    if before is None or site.cue.form is Form.GIVEN_THAT or not s[half : site.start].strip():
        return True
    conjunction = re.search(rf"({g.word})[,\s]*$", s[max(site.left, site.start - 20) : site.start])
    if conjunction and conjunction.group(1) in g.complementizers:
        return fronted(site) is not None
    if conjunction and conjunction.group(1) in g.conjunctions:
        return _effect_after(site) is not None
    return not has_finite(g, s, before.start, before.end) and _effect_after(site) is not None


def _effect_after(site: Site) -> Span | None:
    split = fronted(site)
    return split[1] if split and has_finite(site.g, site.s, split[1].start, split[1].end) else None


def fronted(site: Site) -> tuple[Span, Span] | None:
    """Cause, effect: after a connective that begins the sentence, around the comma where the main clause begins."""
    g, s = site.g, site.s
    end = strong_end(s, site.end, site.hi)
    clausal = site.cue.form is not Form.BECAUSE_OF
    weak = None
    for comma in _COMMA.finditer(s, site.end, end):
        cause, rest = trim(s, site.end, comma.start()), trim(s, comma.end(), end)
        if cause.end <= cause.start or rest.end <= rest.start:
            continue
        following = parts(s, rest.start, rest.end)[0]
        if is_aside(g, s, following):
            continue
        is_clause = site.cue.form is not Form.BECAUSE or has_finite(g, s, cause.start, cause.end)
        if is_clause and has_finite(g, s, following.start, following.end):
            return cause, _effect(site, rest.start)
        if weak is None and len(s[rest.start : rest.end].split()) > 2:
            weak = cause, _effect(site, rest.start)
    return weak or (None if clausal else _before_main_verb(site, end))


def _effect(site: Site, start: int) -> Span:
    return (
        right_clause(site.g, site.s, start, max(site.right, start))
        or right_clause(site.g, site.s, start, site.hi)
        or Span(start, site.hi)
    )


def _before_main_verb(site: Site, end: int) -> tuple[Span, Span] | None:
    """«A causa del apagón se estropeó el pescado»: no comma."""
    g, s = site.g, site.s
    if _COMMA.search(s, site.end, end):
        return None
    first = pattern(g.word).search(s, site.end, end)
    verb = pattern(g.finite).search(s, first.end(), end) if first else None
    if verb is None or not s[site.end : verb.start()].strip():
        return None
    return trim(s, site.end, verb.start()), _effect(site, verb.start())


def _cleft(site: Site) -> tuple[Span, Span] | None:
    """«C'est à cause de X que Y»."""
    g, s = site.g, site.s
    if not pattern(rf"(?:{g.cleft})\s*$").search(s, max(site.lo, site.start - 30), site.start):
        return None
    that = pattern(g.cleft_that).search(s, site.end, site.right)
    if that is None:
        return None
    effect = right_clause(g, s, that.end(), site.right)
    return (trim(s, site.end, that.start()), effect) if effect else None


def _answer(site: Site, cause: Span | None) -> list[Draft]:
    """Return the draft of a «Porque …» that answers the sentence before: «Cerramos. Porque no había luz.»."""
    if site.cue.form is not Form.BECAUSE:
        return []
    return draft(site, cause, sentence_before(site), Polarity.FACT, VAGUE)


def _corrects(site: Site) -> bool:
    """«… no por X, sino porque Y»: the second cause has the effect of the first."""
    if not site.earlier or site.earlier[-1].cue.form not in (Form.BECAUSE, Form.BECAUSE_OF):
        return False
    between = site.s[site.earlier[-1].cause.end : site.start] if site.earlier[-1].cause.end <= site.start else ""
    words = re.findall(site.g.word, between)
    is_added = bool(words) and all(word in site.g.conjunctions for word in words)  # «porque A y porque B»
    return is_added or re.fullmatch(rf"[\s,]*(?:{site.g.correction})[\s,]*", between) is not None


def _is_corrected(site: Site, before: Span, cause: Span) -> bool:
    """Return whether a cause is denied to be corrected: «No me fui por X; simplemente …»."""
    g, s = site.g, site.s
    first = next(iter(re.findall(g.word, s[before.start : before.end])), "")
    negated = first in g.negations or any(
        word in g.negations for word in re.findall(g.word, s[before.start : before.end])
    )
    return negated and pattern(rf"[\s,;.]*(?:{g.correction})(?!\w)").match(s, cause.end) is not None


def _without_negation(site: Site, span: Span, polarity: Polarity) -> Span:
    g, s = site.g, site.s
    span = trim_words(g, s, span, right=g.copulas | g.negations | g.focus | g.hypothetical_words | g.conjunctions)
    if polarity is not Polarity.NEGATED:
        return span
    supposed = pattern(rf"(?:{g.condition})(?!\w)").match(s, span.start, span.end)  # «si me voy no es porque …»
    span = trim(s, supposed.end(), span.end) if supposed else span
    return trim_words(g, s, span, left=g.negations)


def therefore(site: Site) -> list[Draft]:
    """Cause. Therefore effect; or both in one sentence."""
    g, s = site.g, site.s
    effect = right_clause(g, s, site.end, site.right)
    begin = trim(s, site.lo, site.start)
    if all(word in g.conjunctions for word in re.findall(g.word, s[begin.start : begin.end])):
        return weaker(draft(site, sentence_before(site), effect, Polarity.FACT), 0.8)
    if s[: site.start].rstrip()[-1:] == "," == s[site.end : site.end + 1] and not has_finite(
        g, s, site.left, site.start
    ):
        return midway(site)  # «El plazo, por tanto, se amplió»
    return draft(site, _stated(site, left_clause(g, s, site.left, site.start)), effect, Polarity.FACT)


def _stated(site: Site, clause: Span | None) -> Span | None:
    """Return the clause, or None for a heading or another short phrase that states nothing."""
    if clause is None or has_finite(site.g, site.s, clause.start, clause.end):
        return clause
    return clause if len(site.s[clause.start : clause.end].split()) > 2 else None


def midway(site: Site) -> list[Draft]:
    """Cause. Effect with «donc», "therefore" in its midst."""
    g, s = site.g, site.s
    begin = strong_start(s, site.lo, site.start)
    clause = right_clause(g, s, begin, site.hi)
    if clause is None or not clause.start <= site.start < clause.end:
        begin = max([begin, *(comma.end() for comma in _COMMA.finditer(s, begin, site.start))])
        clause = right_clause(g, s, begin, site.hi)
    if clause is None or not clause.start <= site.start < clause.end:
        return []
    if trim(s, site.lo, clause.start).end <= trim(s, site.lo, clause.start).start:
        return weaker(draft(site, sentence_before(site), clause, Polarity.FACT))
    return draft(site, _stated(site, left_clause(g, s, site.lo, clause.start)), clause, Polarity.FACT, LIKELY)


def so_that(site: Site) -> list[Draft]:
    """«Llovió tanto que se pudrieron»."""
    g, s = site.g, site.s
    joint = pattern(site.cue.joint).search(s, site.end, strong_end(s, site.end, site.right))
    if joint is None or not has_finite(g, s, joint.end(), site.right):
        return []
    return draft(
        site, left_clause(g, s, site.left, joint.start()), right_clause(g, s, joint.end(), site.right), Polarity.FACT
    )
