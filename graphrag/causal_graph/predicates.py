"""Causes and effects around verbs and nouns: caused, was caused by, the cause of … was."""

import re

from graphrag.causal_graph.clauses import (
    VerbGroup,
    antecedent,
    has_finite,
    left_clause,
    right_clause,
    right_phrase,
    strong_end,
    subject,
    tokens,
    trim,
    trim_words,
    verb_group,
    verb_polarity,
)
from graphrag.causal_graph.cue_matches import Draft, Site, draft, sentence_before, weaker
from graphrag.causal_graph.grammar import LIKELY, Form, pattern
from graphrag.models import Span
from graphrag.models.graph import Polarity

_ASIDE_BEFORE = re.compile(r"[,)—–-]\s*$")


def verb(site: Site) -> list[Draft]:
    """Cause caused effect."""
    g, s = site.g, site.s
    group = verb_group(g, s, site.left, site.start)
    verb_form = s[site.start : site.end].split()[0]
    denied = pattern(g.post_negation).match(s, site.end)
    effect = right_phrase(g, s, denied.end() if denied else site.end, site.right)
    if effect is None or not _is_active(site, group, verb_form):
        return []
    polarity = verb_polarity(g, s, lo=site.left, group=group, verb=s[site.start : site.end])
    if denied or pattern(rf"(?:{g.negative_object})(?!\w)").match(s, effect.start):
        polarity = Polarity.NEGATED
    cause, is_weak = _subject(site, group)
    if cause and _is_denied_cleft(site, cause):
        cause, polarity = trim_words(g, s, cause, left=g.negations), Polarity.NEGATED
    if group.words and group.words[-1] in g.object_clitics:
        cause, effect = effect, cause
    return _weakened(draft(site, cause, effect, polarity), is_weak)


def _is_denied_cleft(site: Site, cause: Span) -> bool:
    """«Ce n'est pas la vitesse qui a causé l'accident»."""
    g, s = site.g, site.s
    cleft = pattern(rf"(?:{g.cleft})(?!\w)").search(s, max(site.left, cause.start - 20), cause.start + 6)
    if cleft is None:
        return False
    return any(word in g.negations for word in re.findall(g.word, s[cleft.start() : cause.start + 4]))


def _weakened(drafts: list[Draft], weak: bool) -> list[Draft]:
    return weaker(drafts) if weak else drafts


def _is_active(site: Site, group: VerbGroup, verb_form: str) -> bool:
    """A bare participle is passive, an infinitive needs a modal verb, and a purpose is no fact."""
    g = site.g
    if group.words and group.words[-1] in g.reflexive:
        return False
    if re.fullmatch(g.infinitive, verb_form) and not re.fullmatch(g.finite, verb_form):
        return any(word in g.modals or word in g.without for word in group.words)
    if re.fullmatch(g.participle, verb_form):
        return any(word in g.auxiliaries for word in group.words)
    return True


def passive(site: Site) -> list[Draft]:
    """Effect was caused by cause."""
    g, s = site.g, site.s
    group = verb_group(g, s, site.left, site.start)
    cause = right_phrase(g, s, site.end, site.right)
    if cause is None:
        return []
    rest = pattern(g.contrast_not).search(s, cause.start, cause.end)
    excluded = None
    if rest:
        excluded = right_phrase(g, s, rest.end(), site.right)
        cause = trim(s, cause.start, rest.start())
    polarity = verb_polarity(g, s, lo=site.left, group=group, verb=s[site.start : site.end])
    effect, is_weak = _subject(site, group)
    if not any(word in g.auxiliaries for word in group.words) and re.match(
        rf"(?:{g.bare_participle})\b", s[site.start : site.end]
    ):
        effect = antecedent(g, s, site.left, group.start)  # «un corte provocado por …»
    found = _weakened(draft(site, cause, effect, polarity), is_weak)
    if found and excluded:
        found += draft(site, excluded, found[0].effect, Polarity.NEGATED)
    return found


def _subject(site: Site, group: VerbGroup) -> tuple[Span | None, bool]:
    """Return the subject of a verb, and whether it is the sentence before, which is less sure."""
    g, s = site.g, site.s
    before = _last_word(site, group.start)
    if s[site.left : group.start].strip(" \n,") == "" and site.left == site.lo:
        return sentence_before(site), True
    relative = pattern(rf"(?:{g.clause_relative})\s*$").search(s, max(site.lo, group.start - 40), group.start)
    if relative:
        return _clause_before(site, relative.start())
    if before and before.group() in g.relatives:
        start = before.start()
        return antecedent(g, s, site.left, trim(s, site.left, start).end), False
    if re.fullmatch(g.gerund, s[site.start : site.end].split()[0]) and not _has_auxiliary(site, group):
        return _clause_before(site, group.start)
    if any(word in g.without for word in group.words):
        return _clause_before(site, group.start)
    if _ASIDE_BEFORE.search(s[max(site.left, group.start - 3) : group.start]):
        return _before_aside(site, group.start), False
    found = subject(g, s, site.left, group.start)
    if found and s[found.start : found.end] in g.anaphors:
        return _clause_before(site, found.start)
    return found, False


