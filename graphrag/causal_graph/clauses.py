"""Boundaries of clauses, noun phrases and verb groups."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from graphrag.causal_graph.grammar import CausalGrammar, pattern
from graphrag.models import Span
from graphrag.models.graph import Polarity

_STRONG = re.compile(r"[;:?!…|·]+(?=\s|\W|$)|[¿¡]|\n")
_COMMA = re.compile(r",(?=\s)|[()\[\]]|\s[–—-]+(?=\s)|—")
_EDGE = " \t\n,;:.!?…¡¿\"'«»“”‘()[]–—-*_|·"
_LIST_WORDS = 4  # an item of a list is short


def has_finite(g: CausalGrammar, s: str, start: int, end: int) -> bool:
    return pattern(g.finite).search(s, start, end) is not None


def tokens(g: CausalGrammar, s: str, start: int, end: int) -> list[re.Match[str]]:
    return list(pattern(g.word).finditer(s, start, end))


def trim(s: str, start: int, end: int) -> Span:
    while start < end and s[start] in _EDGE:
        start += 1
    while start < end and s[end - 1] in _EDGE:
        end -= 1
    return Span(start, end)


def trim_words(
    g: CausalGrammar, s: str, span: Span, *, left: Collection[str] = (), right: Collection[str] = ()
) -> Span:
    """Trim the words of `left` from the span's beginning and those of `right` from its end."""
    found = tokens(g, s, span.start, span.end)
    first, last = 0, len(found)
    while first < last - 1 and found[first].group() in left:
        first += 1
    while last - 1 > first and found[last - 1].group() in right:
        last -= 1
    if first >= last:
        return span
    start = found[first].start() if first else span.start
    end = found[last - 1].end() if last < len(found) else span.end
    return trim(s, start, end)


def strong_start(s: str, lo: int, end: int) -> int:
    """Return the start of the part before `end`: after the last mark that separates sentences or their halves."""
    start = lo
    for mark in _STRONG.finditer(s, lo, end):
        start = mark.end()
    return start


def strong_end(s: str, start: int, hi: int) -> int:
    mark = _STRONG.search(s, start, hi)
    return mark.start() if mark else hi


def parts(s: str, start: int, end: int) -> list[Span]:
    """Split at commas, brackets and dashes; no part is empty."""
    found, at = [], start
    for comma in _COMMA.finditer(s, start, end):
        found.append(trim(s, at, comma.start()))
        at = comma.end()
    found.append(trim(s, at, end))
    return [span for span in found if span.end > span.start]


def is_aside(g: CausalGrammar, s: str, part: Span) -> bool:
    return pattern(rf"(?:{g.aside})(?!\w)").match(s, part.start, part.end) is not None


def left_clause(g: CausalGrammar, s: str, lo: int, end: int) -> Span | None:
    """The clause that ends at `end`."""
    whole = trim_words(g, s, trim(s, lo, end), right=g.conjunctions | (g.focus - g.negations))
    begin = strong_start(s, lo, whole.end)
    found = parts(s, begin, whole.end)
    if not found:
        return None
    main = [number for number, part in enumerate(found) if not is_aside(g, s, part)]
    finite = [number for number in main if has_finite(g, s, found[number].start, found[number].end)]
    chosen = finite[-1] if finite else main[-1] if main else len(found) - 1
    after = found[chosen + 1 :]
    stop = found[chosen].end if after and all(is_aside(g, s, part) for part in after) else found[-1].end
    first = found[_with_subject(g, s, found, chosen)].start
    span = Span(_clause_start(g, s, first, stop), stop)
    return trim_words(g, s, span, left=g.conjunctions, right=g.conjunctions)


def _with_subject(g: CausalGrammar, s: str, found: list[Span], chosen: int) -> int:
    """The number of the part with the subject: «El lote, en cambio, se detuvo» has it before the aside."""
    verb = pattern(g.finite).match(s, found[chosen].start, found[chosen].end)
    if verb is None or chosen < 2:
        return chosen
    subject_part, aside = found[chosen - 2], found[chosen - 1]
    if has_finite(g, s, subject_part.start, subject_part.end) or len(s[aside.start : aside.end].split()) > 12:
        return chosen
    return chosen - 2


