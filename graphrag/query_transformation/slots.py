"""Slots: what a fragment («¿y en mayo?», "and the Falcon?") takes the place of in the question before it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import fold
from graphrag.linguistics.lexicon import find_meanings, share_meaning
from graphrag.linguistics.normalization import flatten
from graphrag.linguistics.rules import Pattern, Rules, WordSet, read_rules
from graphrag.query_transformation.decomposition import words_of_opening
from graphrag.query_transformation.phrases import Phrase, QuestionGrammar, QuestionToken, find_phrases, read_words

MOST_FRAGMENT_WORDS: Final = 8


class SlotRules(Rules):
    possessives: WordSet
    verbs: WordSet  # with one of them it is a clause
    times: Pattern  # times that are no dates: seasons, «el año anterior»
    years_tail: Pattern  # the year at the end of a date
    that_of: Pattern
    of_something: Pattern
    same_slot: dict[str, list[WordSet]]  # prepositions that may stand before the same kind of thing
    parts_of_contraction: dict[str, str]  # the preposition in «del», «aux»
    contractions: dict[str, str]


@lru_cache(maxsize=1)
def _rules() -> SlotRules:
    return read_rules(SlotRules, "graphrag.query_transformation", "slots")


@dataclass(frozen=True, slots=True)
class _Slot:
    """A phrase of a question: its span, the preposition that it begins with, and its words after the article."""

    start: int
    end: int
    preposition: str
    words: tuple[QuestionToken, ...]

    @property
    def is_name(self) -> bool:
        return self.words[0].is_name


def is_fragment(text: str, grammar: QuestionGrammar) -> bool:
    """Return whether a text is a time, a phrase with a preposition or an article, or a name, and no clause."""
    words = read_words(text, flatten(text))
    if not 0 < len(words) <= MOST_FRAGMENT_WORDS:
        return False
    clauses, first = grammar.clauses, words[0]
    is_verb = any(word.text.islower() and word.flat in _rules().verbs for word in words) or words[0].text == "está"
    if first.flat in _rules().possessives or is_verb:
        return False
    opens = first.is_name or first.flat in clauses.prepositions | clauses.determiners
    return opens or _rules().that_of.match(flatten(text).lower()) is not None or _is_time(text, grammar)


def replace_slot(fragment: str, before: str, grammar: QuestionGrammar) -> str:
    """Return the question before with the fragment instead of what is of its kind; at its end where nothing is."""
    if _is_time(fragment, grammar):
        return _with_other_time(fragment, before, grammar)
    if match := _rules().that_of.match(flatten(fragment).lower()):
        return _with_other_owner(fragment[match.end() :], before) or f"{before} {fragment}"
    said = _find_slots(fragment, grammar)[:1] or [_bare_slot(fragment, grammar)]
    slots = [slot for slot in _find_slots(before, grammar) if not _overlaps(slot, _times(before, grammar))]
    if said[0].preposition and (slot := _best(said[0], slots, grammar)):
        return contract(f"{before[: slot.start]}{fragment}{before[slot.end :]}")
    if said[0].preposition:
        named = [slot for slot in slots if slot.is_name and said[0].is_name]
        return (
            contract(f"{before[: named[-1].start]}{fragment}{before[named[-1].end :]}")
            if named
            else f"{before} {fragment}"
        )
    return _with_other_phrase(fragment, before, grammar)


def _overlaps(slot: _Slot, times: Sequence[tuple[int, int]]) -> bool:
    return any(start <= slot.words[0].start < end for start, end in times)


def contract(text: str) -> str:
    """Join prepositions and articles that are written as one word."""
    for apart, together in _rules().contractions.items():
        text = re.sub(rf"\b{apart}\b", together, text)
    return " ".join(text.split())


def _times(text: str, grammar: QuestionGrammar) -> list[tuple[int, int]]:
    """Return the spans of the dates and of other times in a text, in order and without overlap."""
    spans = [(each.start, each.end) for each in read_dates(text, grammar.language)]
    spans += [match.span() for match in _rules().times.finditer(flatten(text).lower())]
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _is_time(text: str, grammar: QuestionGrammar) -> bool:
    times = _times(text, grammar)
    small = grammar.clauses.prepositions | grammar.clauses.determiners
    rest = [word for word in read_words(text, flatten(text)) if not any(a <= word.start < b for a, b in times)]
    return bool(times) and all(word.flat in small for word in rest)


def _with_other_time(fragment: str, before: str, grammar: QuestionGrammar) -> str:
    times = _times(before, grammar)
    if not times:
        return f"{before} {fragment}"
    start, end = times[-1]
    if match := _rules().that_of.match(flatten(fragment).lower()):  # «la de 2020»
        fragment = fragment[match.group().index(" ") + 1 :]
    year = _rules().years_tail.search(fragment)
    tail = _rules().years_tail.search(before, start, end)
    if tail and tail.start() > start:
        if year and _is_only_year(fragment, year, grammar):
            return f"{before[: tail.start(1)]}{year[1]}{before[end:]}"
        if not year:
            fragment += before[tail.start() : tail.end()]
    words = read_words(before, flatten(before))
    small = grammar.clauses.prepositions | grammar.clauses.determiners
    number = next((n for n, word in enumerate(words) if word.start >= start), len(words))
    first = number
    while first and words[first - 1].flat in small:
        first -= 1
    leads = {word.flat for word in words[first:number]}
    if leads & grammar.clauses.prepositions or (first == number and end >= len(before.rstrip(" ?"))):
        start = words[first].start if first < len(words) else start
    else:  # "the 2019 race": what stands before a noun has no preposition
        spans = _times(fragment, grammar)
        fragment = fragment[spans[0][0] : spans[-1][1]]
    return " ".join(f"{before[:start]} {fragment} {before[end:]}".split())


def _is_only_year(fragment: str, year: re.Match[str], grammar: QuestionGrammar) -> bool:
    small = grammar.clauses.prepositions | grammar.clauses.determiners
    lead = fragment[: year.start(1)]
    return all(word.flat in small for word in read_words(lead, flatten(lead)))


def _with_other_owner(owner: str, before: str) -> str:
    """«¿y el de Zamora?» after «¿qué dice el contrato de Lugo?»; empty where nothing was somebody's."""
    owners = list(_rules().of_something.finditer(before))
    match = next((owner for owner in owners if owner[1][0].isupper()), owners[-1] if owners else None)
    return f"{before[: match.start(1)]}{owner}{before[match.end(1) :]}" if match else ""


