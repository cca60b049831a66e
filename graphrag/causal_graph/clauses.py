"""Boundaries of clauses, noun phrases and verb groups."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from graphrag.causal_graph.grammar import CausalGrammar
from graphrag.models import Span

_STRONG = re.compile(r"[;:?!…|·]+(?=\s|\W|$)|[¿¡]|\n")
_COMMA = re.compile(r",(?=\s)|[()\[\]]|\s[–—-]+(?=\s)|—")
_EDGE = " \t\n,;:.!?…¡¿\"'«»“”‘()[]–—-*_|·"
_SPACE = re.compile(r"[ ,:\n]*")
_LIST_ITEM_WORDS = 6  # an item of a list has at most so many
_LIST_ITEMS = 4
_ASIDE_WORDS = 12
_WORD_GROUP_CHARS = 90


@dataclass(frozen=True, slots=True)
class VerbGroup:
    start: int  # of the first auxiliary, or of the verb itself
    words: tuple[str, ...]  # those before the verb


@dataclass(frozen=True, slots=True)
class ClauseFinder:
    """Finds the clauses and phrases around a place in a normalized text. A span is empty where there is none."""

    g: CausalGrammar
    s: str

    def tokens(self, span: Span) -> list[re.Match[str]]:
        return list(self.g.word.finditer(self.s, span.start, span.end))

    def words(self, span: Span) -> list[str]:
        return self.g.word.findall(self.s, span.start, span.end)

    def has_only(self, words: Collection[str], span: Span) -> bool:
        return all(word in words for word in self.words(span))

    def has_finite(self, span: Span) -> bool:
        return self.g.finite.search(self.s, span.start, span.end) is not None

    def is_aside(self, part: Span) -> bool:
        return self.g.aside.match(self.s, part.start, part.end) is not None

    def trim(self, start: int, end: int) -> Span:
        while start < end and self.s[start] in _EDGE:
            start += 1
        while start < end and self.s[end - 1] in _EDGE:
            end -= 1
        return Span(start, end)

    def trim_words(self, span: Span, *, left: Collection[str] = (), right: Collection[str] = ()) -> Span:
        """Trim the words of `left` from the span's beginning and those of `right` from its end; one word stays."""
        found = self.tokens(span)
        first, last = 0, len(found)
        while first < last - 1 and found[first].group() in left:
            first += 1
        while last - 1 > first and found[last - 1].group() in right:
            last -= 1
        start = found[first].start() if first else span.start
        end = found[last - 1].end() if last < len(found) else span.end
        return self.trim(start, end)

    def strong_start(self, lo: int, end: int) -> int:
        """Return the start of the part before `end`: after the last mark that separates sentences or their halves."""
        start = lo
        for mark in _STRONG.finditer(self.s, lo, end):
            start = mark.end()
        return start

    def strong_end(self, start: int, hi: int) -> int:
        mark = _STRONG.search(self.s, start, hi)
        return mark.start() if mark else hi

    def parts(self, start: int, end: int) -> list[Span]:
        """Split at commas, brackets and dashes. No part is empty, unless it is the only one."""
        found, at = [], start
        for comma in _COMMA.finditer(self.s, start, end):
            found.append(self.trim(at, comma.start()))
            at = comma.end()
        found.append(self.trim(at, end))
        return [span for span in found if span.end > span.start] or found[-1:]

    def clause_before(self, lo: int, end: int) -> Span:
        """Return the clause that ends at `end`."""
        whole = self.trim_words(self.trim(lo, end), right=self.g.conjunctions | (self.g.focus - self.g.negations))
        found = self.parts(self.strong_start(lo, whole.end), whole.end)
        opening = self.g.concessive.match(self.s, found[-1].start, found[-1].end)
        if opening and self.has_finite(found[-1]):
            return self._closed(Span(opening.end(), found[-1].end))  # «…, aunque no jugó por una lesión»
        main = [number for number, part in enumerate(found) if not self.is_aside(part)]
        finite = [number for number in main if self.has_finite(found[number])]
        chosen = (finite or main or [len(found) - 1])[-1]
        ends_with_asides = all(map(self.is_aside, found[chosen + 1 :]))
        stop = found[chosen].end if ends_with_asides else found[-1].end
        first = self._with_subject(found, chosen).start
        return self._closed(Span(self._clause_start(Span(first, stop)), stop))

    def _with_subject(self, found: list[Span], chosen: int) -> Span:
        """Return the part with the subject: «El lote, en cambio, se detuvo» has it before the aside."""
        part = found[chosen]
        if chosen < 2 or not self.g.finite.match(self.s, part.start, part.end):
            return part
        subject, aside = found[chosen - 2 : chosen]
        is_long = len(self.s[aside.start : aside.end].split()) > _ASIDE_WORDS
        return part if is_long or self.has_finite(subject) else subject

    def _clause_start(self, span: Span) -> int:
        """Return the start of the clause: after «dice que», and after «y» if both sides are clauses."""
        start, end = span.start, span.end
        for report in self.g.reporting.finditer(self.s, start, end):
            if self.has_finite(Span(report.end(), end)) or not self.has_finite(Span(span.start, report.start())):
                start = report.end()
        for joint in self.g.coordination.finditer(self.s, start, end):
            if self.has_finite(Span(start, joint.start())) and self._has_new_subject(joint.end(), end):
                start = joint.end()
        return start

    def _has_new_subject(self, start: int, end: int) -> bool:
        """Return whether a word stands between «y» and the next verb: «A cayó y B subió», not «A cayó y subió»."""
        verb = self.g.finite.search(self.s, start, end)
        between = self.words(Span(start, verb.start())) if verb else []
        return bool(between) and not any(word in self.g.complementizers for word in between)

    def subject_before(self, lo: int, end: int) -> Span:
        """Return the noun phrase, or the infinitive, that ends at `end` and whose verb follows."""
        part = self.parts(self.strong_start(lo, end), end)[-1]
        start = self._clause_start(part)
        for opener in self.g.phrase_end.finditer(self.s, start, part.end):
            start = opener.end() if opener.end() < part.end else start
        for joint in self.g.coordination.finditer(self.s, start, part.end):
            if self.has_finite(Span(start, joint.start())):
                rest = self.trim(joint.end(), part.end)
                start = rest.start if " " in self.s[rest.start : rest.end] else start
        span = self.trim_words(self.trim(start, part.end), left=self.g.conjunctions)
        if self.words(span)[-1:] and self.words(span)[-1] in self.g.conjunctions:
            return self._before_verb(span)  # «la tormenta inundó el sótano y provocó»
        return span

    def _before_verb(self, span: Span) -> Span:
        span = self.trim_words(span, right=self.g.conjunctions)
        verb = self.g.finite.search(self.s, span.start, span.end)
        return self.trim(span.start, verb.start()) if verb and verb.start() > span.start else span

    def phrase_before(self, lo: int, end: int) -> Span:
        """Return the noun phrase that ends at `end`, of whatever it is the object."""
        part = self.parts(self.strong_start(lo, end), end)[-1]
        start = self._clause_start(part)
        for verb in self.g.finite.finditer(self.s, start, part.end):
            start = verb.end() if verb.end() < part.end else start
        return self.trim_words(self.trim(start, part.end), left=self.g.conjunctions | self.g.prepositions)

    def clause_after(self, start: int, hi: int) -> Span:
        """Return the clause that begins at `start`: to the first comma after its verb."""
        first = self._after_space(start, hi)
        found = self._without_opening_aside(self.parts(first, self.strong_end(first, hi)))
        spans = (Span(found[0].start, part.end) for part in found)
        last = next((number for number, span in enumerate(spans) if self.has_finite(span)), 0)
        return self._closed(Span(found[0].start, self._list_end(found, last)))

    def _without_opening_aside(self, found: list[Span]) -> list[Span]:
        """«cuando llegó, nadie pudo …»: the main clause comes after."""
        for number, part in enumerate(found[:3]):
            if not self.is_aside(part):
                return found[number:] if self.has_finite(part) else found
        return found

    def phrase_after(self, start: int, hi: int) -> Span:
        """Return the noun phrase that begins at `start`. An aside between commas before it is skipped."""
        first = self._after_space(start, hi)
        found = self.parts(first, self.strong_end(first, hi))
        if "," in self.s[start:first] and len(found) > 1:
            found = found[1:]
        begin, end = found[0].start, self._list_end(found, 0)
        opener = self.g.phrase_end.search(self.s, begin + 1, end)
        end = opener.start() if opener else end
        for joint in self.g.coordination.finditer(self.s, begin, end):
            if self.has_finite(Span(joint.end(), end)):
                end = joint.start()
                break
        return self._closed(Span(begin, end))

    def _after_space(self, start: int, hi: int) -> int:
        match = _SPACE.match(self.s, start, hi)
        return match.end() if match else start

    def _list_end(self, found: list[Span], last: int) -> int:
        """Return where the list ends that begins in the part `last`: «harina, huevos y leche»."""
        for part in found[last + 1 : last + _LIST_ITEMS]:
            is_long = len(self.s[part.start : part.end].split()) > _LIST_ITEM_WORDS
            is_correction = self.g.correction.match(self.s, part.start, part.end) is not None
            if is_long or is_correction or self.is_aside(part) or self.has_finite(part):
                break
            if self.g.coordination.search(self.s, part.start - 1, part.end):
                return part.end
        return found[last].end

    def _closed(self, span: Span) -> Span:
        return self.trim_words(self.trim(span.start, span.end), left=self.g.conjunctions, right=self.g.conjunctions)

    def verb_group(self, lo: int, verb_start: int) -> VerbGroup:
        g = self.g
        group = self._known_before(
            lo, verb_start, g.auxiliaries | g.weak_auxiliaries | g.negations | g.hypothetical_words
        )
        while group and group[0].group() in g.weak_auxiliaries:
            group = group[1:]
        return VerbGroup(group[0].start() if group else verb_start, tuple(token.group() for token in group))

    def words_beside_connective(self, lo: int, start: int) -> list[str]:
        """Return the words right before a connective that belong to it: «no porque», "perhaps because"."""
        return [token.group() for token in self._known_before(lo, start, self.g.beside_connective)]

    def _known_before(self, lo: int, end: int, known: Collection[str]) -> list[re.Match[str]]:
        """Return the last words before `end` as far as they are known ones or adverbs."""
        found = self.tokens(Span(max(lo, end - _WORD_GROUP_CHARS), end))
        first, limit = len(found), end
        while first:
            token = found[first - 1]
            is_known = token.group() in known or self.g.adverb.fullmatch(token.group())
            if not is_known or self.s[token.end() : limit].strip():
                break
            first, limit = first - 1, token.start()
        return found[first:]
