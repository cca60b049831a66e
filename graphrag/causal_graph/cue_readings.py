"""Causes and effects around the cues of a sentence: a reading for each form of cue."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from graphrag.causal_graph.clauses import ClauseFinder, VerbGroup
from graphrag.causal_graph.grammar import LIKELY, VAGUE, CausalGrammar, Cue, Form
from graphrag.models import Span
from graphrag.models.graph import Polarity

ACROSS_SENTENCES = 0.8  # confidence, at most, in «A. Por eso B»
REPORT_CHARS = 40  # «según el informe, dijo que» at the beginning of a sentence is no longer
_COMMA = re.compile(r",(?=\s)|\s[–—-]\s")
_ASIDE_BEFORE = re.compile(r"[,)—–-]\s*$")
_WHICH = re.compile(r"\W*(?:which|que)\b")


@dataclass(frozen=True, slots=True)
class Draft:
    """A relation before it has its quote. Spans are characters of the normalized text, so of the text."""

    cause: Span
    effect: Span
    cue: Cue
    polarity: Polarity
    confidence: float


@dataclass(frozen=True, slots=True)
class CueMatch:
    """A cue, and the stretch in which its cause and its effect are looked for."""

    text: ClauseFinder
    cue: Cue
    start: int  # of the cue
    end: int
    lo: int  # where the sentence begins
    left: int  # where the connective before ends, or the sentence begins
    right: int  # where the connective after begins, or the sentence ends
    hi: int  # where the sentence ends
    previous: Span | None  # the sentence before
    earlier: Draft | None  # of the cue before this one

    @property
    def g(self) -> CausalGrammar:
        return self.text.g

    @property
    def s(self) -> str:
        return self.text.s

    @property
    def verb(self) -> str:
        return self.s[self.start : self.end]


def read_cue(match: CueMatch) -> Draft | None:
    """Return the relation that a cue states, if there is one."""
    return _READINGS[match.cue.form](match)


def _draft(
    match: CueMatch, cause: Span, effect: Span, polarity: Polarity = Polarity.FACT, confidence: float = 1.0
) -> Draft | None:
    """Return None where there is no cause or no effect, or where either is not what the cue asks for."""
    first, second = sorted((cause, effect), key=lambda span: span.start)
    if first.end > second.start or not all(_says_something(match, span) for span in (cause, effect)):
        return None
    cue = match.cue
    for span, wanted, unwanted in ((cause, cue.cause, cue.not_cause), (effect, cue.effect, cue.not_effect)):
        said = match.s[span.start : span.end]
        if not wanted.search(said) or unwanted.search(said):
            return None
    if polarity is Polarity.FACT and _is_supposed(match):
        polarity = Polarity.HYPOTHETICAL
    return Draft(cause, effect, cue, polarity, min(confidence, cue.confidence))


def _says_something(match: CueMatch, span: Span) -> bool:
    g = match.g
    return not match.text.has_only(g.pronouns | g.conjunctions | g.focus, span)


def _is_supposed(match: CueMatch) -> bool:
    """Return whether the sentence asks or supposes."""
    sentence = match.text.trim(match.lo, match.hi)
    asks = match.s[match.lo : match.hi].rstrip("\"'»”) \n*").endswith("?")
    return asks or match.g.condition.match(match.s, sentence.start, sentence.end) is not None


def _sentence_before(match: CueMatch) -> Span:
    """Return the sentence before, which a pronoun or a connective at the beginning refers to."""
    g, s, span = match.g, match.s, match.previous
    if span is None:
        return Span(match.lo, match.lo)
    first = g.cue_at(s, match.text.trim(span.start, span.end).start, span.end)
    if first and first[0].form in (Form.THEREFORE, Form.REASON, Form.OUTCOME):
        span = Span(first[1].end(), span.end)
    report = g.reporting.search(s, span.start, span.end)
    if (
        report
        and not re.search("[,;:]", s[span.start : report.start()])
        and report.start() - span.start <= REPORT_CHARS
    ):
        span = Span(report.end(), span.end)
    return match.text.trim_words(match.text.trim(span.start, span.end), left=g.conjunctions)


def _stated_before(match: CueMatch, start: int) -> tuple[Span, bool]:
    """Return the clause before what refers to it; the sentence before, and True, where only conjunctions are before it.

    It is empty for a heading or another short phrase that states nothing.
    """
    text, earlier = match.text, match.earlier
    if text.has_only(match.g.conjunctions, Span(match.lo, start)):
        return _sentence_before(match), True
    if earlier and 0 <= start - earlier.effect.end <= 3 and _WHICH.match(match.s, start):
        return earlier.effect, False  # "X caused a mudslide, which led to …"
    clause = text.clause_before(match.left, start)
    is_short = len(match.s[clause.start : clause.end].split()) < 3
    return (Span(start, start) if is_short and not text.has_finite(clause) else clause), False


def _because(match: CueMatch) -> Draft | None:
    """Effect because cause; or because cause, effect."""
    text, g, s = match.text, match.g, match.s
    polarity = g.polarity_of(text.words_beside_connective(match.left, match.start))
    if split := _cleft(match) or _fronted(match):
        return _draft(match, *split, polarity)
    if match.cue.form is Form.GIVEN_THAT:
        return None
    take = text.phrase_after if match.cue.form is Form.BECAUSE_OF else text.clause_after
    cause = take(match.end, match.right)
    if other := g.contrast_not.search(s, cause.start, cause.end):
        cause = text.trim(cause.start, other.start())
    if match.earlier and _adds_a_cause(match, match.earlier):
        return _draft(match, cause, match.earlier.effect, polarity)
    if _is_first(match):
        is_answer = match.cue.form is Form.BECAUSE  # «Cerramos. Porque no había luz.»
        return _draft(match, cause, _sentence_before(match), confidence=VAGUE) if is_answer else None
    effect = text.clause_before(match.left, match.start)
    return _draft(match, cause, text.trim_words(effect, right=g.beside_connective | g.conjunctions), polarity)


def _is_first(match: CueMatch) -> bool:
    """Return whether only small words stand before a connective."""
    g = match.g
    return match.text.has_only(
        g.conjunctions | g.focus | g.negations | g.hypothetical_words, Span(match.left, match.start)
    )


def _adds_a_cause(match: CueMatch, earlier: Draft) -> bool:
    """«… no por X, sino porque Y», «porque X y porque Y»: the second cause has the effect of the first."""
    if earlier.cue.form not in (Form.BECAUSE, Form.BECAUSE_OF) or earlier.cause.end > match.start:
        return False
    between = match.text.trim(earlier.cause.end, match.start)
    words = match.text.words(between)
    is_added = bool(words) and all(word in match.g.conjunctions for word in words)
    return is_added or match.g.correction.fullmatch(match.s, between.start, between.end) is not None


def _cleft(match: CueMatch) -> tuple[Span, Span] | None:
    """«C'est à cause de X que Y»."""
    if not match.g.cleft.search(match.s, max(match.lo, match.start - 30), match.start):
        return None
    that = match.g.cleft_that.search(match.s, match.end, match.right)
    return (
        (match.text.trim(match.end, that.start()), match.text.clause_after(that.end(), match.right)) if that else None
    )


