"""Who did it to whom: whether the two ends of a verb have changed their places."""

import re
from collections.abc import Iterator, Sequence

from agent.verification.alignment import Alignment
from agent.verification.cases import Case, Voice, case_of, counts, is_noun, voice_of
from agent.verification.doers import AND, actors_turn
from agent.verification.opposites import opposite_of
from agent.verification.reading import Reading

_REACH = 9  # words on either side of a verb
_HALTS = frozenset("pero mas aunque mientras mais tandis but while whereas although que dont".split())
CONVERSE = frozenset({"buy", "lend", "teach", "before", "give", "win", "own", "employ"})
_AGENT_NOUN = re.compile(r"(?:eur|euse|er|or|ora)s?$")


def is_turned(both: Alignment) -> bool:
    """What stood before a verb stands behind it, and what stood behind before it; a passive or its converse does so."""
    converse = _tells_the_converse(both)
    return any(_turns(both, verb, place, converse) for verb, place in _verbs(both)) or (
        not converse and actors_turn(both)
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
    """What does it in the passage stands behind the verb here, and something else that the passage has does it."""
    mine, theirs = _doer(both.statement, verb), _doer(both.passage, place)
    if mine is None or theirs is None or mine not in both.links or theirs in both.links[mine]:
        return False
    behind = [at for at in _around(both.statement, verb, 1) if case_of(both.statement, at) is not Case.BESIDE]
    if theirs in both.passage.names:
        behind += [at for at in both.statement.names if at > verb]
    return any(theirs in both.links.get(at, {}) for at in behind)


def _doer(reading: Reading, verb: int) -> int | None:
    """The nearest word that says something before a verb, in its clause, led in by an article alone."""
    for at in _around(reading, verb, -1):
        if reading.words[at].clause != reading.words[verb].clause:
            return None
        if reading.words[at].says:
            return at if case_of(reading, at) is Case.BARE and _may_act(reading, at) else None
    return None


def _may_act(reading: Reading, at: int) -> bool:
    return at in reading.names or at in reading.openers or is_noun(reading, at)


def _around(reading: Reading, verb: int, step: int) -> Iterator[int]:
    """Places on one side of a verb, nearest first; beyond a comma, what is named alone: «Hugues, el menor, firmó»."""
    words, is_beyond = reading.words, False
    for at in range(verb + step, max(-1, min(len(words), verb + step * _REACH)), step):
        later, earlier = words[max(at, at - step)], words[min(at, at - step)]
        if later.sentence != earlier.sentence:
            return
        if later.clause != earlier.clause:
            between = reading.text[earlier.end : later.start]
            if later.folded in AND | _HALTS or not between.strip(" ,"):
                if later.folded in AND | _HALTS:
                    return
                is_beyond = is_beyond or "," in between
            else:
                return
        if not is_beyond or words[at].written[0].isupper():
            yield at


def _ends(both: Alignment, places: Sequence[int], place: int) -> list[int]:
    """Where in the verb's sentence of the passage the nearest ends of the statement's verb stand."""
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
