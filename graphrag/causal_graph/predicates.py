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
from graphrag.causal_graph.cue_matches import CueMatch, Draft, draft, sentence_before, weaker
from graphrag.causal_graph.grammar import LIKELY, Form, pattern
from graphrag.models import Span
from graphrag.models.graph import Polarity

_ASIDE_BEFORE = re.compile(r"[,)—–-]\s*$")


def verb(cue_match: CueMatch) -> list[Draft]:
    """Cause caused effect."""
    g, s = cue_match.g, cue_match.s
    group = verb_group(g, s, cue_match.left, cue_match.start)
    verb_form = s[cue_match.start : cue_match.end].split()[0]
    denied = pattern(g.post_negation).match(s, cue_match.end)
    effect = right_phrase(g, s, denied.end() if denied else cue_match.end, cue_match.right)
    if effect is None or not _is_active(cue_match, group, verb_form):
        return []
    polarity = verb_polarity(g, s, lo=cue_match.left, group=group, verb=s[cue_match.start : cue_match.end])
    if denied or pattern(rf"(?:{g.negative_object})(?!\w)").match(s, effect.start):
        polarity = Polarity.NEGATED
    cause, is_weak = _subject(cue_match, group)
    if cause and _is_denied_cleft(cue_match, cause):
        cause, polarity = trim_words(g, s, cause, left=g.negations), Polarity.NEGATED
    if group.words and group.words[-1] in g.object_clitics:
        cause, effect = effect, cause
    return _weakened(draft(cue_match, cause, effect, polarity), is_weak)


def _is_denied_cleft(cue_match: CueMatch, cause: Span) -> bool:
    """«Ce n'est pas la vitesse qui a causé l'accident»."""
    g, s = cue_match.g, cue_match.s
    cleft = pattern(rf"(?:{g.cleft})(?!\w)").search(s, max(cue_match.left, cause.start - 20), cause.start + 6)
    if cleft is None:
        return False
    return any(word in g.negations for word in re.findall(g.word, s[cleft.start() : cause.start + 4]))


def _weakened(drafts: list[Draft], weak: bool) -> list[Draft]:
    return weaker(drafts) if weak else drafts


def _is_active(cue_match: CueMatch, group: VerbGroup, verb_form: str) -> bool:
    """A bare participle is passive, an infinitive needs a modal verb, and a purpose is no fact."""
    g = cue_match.g
    if group.words and group.words[-1] in g.reflexive:
        return False
    if re.fullmatch(g.infinitive, verb_form) and not re.fullmatch(g.finite, verb_form):
        return any(word in g.modals or word in g.without for word in group.words)
    if re.fullmatch(g.participle, verb_form):
        return any(word in g.auxiliaries for word in group.words)
    return True


def passive(cue_match: CueMatch) -> list[Draft]:
    """Effect was caused by cause."""
    g, s = cue_match.g, cue_match.s
    group = verb_group(g, s, cue_match.left, cue_match.start)
    cause = right_phrase(g, s, cue_match.end, cue_match.right)
    if cause is None:
        return []
    rest = pattern(g.contrast_not).search(s, cause.start, cause.end)
    excluded = None
    if rest:
        excluded = right_phrase(g, s, rest.end(), cue_match.right)
        cause = trim(s, cause.start, rest.start())
    polarity = verb_polarity(g, s, lo=cue_match.left, group=group, verb=s[cue_match.start : cue_match.end])
    effect, is_weak = _subject(cue_match, group)
    if not any(word in g.auxiliaries for word in group.words) and re.match(
        rf"(?:{g.bare_participle})\b", s[cue_match.start : cue_match.end]
    ):
        effect = antecedent(g, s, cue_match.left, group.start)  # «un corte provocado por …»
    found = _weakened(draft(cue_match, cause, effect, polarity), is_weak)
    if found and excluded:
        found += draft(cue_match, excluded, found[0].effect, Polarity.NEGATED)
    return found


def _subject(cue_match: CueMatch, group: VerbGroup) -> tuple[Span | None, bool]:
    """Return the subject of a verb, and whether it is the sentence before, which is less sure."""
    g, s = cue_match.g, cue_match.s
    before = _last_word(cue_match, group.start)
    if s[cue_match.left : group.start].strip(" \n,") == "" and cue_match.left == cue_match.lo:
        return sentence_before(cue_match), True
    relative = pattern(rf"(?:{g.clause_relative})\s*$").search(s, max(cue_match.lo, group.start - 40), group.start)
    if relative:
        return _clause_before(cue_match, relative.start())
    if before and before.group() in g.relatives:
        start = before.start()
        return antecedent(g, s, cue_match.left, trim(s, cue_match.left, start).end), False
    if re.fullmatch(g.gerund, s[cue_match.start : cue_match.end].split()[0]) and not _has_auxiliary(cue_match, group):
        return _clause_before(cue_match, group.start)
    if any(word in g.without for word in group.words):
        return _clause_before(cue_match, group.start)
    if _ASIDE_BEFORE.search(s[max(cue_match.left, group.start - 3) : group.start]):
        return _before_aside(cue_match, group.start), False
    found = subject(g, s, cue_match.left, group.start)
    if found and s[found.start : found.end] in g.anaphors:
        return _clause_before(cue_match, found.start)
    return found, False


