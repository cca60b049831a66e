"""Semantic roles: who did it to whom."""

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache
from itertools import combinations

from agent.verification.alignment import SAME_PAIR, Alignment
from agent.verification.reading import ComparedText, ComparedWord
from graphrag.linguistics.lexicon import is_agent, opposite_of
from graphrag.linguistics.numbers import number_rules
from graphrag.linguistics.rules import Pattern, Rules, WordSet, read_rules


class RoleRules(Rules):
    by: dict[str, WordSet]
    to: dict[str, WordSet]
    of: WordSet
    be: WordSet
    have: WordSet
    beside: WordSet
    determiners: WordSet
    clitics: WordSet
    titles: WordSet
    past: Pattern
    participle: dict[str, Pattern]
    leading: WordSet
    halts: WordSet


@lru_cache(maxsize=1)
def _rules() -> RoleRules:
    return read_rules(RoleRules, "agent.verification", "roles")


_REFLEXIVE = frozenset({"se", "s"})


class Case(Enum):
    BARE = "bare"
    TO = "to"
    BY = "by"
    OF = "of"
    BESIDE = "beside"


class Voice(Enum):
    ACTIVE = "active"
    PASSIVE = "passive"
    UNSURE = "unsure"


def case_of(reading: ComparedText, at: int) -> Case:
    """Return the word's case by the preposition or conjunction that begins its phrase."""
    word = reading.words[at]
    if any(moment.start <= word.start < moment.end for moment in reading.moments):
        return Case.BESIDE
    is_of = False
    for before in range(at - 1, max(-1, at - 8), -1):
        led_in = reading.words[before]
        if (
            led_in.clause != reading.words[at].clause
            or ":" in reading.text[led_in.end : reading.words[before + 1].start]
        ):
            break
        if led_in.folded in _rules().beside:
            return Case.BESIDE
        if led_in.folded in _rules().by.get(reading.language, ()):
            return Case.BY
        if _is_to(reading, before):
            return Case.TO
        is_of = is_of or led_in.folded in _rules().of
        if not _goes_on(reading, before):
            break
    return Case.OF if is_of else Case.BARE


def _is_to(reading: ComparedText, at: int) -> bool:
    """Return whether the word means "to", unlike the French «a», whose accent the folding removes."""
    word = reading.words[at]
    return word.folded in _rules().to.get(reading.language, ()) and (reading.language != "fr" or word.written != "a")


def _determiners(reading: ComparedText) -> frozenset[str]:
    return _rules().determiners if reading.language == "en" else _rules().determiners - {"a", "an"}


def _goes_on(reading: ComparedText, at: int) -> bool:
    """Return whether the next words may belong to the same phrase: «la vieja casa de su tía»."""
    word = reading.words[at]
    if (
        word.folded in _determiners(reading) | _rules().of | _rules().titles
        or word.written[0].isupper()
        or counts(reading, at)
    ):
        return True
    return at > 0 and word.says and reading.words[at - 1].folded in _determiners(reading) | _rules().of


def counts(reading: ComparedText, at: int) -> bool:
    folded = reading.words[at].folded
    table = number_rules().languages.get(reading.language)
    return folded[0].isdigit() or (table is not None and folded in table.numbers)


def is_noun(reading: ComparedText, at: int) -> bool:
    """An article stands before it, which a pronoun before a verb («la firmó») looks like."""
    article = reading.words[at - 1].folded if at else ""
    if article in {"no", "any", "some", "ningun", "ninguna", "aucun", "aucune"}:
        return article != "no" or reading.language == "en"
    if (
        article in _rules().beside | _rules().of - {"s"}
        or article in _rules().by.get(reading.language, ())
        or _follows_comma(reading, at)
    ):
        return True
    if article in _rules().clitics:
        is_resumed = at > 1 and reading.words[at - 2].says
        return not (is_resumed and _rules().past.search(reading.words[at].written))
    return article in _determiners(reading)


def _follows_comma(reading: ComparedText, at: int) -> bool:
    """«Agnes, maestra jubilada»; not «Agnes, mi maestra, firmó el acta»."""
    words = reading.words
    if at + 1 < len(words) and words[at + 1].folded in _determiners(reading):
        return False
    return at > 0 and "," in reading.text[words[at - 1].end : words[at].start]


def voice_of(reading: ComparedText, verb: int) -> Voice:
    """«fue firmado por», «firmado por»; or what it does it to stands before it: «el diseño lo firmó»."""
    words = reading.words
    before = [word.folded for word in words[max(0, verb - 3) : verb] if word.sentence == words[verb].sentence]
    behind = [word.folded for word in words[verb + 1 : verb + 7] if word.clause == words[verb].clause]
    if before and before[-1] in _REFLEXIVE:
        return Voice.UNSURE
    by = _rules().by.get(reading.language, frozenset())
    if set(behind[:1]) & by or (by & set(behind) and _rules().be & set(before)):
        return Voice.PASSIVE
    if (
        reading.language == "es"
        and verb > 1
        and before[-1:]
        and before[-1] in _rules().clitics
        and words[verb - 2].says
    ):
        return Voice.PASSIVE if _rules().past.search(words[verb].written) else Voice.ACTIVE
    if _is_participle(words[verb], reading.language):
        if _rules().be & set(before):
            return Voice.PASSIVE
        return Voice.ACTIVE if reading.language == "en" or _rules().have & set(before) else Voice.UNSURE
    return Voice.ACTIVE