def _bare_slot(fragment: str, grammar: QuestionGrammar) -> _Slot:
    words = read_words(fragment, flatten(fragment))
    return _Slot(0, len(fragment), "", tuple(words))


def _preposition(word: QuestionToken, grammar: QuestionGrammar) -> str:
    """Return the preposition that a word is or holds: «de» for «del»."""
    held = _rules().parts_of_contraction.get(f"{grammar.language} {word.flat}", "")
    return held or (word.flat if word.flat in grammar.clauses.prepositions else "")


def _find_slots(text: str, grammar: QuestionGrammar) -> list[_Slot]:
    """Return the phrases with a preposition, also those within others."""
    flat = flatten(text)
    words = read_words(text, flat)
    found = []
    for number in range(words_of_opening(text, flat, words, grammar), len(words)):
        preposition = _preposition(words[number], grammar)
        begin = number + 1
        while begin < len(words) and words[begin].flat in grammar.clauses.determiners:
            begin += 1
        end = begin
        while end < min(len(words), begin + MOST_FRAGMENT_WORDS) and _goes_on(words, begin, end, grammar):
            end += 1
        if preposition and end > begin:
            found.append(_Slot(words[number].start, words[end - 1].end, preposition, tuple(words[begin:end])))
    return found


def _goes_on(words: Sequence[QuestionToken], begin: int, at: int, grammar: QuestionGrammar) -> bool:
    """Return whether a word still belongs to the noun phrase: a noun, an adjective, or what follows «de»."""
    clauses, word = grammar.clauses, words[at]
    if word.is_apart or word.is_name:
        return not word.is_apart
    if at > begin and (word.flat in clauses.genitive or words[at - 1].flat in clauses.genitive):
        return True
    if at > begin and word.flat in clauses.determiners:
        return words[at - 1].flat in clauses.determiners
    if word.flat in clauses.prepositions | clauses.determiners | clauses.breaks:
        return False
    is_verb = clauses.finite is not None and clauses.finite.search(word.text) is not None
    return not is_verb and (at == begin or grammar.language == "en" or not words[at - 1].is_name)