def _clause_start(g: CausalGrammar, s: str, start: int, end: int) -> int:
    """Return the start of the clause: after «dice que», and after «y» if both sides are clauses."""
    begin = start
    for report in pattern(rf"(?<!\w)(?:{g.reporting})").finditer(s, start, end):
        if has_finite(g, s, report.end(), end) or not has_finite(g, s, start, report.start()):
            begin = report.end()
    for joint in pattern(g.coordination).finditer(s, begin, end):
        if (
            has_finite(g, s, begin, joint.start())
            and has_finite(g, s, joint.end(), end)
            and _new_subject(g, s, joint, end)
        ):
            begin = joint.end()
    return begin


def _new_subject(g: CausalGrammar, s: str, joint: re.Match[str], end: int) -> bool:
    """Return whether a word stands between «y» and the next verb: «A cayó y B subió», not «A cayó y subió»."""
    verb = pattern(g.finite).search(s, joint.end(), end)
    between = re.findall(g.word, s[joint.end() : verb.start()]) if verb else []
    return bool(between) and not any(word in g.complementizers for word in between)


def subject(g: CausalGrammar, s: str, lo: int, end: int) -> Span | None:
    """The noun phrase, or the infinitive, that ends at `end` and whose verb follows."""
    begin = strong_start(s, lo, end)
    found = parts(s, begin, end)
    if not found:
        return None
    start = _clause_start(g, s, found[-1].start, found[-1].end)
    for opener in pattern(rf"(?<!\w)(?:{g.phrase_end})\s").finditer(s, start, found[-1].end):
        start = opener.end()
    for joint in pattern(g.coordination).finditer(s, start, found[-1].end):
        if has_finite(g, s, start, joint.start()):
            rest = trim(s, joint.end(), found[-1].end)
            start = rest.start if " " in s[rest.start : rest.end] else start
    span = trim_words(g, s, trim(s, start, found[-1].end), left=g.conjunctions)
    ends_open = pattern(rf"(?:{g.coordination})").search(
        s[span.start : end].rstrip() + " ", max(0, span.end - span.start - 5)
    )
    if ends_open or (span.end > span.start and s[span.start : span.end].split()[-1] in g.conjunctions):
        return _before_verb(g, s, span)  # «la tormenta inundó el sótano y provocó»
    return span


def _before_verb(g: CausalGrammar, s: str, span: Span) -> Span:
    span = trim_words(g, s, span, right=g.conjunctions)
    verb = pattern(g.finite).search(s, span.start, span.end)
    if verb and s[span.start : verb.start()].strip():
        return trim(s, span.start, verb.start())
    return span


def antecedent(g: CausalGrammar, s: str, lo: int, end: int) -> Span | None:
    """The noun phrase that ends at `end`, of whatever it is the object."""
    found = parts(s, strong_start(s, lo, end), end)
    if not found:
        return None
    start = _clause_start(g, s, found[-1].start, found[-1].end)
    for verb in pattern(g.finite).finditer(s, start, found[-1].end):
        if s[verb.end() : found[-1].end].strip(_EDGE):
            start = verb.end()
    return trim_words(g, s, trim(s, start, found[-1].end), left=g.conjunctions | g.prepositions)


def right_clause(g: CausalGrammar, s: str, start: int, hi: int) -> Span | None:
    """The clause that begins at `start`: to the first comma after its verb."""
    found = parts(s, start, strong_end(s, _after_mark(s, start, hi), hi))
    if not found:
        return None
    found = _without_opening_aside(g, s, found)
    last = 0
    for number in range(len(found)):
        if has_finite(g, s, found[0].start, found[number].end):
            last = number
            break
    last = _list_end(g, s, found, last)
    return _closed(g, s, Span(found[0].start, found[last].end))


def _without_opening_aside(g: CausalGrammar, s: str, found: list[Span]) -> list[Span]:
    """«cuando llegó, nadie pudo …»: the main clause comes after."""
    for number, part in enumerate(found[:3]):
        if not is_aside(g, s, part):
            return found[number:] if has_finite(g, s, part.start, part.end) else found
    return found


