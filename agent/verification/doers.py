"""Of two that are named, which one does it: here the one, there the other."""

import re
from itertools import combinations

from agent.verification.actors import is_actor
from agent.verification.alignment import SAME_PAIR, Alignment
from agent.verification.cases import Case, Voice, case_of, is_noun, voice_of
from agent.verification.reading import Reading

_LEADING = frozenset(
    "que cuando donde como si porque pues quand lorsque dont ou si parce comme when once where while if because as that"
    " whom which whose pero mais but aunque although".split()
)
AND = frozenset({"y", "e", "et", "and", "o", "ou", "or"})
_BREAK = re.compile(r"[;:()]|,(?! (?:et|y|e|and) )")


def actors_turn(both: Alignment) -> bool:
    """Of two, the one does it here and the other there; whatever the verb is."""
    statement, passage = both.statement, both.passage
    if statement.is_table or passage.is_table:
        return False
    for one, other in combinations(_actors(both), 2):
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


def _actors(both: Alignment) -> list[int]:
    """What is named, and nouns of people and bodies."""
    statement, passage = both.statement, both.passage
    named = {*statement.names, *(at for at in statement.openers if set(both.links.get(at, ())) & set(passage.names))}
    nouns = {at for at in both.links if is_actor(statement.words[at].folded, statement.language)}
    return sorted(at for at in named | nouns if at in both.links)


def _does_something_else(both: Alignment, one: int, other: int, place: int) -> bool:
    """What is done between the two is told in another clause of the passage: «la cooperativa paga a Marta»."""
    words = both.passage.words
    return any(
        all(words[to].sentence != words[place].sentence for to in both.links[at])
        for at in range(one + 1, other)
        if at in both.links and not is_noun(both.statement, at) and at not in both.statement.names
    )


def _nearest(both: Alignment, one: int, other: int) -> tuple[int, int] | None:
    """Where the passage has both in a sentence; of several places, in one clause."""
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


def _is_one_name(reading: Reading, one: int, other: int) -> bool:
    """«Ana de la Vega», «Ana y Luis»: nothing is done between the two."""
    first, last = sorted((one, other))
    between = reading.words[first + 1 : last]
    return not any(word.says and not word.written[0].isupper() for word in between)


def _acts_first(reading: Reading, one: int, other: int) -> bool | None:
    """Whether the first of the two does it, and not the other; None where that is not told."""
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


def _are_joined_by_a_verb(reading: Reading, first: int, last: int) -> bool:
    """In one stretch, with no other clause led in between."""
    words = reading.words
    if words[first].sentence != words[last].sentence:
        return False
    led_in = {word.folded for word in words[first + 1 : last]} & _LEADING
    return not led_in and not _BREAK.search(reading.text, words[first].end, words[last].start)


def _is_active(reading: Reading, one: int, other: int) -> bool:
    return Voice.PASSIVE not in _voices(reading, one, other)


def _is_joined(reading: Reading, one: int, other: int) -> bool:
    first, last = sorted((one, other))
    return last - first <= 4 and any(word.folded in AND for word in reading.words[first + 1 : last])


def _voices(reading: Reading, one: int, other: int) -> set[Voice]:
    first, last = sorted((one, other))
    places = [at for at in range(first + 1, last) if reading.words[at].says and not is_noun(reading, at)]
    return {voice_of(reading, at) for at in places if at not in reading.names}