def _best(said: _Slot, slots: Sequence[_Slot], grammar: QuestionGrammar) -> _Slot | None:
    """Return the slot of the fragment's kind: with its preposition or one like it, a name for a name; the last one."""
    families = _rules().same_slot[grammar.language]
    best, most = None, 0
    for slot in slots:
        is_same = slot.preposition == said.preposition
        is_alike = is_same or any({slot.preposition, said.preposition} <= family for family in families)
        is_kind = slot.is_name == said.is_name
        score = (2 * is_kind + is_same) if is_alike else 0
        if score and score >= most:
            best, most = slot, score
    return best


def _with_other_phrase(fragment: str, before: str, grammar: QuestionGrammar) -> str:
    """Return the question with the fragment for a name or a noun phrase like it."""
    flat = flatten(before)
    words = read_words(before, flat)
    said = read_words(fragment, flatten(fragment))
    names = [word for word in said if word.is_name]
    common = {word.flat for word in said if not word.is_name and not _is_small(word, grammar)}
    begin = words_of_opening(before, flat, words, grammar)
    phrases = find_phrases(words, before, grammar.clauses, begin=begin)
    alike = [phrase for phrase in phrases if common & {word.flat for word in phrase.words}]
    if names and not alike and (span := _name_span(names, words[begin:], before, grammar)):
        by = fragment[names[0].start :]
        return f"{before[: span[0]]}{by}{before[span[1] :]}"
    phrases = alike or ([] if names else _ranked(said, phrases, before, grammar))
    if not phrases:
        return f"{before} {fragment}"
    return _put(fragment, phrases[0], before, grammar)


def _is_small(word: QuestionToken, grammar: QuestionGrammar) -> bool:
    return word.flat in grammar.clauses.prepositions | grammar.clauses.determiners


def _put(fragment: str, phrase: Phrase, before: str, grammar: QuestionGrammar) -> str:
    preposition = _rules().parts_of_contraction.get(f"{grammar.language} {phrase.words[0].flat}", "")
    kept = f"{preposition} " if preposition else ""
    return contract(f"{before[: phrase.words[0].start]}{kept}{fragment}{before[phrase.words[-1].end :]}")


def _name_span(
    names: Sequence[QuestionToken], words: Sequence[QuestionToken], before: str, grammar: QuestionGrammar
) -> tuple[int, int] | None:
    """Return the span of the name that is most like the given one: it shares words, or has its shape."""
    times = _times(before, grammar)
    runs: list[list[QuestionToken]] = []
    for number, word in enumerate(words):
        if not word.is_name or any(start <= word.start < end for start, end in times):
            continue
        is_next = runs and number and words[number - 1] is runs[-1][-1] and not word.is_apart
        if is_next:
            runs[-1].append(word)
        else:
            runs.append([word])
    own = {word.flat for word in names}

    def likeness(run: Sequence[QuestionToken]) -> tuple[int, bool, bool]:
        has_digit = any(character.isdigit() for word in run for character in word.text)
        digits = any(character.isdigit() for word in names for character in word.text)
        return len(own & {word.flat for word in run}), has_digit == digits, len(run) == len(names)

    best = max(runs, key=likeness, default=None)
    return (best[0].start, best[-1].end) if best else None


def _ranked(
    said: Sequence[QuestionToken], phrases: Sequence[Phrase], before: str, grammar: QuestionGrammar
) -> list[Phrase]:
    """Return the noun phrases, first those with a meaning or an article like the fragment's."""
    times = _times(before, grammar)
    free = [phrase for phrase in phrases if not any(a <= phrase.words[-1].start < b for a, b in times)]
    meanings = find_meanings([fold(word.text) for word in said], grammar.language)

    def likeness(phrase: Phrase) -> tuple[bool, bool, bool]:
        others = find_meanings([fold(word.text) for word in phrase.words], grammar.language)
        is_alike = any(share_meaning(one, other) > 0 for one in meanings if one for other in others if other)
        return is_alike, phrase.words[0].flat == said[0].flat, not phrase.has_name

    return sorted(free, key=likeness, reverse=True)