def _fronted(match: CueMatch) -> tuple[Span, Span] | None:
    """Return cause and effect where the connective begins its clause: «Porque llovía, nos fuimos»."""
    text, g, s = match.text, match.g, match.s
    half = text.strong_start(match.left, match.start)
    stands_first = match.cue.form is Form.GIVEN_THAT or _is_first(match) or not s[half : match.start].strip()
    last = re.search(rf"({g.word.pattern})[,\s]*$", s[max(match.left, match.start - 20) : match.start])
    word = last[1] if last else ""
    before = text.clause_before(match.left, match.start)
    if not (stands_first or word in g.complementizers or word in g.conjunctions or not text.has_finite(before)):
        return None
    split = _split(match)
    if split and (stands_first or word in g.complementizers or text.has_finite(split[1])):
        return split
    return None


def _split(match: CueMatch) -> tuple[Span, Span] | None:
    """Return cause and effect after the connective, around the comma where the main clause begins."""
    text = match.text
    end = text.strong_end(match.end, match.hi)
    weak = None
    for comma in _COMMA.finditer(match.s, match.end, end):
        cause, rest = text.trim(match.end, comma.start()), text.trim(comma.end(), end)
        following = text.parts(rest.start, rest.end)[0]
        if cause.end <= cause.start or rest.end <= rest.start or text.is_aside(following):
            continue
        is_clause = match.cue.form is not Form.BECAUSE or text.has_finite(cause)
        if is_clause and text.has_finite(following):
            return cause, _main_clause(match, rest.start)
        if weak is None and len(match.s[rest.start : rest.end].split()) > 2:
            weak = cause, _main_clause(match, rest.start)
    return weak or (_before_main_verb(match, end) if match.cue.form is Form.BECAUSE_OF else None)


