"""Who did it to whom: whether the two ends of a verb have changed their places."""

import re
from collections.abc import Iterator

from agent.verification.alignment import Alignment
from agent.verification.number_words import VALUES
from agent.verification.opposites import opposite_of
from agent.verification.reading import Reading

_REACH = 9  # words on either side of a verb
_AGENT = {"es": "por", "fr": "par", "en": "by"}
_BE = frozenset(
    "fue fueron es son era eran sido ser sera seran sea est sont fut furent ete etait etaient etre was were is are"
    " been being be"
    " sera seront get got".split()
)
_BESIDE = frozenset(  # what they lead in is no end of the verb: «tras la riada»
    "tras en durante desde hasta para con sin segun ante bajo sobre entre dans pendant depuis jusqu jusque pour"
    " avec sans selon"
    " chez sur sous apres avant lors after before in on at during since until for with without from into under over"
    " within"
    " despues antes".split()
)
_DETERMINERS = frozenset(
    "du au aux del al el la los las un una unos unas su sus este esta estos le les l une des leur leurs son sa ses"
    " ce cette the a an"
    " his her its"
    " their this that these".split()
)
_CLITICS = frozenset({"lo", "la", "los", "las", "le", "les"})
_PAST = re.compile(r"(?:ó|aron|ieron|aba|aban|ía|ían|ará|arán)$")
CONVERSE = frozenset({"buy", "lend", "teach", "before"})


def is_turned(both: Alignment) -> bool:
    """What stood before a verb stands behind it, and what stood behind before it; a passive or its converse does so."""
    converse = _tells_the_converse(both)
    return any(_turns(both, verb, place, converse) for verb, place in _verbs(both))


def _tells_the_converse(both: Alignment) -> bool:
    """«vendió» of what the passage says «compró»."""
    told = {(sign.concept, sign.side) for sign in both.statement.signs if sign.concept in CONVERSE}
    held = {(sign.concept, sign.side) for sign in both.passage.signs if sign.concept in CONVERSE}
    return any((concept, -side) in held and (concept, side) not in held for concept, side in told)


def _verbs(both: Alignment) -> Iterator[tuple[int, int]]:
    statement = both.statement
    for at, linked in both.links.items():
        article = statement.words[at - 1].folded if at else ""
        is_noun = article in _DETERMINERS - _CLITICS and not (article == "a" and statement.language != "en")
        if at in statement.names or is_noun or statement.words[at].folded in VALUES.get(statement.language, {}):
            continue
        best = max(linked, key=lambda place: (linked[place], both.nearness(at, place)))
        if best not in both.passage.names:
            yield at, best


def _turns(both: Alignment, verb: int, place: int, converse: bool) -> bool:
    statement, passage = both.statement, both.passage
    before = _ends(both, range(verb - 1, max(-1, verb - _REACH), -1), verb, place)
    behind = _ends(both, range(verb + 1, min(len(statement.words), verb + _REACH)), verb, place)
    is_crossed = any(end > place for end in before) and any(end < place for end in behind)
    is_straight = any(end < place for end in before) and any(end > place for end in behind)
    flips = _is_passive(statement, verb) != _is_passive(passage, place)
    pair, held = opposite_of(statement.words[verb].folded), opposite_of(passage.words[place].folded)
    if pair and held and pair[0] in CONVERSE and pair[1] != held[1]:
        return is_crossed and not is_straight if flips else is_straight and not is_crossed
    if flips or converse:
        return False
    return is_crossed and not is_straight


def _ends(both: Alignment, places: range, verb: int, place: int) -> list[int]:
    """Where in the verb's sentence of the passage the nearest ends of the statement's verb stand."""
    statement, passage = both.statement, both.passage
    found = []
    for at in places:
        if statement.words[at].clause != statement.words[verb].clause:
            break
        if _is_beside(statement, at):
            continue
        is_name = statement.words[at].written[0].isupper()  # a comma may part it from the verb: «…, Hugues»
        linked = [
            to
            for to in both.links.get(at, {})
            if to != place
            and passage.words[to].sentence == passage.words[place].sentence
            and (is_name or passage.words[to].clause == passage.words[place].clause)
        ]
        if linked:
            found.append(min(linked, key=lambda to: abs(to - place)))
    return found


def _is_beside(reading: Reading, at: int) -> bool:
    """A time, or what a preposition leads in."""
    word = reading.words[at]
    if any(moment.start <= word.start < moment.end for moment in reading.moments):
        return True
    before = [each.folded for each in reading.words[max(0, at - 3) : at] if each.folded not in _DETERMINERS]
    return bool(before) and before[-1] in _BESIDE


def _is_passive(reading: Reading, verb: int) -> bool:
    """«fue firmado por», «firmado por»; or what it does it to stands before it: «el diseño lo firmó»."""
    words, by = reading.words, _AGENT.get(reading.language)
    before = {word.folded for word in words[max(0, verb - 2) : verb]}
    behind = [word.folded for word in words[verb + 1 : verb + 7] if word.sentence == words[verb].sentence]
    if behind[:1] == [by] or (by in behind and before & _BE):
        return True
    is_resumed = verb > 1 and words[verb - 1].folded in _CLITICS and words[verb - 2].says
    return reading.language == "es" and is_resumed and _PAST.search(words[verb].written) is not None