def _is_participle(word: ComparedWord, language: str) -> bool:
    ending = _rules().participle.get(language)
    return ending is not None and ending.search(word.written) is not None


AND = frozenset({"y", "e", "et", "and", "o", "ou", "or"})
_BREAK = re.compile(r"[;:()]|,(?! (?:et|y|e|and) )")


def agents_are_swapped(both: Alignment) -> bool:
    """Return whether one of two acts here and the other there, whatever the verb is."""
    statement, passage = both.statement, both.passage
    if statement.is_table or passage.is_table:
        return False
    for one, other in combinations(_agents(both), 2):
        mine = _acts_first(statement, one, other)
        places = _nearest(both, one, other) if mine is not None else None
        if (
            places
            and not _does_something_else(both, one, other, places[0])
            and (theirs := _acts_first(passage, *places)) is not None
            and mine != theirs
        ):
            return True
    return False


def _agents(both: Alignment) -> list[int]:
    """Return the places of names, and of nouns of people and bodies."""
    statement, passage = both.statement, both.passage
    named = {*statement.names, *(at for at in statement.openers if set(both.links.get(at, ())) & set(passage.names))}
    nouns = {at for at in both.links if is_agent(statement.words[at].folded, statement.language)}
    return sorted(at for at in named | nouns if at in both.links)


def _does_something_else(both: Alignment, one: int, other: int, place: int) -> bool:
    """Return whether the action between the two is in another clause of the passage: «la cooperativa paga a Marta»."""
    words = both.passage.words
    return any(
        all(words[to].sentence != words[place].sentence for to in both.links[at])
        for at in range(one + 1, other)
        if at in both.links and not is_noun(both.statement, at) and at not in both.statement.names
    )


def _nearest(both: Alignment, one: int, other: int) -> tuple[int, int] | None:
    """Return the positions in the passage of the pair, in one sentence; of several pairs, in one clause."""
    words = both.passage.words
    pairs = [
        (first, second)
        for first, sure in both.links[one].items()
        for second, also in both.links[other].items()
        if first != second and min(sure, also) >= SAME_PAIR and words[first].sentence == words[second].sentence
    ]
    if len(pairs) > 1:
        pairs = [(first, second) for first, second in pairs if words[first].clause == words[second].clause]
    return pairs[0] if len(pairs) == 1 else None


def _is_one_name(reading: ComparedText, one: int, other: int) -> bool:
    """«Ana de la Vega», «Ana y Luis»: nothing is done between the two."""
    first, last = sorted((one, other))
    between = reading.words[first + 1 : last]
    return not any(word.says and not word.written[0].isupper() for word in between)


def _acts_first(reading: ComparedText, one: int, other: int) -> bool | None:
    """Return whether the first of the two acts, and not the other; None where that is not stated."""
    if not _are_joined_by_a_verb(reading, *sorted((one, other))):
        return None
    cases = case_of(reading, one), case_of(reading, other)
    if Case.BESIDE in cases or _is_joined(reading, one, other) or _is_one_name(reading, one, other):
        return None
    if cases == (Case.BARE, Case.BARE):
        voices = _voices(reading, one, other)
        return one < other if voices == {Voice.ACTIVE} else None
    if cases[0] is Case.BARE and cases[1] is Case.TO:
        return True if _is_active(reading, one, other) else None
    if cases[1] is Case.BARE and cases[0] is Case.TO:
        return False if _is_active(reading, one, other) else None
    if Case.BY in cases and cases[0] is not cases[1]:
        return cases[0] is Case.BY
    return None


def _are_joined_by_a_verb(reading: ComparedText, first: int, last: int) -> bool:
    """Return whether a verb joins both words in one sentence, with no other clause between them."""
    words = reading.words
    if words[first].sentence != words[last].sentence:
        return False
    led_in = {word.folded for word in words[first + 1 : last]} & _rules().leading
    return not led_in and not _BREAK.search(reading.text, words[first].end, words[last].start)


def _is_active(reading: ComparedText, one: int, other: int) -> bool:
    return Voice.PASSIVE not in _voices(reading, one, other)


def _is_joined(reading: ComparedText, one: int, other: int) -> bool:
    first, last = sorted((one, other))
    return last - first <= 4 and any(word.folded in AND for word in reading.words[first + 1 : last])


def _voices(reading: ComparedText, one: int, other: int) -> set[Voice]:
    first, last = sorted((one, other))
    places = [at for at in range(first + 1, last) if reading.words[at].says and not is_noun(reading, at)]
    return {voice_of(reading, at) for at in places if at not in reading.names}