def _main_clause(match: CueMatch, start: int) -> Span:
    found = match.text.clause_after(start, max(match.right, start))
    return found if found.end > found.start else match.text.clause_after(start, match.hi)


def _before_main_verb(match: CueMatch, end: int) -> tuple[Span, Span] | None:
    """«A causa del apagón se estropeó el pescado»: no comma."""
    g, s = match.g, match.s
    first = g.word.search(s, match.end, end)
    verb = g.finite.search(s, first.end(), end) if first and not _COMMA.search(s, match.end, end) else None
    return (match.text.trim(match.end, verb.start()), _main_clause(match, verb.start())) if verb else None


def _therefore(match: CueMatch) -> Draft | None:
    """Cause. Therefore effect; «Resultado: …», "The reason: …", of what is said before."""
    before, is_across = _stated_before(match, match.start)
    is_label = match.cue.form in (Form.OUTCOME, Form.REASON)
    if is_label and not is_across and match.s[match.lo : match.start].rstrip()[-1:] not in ";:,—–(.":
        return None
    after = match.text.clause_after(match.end, match.right)
    ends = (after, before) if match.cue.form is Form.REASON else (before, after)
    return _draft(match, *ends, confidence=ACROSS_SENTENCES if is_across else 1.0)


def _midway(match: CueMatch) -> Draft | None:
    """Cause. Effect with «donc», "therefore" in its midst."""
    text = match.text
    begin = text.strong_start(match.lo, match.start)
    commas = [comma.end() for comma in _COMMA.finditer(match.s, begin, match.start)]
    for start in (begin, *commas[-1:]):
        clause = text.clause_after(start, match.hi)
        if clause.start <= match.start < clause.end:
            before, _ = _stated_before(match, clause.start)
            return _draft(match, before, clause)
    return None


def _predicate(match: CueMatch) -> Draft | None:
    """Cause caused effect; effect was caused by cause."""
    text, g, s = match.text, match.g, match.s
    is_passive = match.cue.form is Form.PASSIVE
    group = text.verb_group(match.left, match.start)
    if not is_passive and not _is_active(match, group):
        return None
    denied = g.post_negation.match(s, match.end)
    after = text.phrase_after(denied.end() if denied else match.end, match.right)
    if not is_passive and text.words(after)[:1] and text.words(after)[0] in g.no_object:
        return None
    if is_passive and (other := g.contrast_not.search(s, after.start, after.end)):
        after = text.trim(after.start, other.start())
    before, is_across = _subject(match, group)
    polarity = _verb_polarity(match, group)
    if denied or g.negative_object.match(s, after.start) or _is_denied_cleft(match, before):
        polarity = Polarity.NEGATED
        before = text.trim_words(before, left=g.negations)
    if not is_passive and text.words(before)[-1:] and text.words(before)[-1] in g.prepositions | g.complementizers:
        return None  # "interprets this to | mean that"
    ends = (after, before) if is_passive else (before, after)
    return _draft(match, *ends, polarity, LIKELY if is_across else 1.0)


def _is_active(match: CueMatch, group: VerbGroup) -> bool:
    """A bare participle is passive, an infinitive needs a modal verb, and a purpose is no fact."""
    g, verb = match.g, match.verb.split()[0]
    if group.words and group.words[-1] in g.reflexive:
        return False
    if g.infinitive.fullmatch(verb) and not g.finite.fullmatch(verb):
        return any(word in g.modals for word in group.words)
    auxiliaries = [word for word in group.words if word in g.auxiliaries]
    if g.bare_participle.fullmatch(verb) and auxiliaries[-1:] and auxiliaries[-1] in g.passive_auxiliaries:
        return any(word in g.reflexive for word in auxiliaries)  # «s'est traduit par»
    return not g.participle.fullmatch(verb) or bool(auxiliaries)