def right_phrase(g: CausalGrammar, s: str, start: int, hi: int) -> Span | None:
    """The noun phrase that begins at `start`. An aside between commas before it is skipped."""
    first = _after_mark(s, start, hi)
    found = parts(s, first, strong_end(s, first, hi))
    if first < hi and s[start:first].strip().startswith(",") and len(found) > 1:
        found = found[1:]
    if not found:
        return None
    last = _list_end(g, s, found, 0)
    span = Span(found[0].start, found[last].end)
    opener = pattern(rf"\s(?:{g.phrase_end})(?!\w)").search(s, span.start + 1, span.end)
    end = opener.start() if opener else span.end
    for joint in pattern(g.coordination).finditer(s, span.start, end):
        if has_finite(g, s, joint.end(), end):
            end = joint.start()
            break
    return _closed(g, s, Span(span.start, end))


def _after_mark(s: str, start: int, hi: int) -> int:
    while start < hi and s[start] in " ,:\n":
        start += 1
    return start


def _list_end(g: CausalGrammar, s: str, found: list[Span], last: int) -> int:
    """The number of the part with which a list ends that begins in `last`: «harina, huevos y leche»."""
    for number in range(last + 1, min(last + 4, len(found))):
        part = found[number]
        if len(s[part.start : part.end].split()) > _LIST_WORDS + 2 or is_aside(g, s, part):
            break
        if has_finite(g, s, part.start, part.end):
            break
        if pattern(g.coordination).search(s, part.start - 1, part.end):
            return number
    return last


def _closed(g: CausalGrammar, s: str, span: Span) -> Span:
    return trim_words(g, s, trim(s, span.start, span.end), left=g.conjunctions, right=g.conjunctions)


_WINDOW = 90  # characters: no group is longer


@dataclass(frozen=True, slots=True)
class VerbGroup:
    start: int  # of the first auxiliary, or of the verb itself
    words: tuple[str, ...]  # those before the verb


def verb_group(g: CausalGrammar, s: str, lo: int, verb_start: int) -> VerbGroup:
    """Read from the verb to the left."""
    found = tokens(g, s, max(lo, verb_start - _WINDOW), verb_start)
    first, limit = len(found), verb_start
    while first and _belongs(g, found[first - 1].group()) and not s[found[first - 1].end() : limit].strip():
        first -= 1
        limit = found[first].start()
    while first < len(found) and found[first].group() in g.weak_auxiliaries:
        first += 1
    words = tuple(token.group() for token in found[first:])
    return VerbGroup(found[first].start() if first < len(found) else verb_start, words)


def _belongs(g: CausalGrammar, word: str) -> bool:
    return (
        word in g.auxiliaries
        or word in g.weak_auxiliaries
        or word in g.negations
        or word in g.hypothetical_words
        or re.fullmatch(g.adverb, word) is not None
    )


def verb_polarity(g: CausalGrammar, s: str, *, lo: int, group: VerbGroup, verb: str) -> Polarity:
    if any(word in g.negations or word in g.without for word in (*group.words, *verb.split())):
        return Polarity.NEGATED
    if any(word in g.hypothetical_words for word in group.words):
        return Polarity.HYPOTHETICAL
    forms = (*(word for word in group.words if word in g.auxiliaries), verb.split()[0])
    if any(re.fullmatch(g.hypothetical_verb, form) for form in forms):
        return Polarity.HYPOTHETICAL
    if pattern(g.hypothetical_frame).search(s, lo, group.start):
        return Polarity.HYPOTHETICAL
    return Polarity.FACT


def is_supposed(g: CausalGrammar, s: str, lo: int, hi: int) -> bool:
    """Return whether the sentence asks or supposes."""
    return (
        s[lo:hi].rstrip("\"'»”) \n*").endswith("?")
        or pattern(rf"[\W_]*(?:{g.condition})(?!\w)").match(s, lo, hi) is not None
    )


def beside_connective(g: CausalGrammar, s: str, lo: int, start: int) -> Polarity:
    """Return the polarity of the words right before a connective: «no porque», "perhaps because"."""
    words = []
    limit = start
    for token in reversed(tokens(g, s, max(lo, start - _WINDOW), start)):
        word = token.group()
        known = word in g.focus | g.copulas | g.negations | g.hypothetical_words
        if not known or s[token.end() : limit].strip(" ,"):
            break
        words.append(word)
        limit = token.start()
    if any(word in g.negations for word in words) and not any(word in g.exclusive for word in words):
        return Polarity.NEGATED
    if any(word in g.hypothetical_words for word in words):
        return Polarity.HYPOTHETICAL
    return Polarity.FACT