_REACH = 9  # words on either side of a verb
CONVERSE = frozenset({"buy", "lend", "teach", "before", "give", "win", "own", "employ"})
_AGENT_NOUN = re.compile(r"(?:eur|euse|er|or|ora)s?$")


def is_turned(both: Alignment) -> bool:
    """Return whether subject and object have changed places around a verb; a passive or its converse does so."""
    converse = _tells_the_converse(both)
    return any(_turns(both, verb, place, converse) for verb, place in _verbs(both)) or (
        not converse and agents_are_swapped(both)
    )


def _tells_the_converse(both: Alignment) -> bool:
    """«vendió» of what the passage says «compró»."""
    told = {(sign.concept, sign.side) for sign in both.statement.signs if sign.concept in CONVERSE}
    held = {
        (sign.concept, sign.side)
        for sign in both.passage.signs
        if sign.concept in CONVERSE and not _AGENT_NOUN.search(both.passage.words[sign.place].folded)
    }
    return any((concept, -side) in held and (concept, side) not in held for concept, side in told)


def _verbs(both: Alignment) -> Iterator[tuple[int, int]]:
    statement = both.statement
    for at, linked in both.links.items():
        if at in statement.names or is_noun(statement, at) or counts(statement, at):
            continue
        best = max(linked, key=lambda place: (linked[place], both.nearness(at, place)))
        if best not in both.passage.names and not is_noun(both.passage, best):
            yield at, best


def _turns(both: Alignment, verb: int, place: int, converse: bool) -> bool:
    statement, passage = both.statement, both.passage
    voice, other = voice_of(statement, verb), voice_of(passage, place)
    if Voice.UNSURE in (voice, other):
        return False
    before = _ends(both, list(_around(statement, verb, -1)), place)
    behind = _ends(both, list(_around(statement, verb, 1)), place)
    is_crossed = any(end > place for end in before) and any(end < place for end in behind)
    is_straight = any(end < place for end in before) and any(end > place for end in behind)
    flips = voice is not other
    pair, held = opposite_of(statement.words[verb].folded), opposite_of(passage.words[place].folded)
    if pair and held and pair[0] in CONVERSE and pair[1] != held[1]:
        return is_straight and not is_crossed and not flips
    if flips or converse:
        return False
    return not is_straight and (is_crossed or _takes_its_end(both, verb, place))


def _takes_its_end(both: Alignment, verb: int, place: int) -> bool:
    """Return whether the passage's agent stands behind the verb here, and something else that the passage has acts."""
    mine, theirs = _agent(both.statement, verb), _agent(both.passage, place)
    if mine is None or theirs is None or mine not in both.links or theirs in both.links[mine]:
        return False
    behind = [at for at in _around(both.statement, verb, 1) if case_of(both.statement, at) is not Case.BESIDE]
    if theirs in both.passage.names:
        behind += [at for at in both.statement.names if at > verb]
    return any(theirs in both.links.get(at, {}) for at in behind)


def _agent(reading: ComparedText, verb: int) -> int | None:
    """The nearest word that says something before a verb, in its clause, led in by an article alone."""
    for at in _around(reading, verb, -1):
        if reading.words[at].clause != reading.words[verb].clause:
            return None
        if reading.words[at].says:
            return at if case_of(reading, at) is Case.BARE and _may_act(reading, at) else None
    return None


def _may_act(reading: ComparedText, at: int) -> bool:
    return at in reading.names or at in reading.openers or is_noun(reading, at)


def _around(reading: ComparedText, verb: int, step: int) -> Iterator[int]:
    """Places on one side of a verb, nearest first; beyond a comma, what is named alone: «Hugues, el menor, firmó»."""
    words, is_beyond = reading.words, False
    for at in range(verb + step, max(-1, min(len(words), verb + step * _REACH)), step):
        later, earlier = words[max(at, at - step)], words[min(at, at - step)]
        if later.sentence != earlier.sentence:
            return
        if later.clause != earlier.clause:
            between = reading.text[earlier.end : later.start]
            if later.folded in AND | _rules().halts or not between.strip(" ,"):
                if later.folded in AND | _rules().halts:
                    return
                is_beyond = is_beyond or "," in between
            else:
                return
        if not is_beyond or words[at].written[0].isupper():
            yield at


def _ends(both: Alignment, places: Sequence[int], place: int) -> list[int]:
    """Return the positions in the passage of the nearest ends of the statement's verb."""
    statement, passage = both.statement, both.passage
    near = {*_around(passage, place, -1), *_around(passage, place, 1)}
    found = []
    for at in places:
        is_name = statement.words[at].written[0].isupper()
        if not is_name and case_of(statement, at) is Case.BESIDE:
            continue
        linked = [
            to for to in both.links.get(at, {}) if to in near and (is_name or case_of(passage, to) is not Case.BESIDE)
        ]
        if linked:
            found.append(min(linked, key=lambda to: abs(to - place)))
    return found