def _verb_polarity(match: CueMatch, group: VerbGroup, more: Sequence[str] = ()) -> Polarity:
    polarity = match.g.polarity_of([*group.words, *match.verb.split(), *more])
    if polarity is Polarity.FACT and match.g.hypothetical_frame.search(match.s, match.left, group.start):
        return Polarity.HYPOTHETICAL
    return polarity


def _is_denied_cleft(match: CueMatch, subject: Span) -> bool:
    """«Ce n'est pas la vitesse qui a causé l'accident»."""
    cleft = match.g.cleft.search(match.s, max(match.left, subject.start - 20), subject.start)
    words = match.text.words(Span(cleft.start(), subject.start + 4)) if cleft else []
    return any(word in match.g.negations for word in words)


def _subject(match: CueMatch, group: VerbGroup) -> tuple[Span, bool]:
    """Return the subject of a verb, and whether it is the sentence before, which is less sure."""
    text, g, s = match.text, match.g, match.s
    words = [word for word in group.words if word in g.auxiliaries]
    if not words and match.cue.form is Form.PASSIVE and g.bare_participle.match(s, match.start):
        return text.phrase_before(match.left, group.start), False  # «un corte provocado por …»
    if s[match.lo : group.start].strip(" \n,") == "":
        return _stated_before(match, group.start)
    if relative := g.clause_relative.search(s, max(match.lo, group.start - 40), group.start):
        return _stated_before(match, relative.start())
    last = text.tokens(Span(max(match.left, group.start - 30), group.start))[-1:]
    if last and last[0].group() in g.relatives:
        return text.phrase_before(match.left, text.trim(match.left, last[0].start()).end), False
    if not words and g.gerund.fullmatch(match.verb.split()[0]):
        return _stated_before(match, group.start)
    if _ASIDE_BEFORE.search(s[max(match.left, group.start - 3) : group.start]):
        parts = text.parts(match.left, group.start)  # «La negociación, larga y desagradable, resultó en»
        end = text.verb_group(match.left, parts[-2].end).start if len(parts) > 1 else group.start
        return text.subject_before(match.left, end), False
    subject = text.subject_before(match.left, group.start)
    if s[subject.start : subject.end] in g.anaphors:
        return _stated_before(match, subject.start)
    return subject, False


def _joined(match: CueMatch) -> Draft | None:
    """Read two parts with a joint between them: the cause of effect WAS cause; somebody attributes effect TO cause."""
    text, form = match.text, match.cue.form
    joint = match.cue.joint.search(match.s, match.end, match.hi)
    if joint is None:
        return None
    first = text.trim(match.end, joint.start())
    is_clause = text.has_finite(Span(joint.end(), match.right))
    if form is Form.SO_THAT:
        if not is_clause:
            return None
        first = text.clause_before(match.left, joint.start())
    take = text.clause_after if is_clause and form is not Form.ATTRIBUTES else text.phrase_after
    second = take(joint.end(), max(match.right, joint.end()))
    polarity = _verb_polarity(match, text.verb_group(match.left, match.start), text.words(Span(*joint.span())))
    ends = (first, second) if form in (Form.RESULT_OF, Form.SO_THAT) else (second, first)
    return _draft(match, *ends, polarity)


_READINGS: Mapping[Form, Callable[[CueMatch], Draft | None]] = {
    Form.BECAUSE: _because,
    Form.BECAUSE_OF: _because,
    Form.GIVEN_THAT: _because,
    Form.SO: _therefore,
    Form.THEREFORE: _therefore,
    Form.OUTCOME: _therefore,
    Form.REASON: _therefore,
    Form.MIDWAY: _midway,
    Form.VERB: _predicate,
    Form.PASSIVE: _predicate,
    Form.ATTRIBUTES: _joined,
    Form.CAUSE_OF: _joined,
    Form.RESULT_OF: _joined,
    Form.SO_THAT: _joined,
}
