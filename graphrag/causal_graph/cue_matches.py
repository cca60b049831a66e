"""A cue where it stands, and the draft of a relation that it gives."""

import re
from dataclasses import dataclass, replace
from itertools import accumulate

from graphrag.causal_graph.clauses import is_supposed, trim, trim_words
from graphrag.causal_graph.grammar import CONNECTIVES, LIKELY, OPENERS, CausalGrammar, Cue, Form, pattern
from graphrag.models import Span
from graphrag.models.graph import Polarity

_MENTION = re.compile(r"\b(?:word|palabra|mot|término|conjunción|conjunction|terme|conjonction)\s+[\"'«“‘]?\s*$")
REACH = 400  # characters to either side of a cue; no clause is longer, but a text without full stops may be
_LABEL = re.compile(r"\w+(?:\s\w+){0,2}\s*:\s+")  # «Problema: la web no carga»


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

    g: CausalGrammar
    s: str
    cue: Cue
    start: int  # of the cue
    end: int
    lo: int  # where the sentence begins
    left: int  # where the connective before ends, or the sentence begins
    right: int  # where the connective after begins, or the sentence ends
    hi: int  # where the sentence ends
    previous: Span | None  # the sentence before
    earlier: tuple[Draft, ...]  # drafts of the sentence's cues before this one


def match_cues(g: CausalGrammar, s: str, sentence: Span) -> list[tuple[Cue, re.Match[str], int, int]]:
    """The cues of a sentence, each with where the connectives around it end and begin."""
    found = [
        (g.cue_of(match), match)
        for match in g.find_cues(s, sentence.start, sentence.end)
        if not _is_mentioned(s, match)
    ]
    found = [
        (cue, match)
        for cue, match in found
        if cue.form not in OPENERS or _opens_clause(g, s, sentence.start, match.start())
    ]
    ends = [match.end() if cue.form in CONNECTIVES else -1 for cue, match in found]
    starts = [match.start() if _begins_clause(g, s, cue, match) else -1 for cue, match in found]
    lefts = accumulate(ends, max, initial=sentence.start)
    rights = [sentence.end]
    for start in reversed(starts[1:]):
        rights.append(start if start >= 0 else rights[-1])
    rows = [
        (cue, match, left, right) for (cue, match), left, right in zip(found, lefts, reversed(rights), strict=False)
    ]
    return rows


def _opens_clause(g: CausalGrammar, s: str, lo: int, start: int) -> bool:
    before = s[max(lo, start - 60) : start].rstrip()
    last = re.search(rf"(?:{g.word})$", before)
    opens = g.conjunctions | g.complementizers
    return not before or before[-1] in ',;:.(¿¡«"–—' or (last is not None and last.group() in opens)


def _begins_clause(g: CausalGrammar, s: str, cue: Cue, match: re.Match[str]) -> bool:
    return cue.form in CONNECTIVES or (cue.form is Form.VERB and _follows_clause_relative(g, s, match))


def _follows_clause_relative(g: CausalGrammar, s: str, match: re.Match[str]) -> bool:
    return (
        pattern(rf"(?:{g.clause_relative})\W+(?:\w+\W+){{0,3}}$").search(s, max(0, match.start() - 40), match.start())
        is not None
    )


def _is_mentioned(s: str, match: re.Match[str]) -> bool:
    """The word itself is meant: «porque»."""
    if _MENTION.search(s, max(0, match.start() - 30), match.start()):
        return True
    before, after = s[match.start() - 1 : match.start()], s[match.end() : match.end() + 1]
    return before in ("«", '"', "“", "‘", "'") and after in ("»", '"', "”", "’", "'") and bool(before and after)


def sentence_before(cue_match: CueMatch) -> Span | None:
    """Return the sentence before, which a pronoun or a connective at the beginning refers to."""
    if cue_match.previous is None:
        return None
    span = trim(cue_match.s, cue_match.previous.start, cue_match.previous.end)
    label = _LABEL.match(cue_match.s, span.start, span.end)
    span = (
        trim(cue_match.s, label.end(), span.end)
        if label and not cue_match.g.search.match(cue_match.s, span.start)
        else span
    )
    first = cue_match.g.search.match(cue_match.s, span.start, span.end)
    if first and cue_match.g.cue_of(first).form is Form.THEREFORE:
        span = trim(cue_match.s, first.end(), span.end)
    report = pattern(rf"[^,;:]{{0,40}}?(?<!\w)(?:{cue_match.g.reporting})").match(cue_match.s, span.start, span.end)
    span = trim(cue_match.s, report.end(), span.end) if report else span
    return trim_words(cue_match.g, cue_match.s, span, left=cue_match.g.conjunctions) if span.end > span.start else None


def draft(
    cue_match: CueMatch, cause: Span | None, effect: Span | None, polarity: Polarity, confidence: float = 0.0
) -> list[Draft]:
    """Empty where there is no cause or no effect, or where either is not what the cue asks for."""
    if cause is None or effect is None or not _is_disjoint(cause, effect):
        return []
    if not all(_says_something(cue_match, span) for span in (cause, effect)):
        return []
    if not _suits(cue_match, cause, effect):
        return []
    if polarity is Polarity.FACT and is_supposed(cue_match.g, cue_match.s, cue_match.lo, cue_match.hi):
        polarity = Polarity.HYPOTHETICAL
    confidence = min(confidence or 1.0, cue_match.cue.confidence)
    return [Draft(cause, effect, cue_match.cue, polarity, confidence)]


def _is_disjoint(one: Span, other: Span) -> bool:
    return one.end > one.start and other.end > other.start and (one.end <= other.start or other.end <= one.start)


def _says_something(cue_match: CueMatch, span: Span) -> bool:
    text = cue_match.s[span.start : span.end]
    small = cue_match.g.pronouns | cue_match.g.conjunctions | cue_match.g.focus
    return any(word not in small for word in re.findall(cue_match.g.word, text))


def _suits(cue_match: CueMatch, cause: Span, effect: Span) -> bool:
    """Return whether the cue's own conditions hold. They see one word more at the beginning, such as an article."""
    cue = cue_match.cue
    for span, wanted, unwanted in ((cause, cue.cause, cue.not_cause), (effect, cue.effect, cue.not_effect)):
        text = cue_match.s[span.start : span.end]
        if (wanted and not re.search(wanted, text)) or (unwanted and re.search(unwanted, text)):
            return False
    return True


def weaker(drafts: list[Draft], confidence: float = LIKELY) -> list[Draft]:
    return [replace(one, confidence=min(one.confidence, confidence)) for one in drafts]