def _has_auxiliary(cue_match: CueMatch, group: VerbGroup) -> bool:
    return any(word in cue_match.g.auxiliaries for word in group.words)


def _last_word(cue_match: CueMatch, end: int) -> re.Match[str] | None:
    found = tokens(cue_match.g, cue_match.s, max(cue_match.left, end - 30), end)
    return found[-1] if found else None


def _clause_before(cue_match: CueMatch, start: int) -> tuple[Span | None, bool]:
    """The clause before a pronoun that stands for it; the sentence before, where nothing is before it."""
    g, s = cue_match.g, cue_match.s
    text = trim(s, cue_match.lo, start)
    if all(word in g.conjunctions for word in re.findall(g.word, s[text.start : text.end])):
        return sentence_before(cue_match), True
    is_which = re.match(r"\W*(?:which|que)\b", s[start : start + 12])
    if is_which and cue_match.earlier and 0 <= start - cue_match.earlier[-1].effect.end <= 3:
        return cue_match.earlier[-1].effect, False  # "X caused a mudslide, which led to …"
    clause = left_clause(g, s, cue_match.left, start)
    if clause and not has_finite(g, s, clause.start, clause.end) and len(s[clause.start : clause.end].split()) < 3:
        return None, False
    return clause, False


def _before_aside(cue_match: CueMatch, end: int) -> Span | None:
    """«La negociación, larga y desagradable, resultó en»: the subject is before the aside."""
    g, s = cue_match.g, cue_match.s
    stop = trim(s, cue_match.left, end).end
    opening = max(
        s.rfind(", ", cue_match.left, stop),
        s.rfind(" (", cue_match.left, stop),
        s.rfind(" – ", cue_match.left, stop),
        s.rfind(" — ", cue_match.left, stop),
    )
    if opening <= cue_match.left:
        return subject(g, s, cue_match.left, stop)
    return subject(g, s, cue_match.left, verb_group(g, s, cue_match.left, opening).start)


def cause_of(cue_match: CueMatch) -> list[Draft]:
    """The cause of effect was cause; with RESULT_OF the other way round."""
    g, s = cue_match.g, cue_match.s
    end = strong_end(s, cue_match.end, cue_match.hi) if ":" not in cue_match.cue.joint else cue_match.hi
    joint = pattern(cue_match.cue.joint).search(s, cue_match.end, end)
    if joint is None:
        return []
    first = trim(s, cue_match.end, joint.start())
    take = right_clause if has_finite(g, s, joint.end(), cue_match.right) else right_phrase
    second = take(g, s, joint.end(), max(cue_match.right, joint.end()))
    polarity = Polarity.FACT
    words = re.findall(g.word, joint.group())
    if any(word in g.negations for word in words):
        polarity = Polarity.NEGATED
    elif any(word in g.hypothetical_words or re.fullmatch(g.hypothetical_verb, word) for word in words):
        polarity = Polarity.HYPOTHETICAL
    cause, effect = (second, first) if cue_match.cue.form is Form.CAUSE_OF else (first, second)
    return draft(cue_match, cause, effect, polarity)


def attributes(cue_match: CueMatch) -> list[Draft]:
    """Somebody attributes effect to cause."""
    g, s = cue_match.g, cue_match.s
    group = verb_group(g, s, cue_match.left, cue_match.start)
    joint = pattern(cue_match.cue.joint).search(s, cue_match.end, strong_end(s, cue_match.end, cue_match.right))
    if joint is None:
        return []
    polarity = verb_polarity(g, s, lo=cue_match.left, group=group, verb=s[cue_match.start : cue_match.end])
    effect = trim(s, cue_match.end, joint.start())
    return draft(cue_match, right_phrase(g, s, joint.end(), cue_match.right), effect, polarity, LIKELY)


def labelled(cue_match: CueMatch) -> list[Draft]:
    """«Resultado: …», "The reason: …", of what the sentence before says."""
    g, s = cue_match.g, cue_match.s
    opens = not s[cue_match.lo : cue_match.start].strip(" \n")
    if not opens and s[: cue_match.start].rstrip()[-1:] not in ";:,—–(.":
        return []
    before = sentence_before(cue_match) if opens else left_clause(g, s, cue_match.left, cue_match.start)
    if before is None:
        return []
    label = g.search.match(s, before.start, before.end)
    if label and g.cue_of(label).form in (Form.REASON, Form.OUTCOME):
        if cue_match.cue.form is Form.REASON:
            return []
        before = trim(s, label.end(), before.end)
    said = right_clause(g, s, cue_match.end, cue_match.hi)
    before = trim_words(g, s, before, left=g.conjunctions)
    cause, effect = (said, before) if cue_match.cue.form is Form.REASON else (before, said)
    return weaker(draft(cue_match, cause, effect, Polarity.FACT), 0.8)