def _has_auxiliary(site: Site, group: VerbGroup) -> bool:
    return any(word in site.g.auxiliaries for word in group.words)


def _last_word(site: Site, end: int) -> re.Match[str] | None:
    found = tokens(site.g, site.s, max(site.left, end - 30), end)
    return found[-1] if found else None


def _clause_before(site: Site, start: int) -> tuple[Span | None, bool]:
    """The clause before a pronoun that stands for it; the sentence before, where nothing is before it."""
    g, s = site.g, site.s
    text = trim(s, site.lo, start)
    if all(word in g.conjunctions for word in re.findall(g.word, s[text.start : text.end])):
        return sentence_before(site), True
    is_which = re.match(r"\W*(?:which|que)\b", s[start : start + 12])
    if is_which and site.earlier and 0 <= start - site.earlier[-1].effect.end <= 3:
        return site.earlier[-1].effect, False  # "X caused a mudslide, which led to …"
    clause = left_clause(g, s, site.left, start)
    if clause and not has_finite(g, s, clause.start, clause.end) and len(s[clause.start : clause.end].split()) < 3:
        return None, False
    return clause, False


def _before_aside(site: Site, end: int) -> Span | None:
    """«La negociación, larga y desagradable, resultó en»: the subject is before the aside."""
    g, s = site.g, site.s
    stop = trim(s, site.left, end).end
    opening = max(
        s.rfind(", ", site.left, stop),
        s.rfind(" (", site.left, stop),
        s.rfind(" – ", site.left, stop),
        s.rfind(" — ", site.left, stop),
    )
    if opening <= site.left:
        return subject(g, s, site.left, stop)
    return subject(g, s, site.left, verb_group(g, s, site.left, opening).start)


def cause_of(site: Site) -> list[Draft]:
    """The cause of effect was cause; with RESULT_OF the other way round."""
    g, s = site.g, site.s
    end = strong_end(s, site.end, site.hi) if ":" not in site.cue.joint else site.hi
    joint = pattern(site.cue.joint).search(s, site.end, end)
    if joint is None:
        return []
    first = trim(s, site.end, joint.start())
    take = right_clause if has_finite(g, s, joint.end(), site.right) else right_phrase
    second = take(g, s, joint.end(), max(site.right, joint.end()))
    polarity = Polarity.FACT
    words = re.findall(g.word, joint.group())
    if any(word in g.negations for word in words):
        polarity = Polarity.NEGATED
    elif any(word in g.hypothetical_words or re.fullmatch(g.hypothetical_verb, word) for word in words):
        polarity = Polarity.HYPOTHETICAL
    cause, effect = (second, first) if site.cue.form is Form.CAUSE_OF else (first, second)
    return draft(site, cause, effect, polarity)


def attributes(site: Site) -> list[Draft]:
    """Somebody attributes effect to cause."""
    g, s = site.g, site.s
    group = verb_group(g, s, site.left, site.start)
    joint = pattern(site.cue.joint).search(s, site.end, strong_end(s, site.end, site.right))
    if joint is None:
        return []
    polarity = verb_polarity(g, s, lo=site.left, group=group, verb=s[site.start : site.end])
    effect = trim(s, site.end, joint.start())
    return draft(site, right_phrase(g, s, joint.end(), site.right), effect, polarity, LIKELY)


def labelled(site: Site) -> list[Draft]:
    """«Resultado: …», "The reason: …", of what the sentence before says."""
    g, s = site.g, site.s
    opens = not s[site.lo : site.start].strip(" \n")
    if not opens and s[: site.start].rstrip()[-1:] not in ";:,—–(.":
        return []
    before = sentence_before(site) if opens else left_clause(g, s, site.left, site.start)
    if before is None:
        return []
    label = g.search.match(s, before.start, before.end)
    if label and g.cue_of(label).form in (Form.REASON, Form.OUTCOME):
        if site.cue.form is Form.REASON:
            return []
        before = trim(s, label.end(), before.end)
    said = right_clause(g, s, site.end, site.hi)
    before = trim_words(g, s, before, left=g.conjunctions)
    cause, effect = (said, before) if site.cue.form is Form.REASON else (before, said)
    return weaker(draft(site, cause, effect, Polarity.FACT), 0.8)
