"""How a word stands in its clause: what leads it in, and whether a verb is active or passive."""

import re
from enum import Enum

from agent.verification.number_words import VALUES
from agent.verification.reading import Reading, Word

_BY = {"es": frozenset({"por"}), "fr": frozenset({"par"}), "en": frozenset({"by"})}
_TO = {"es": frozenset({"a", "al"}), "fr": frozenset({"a", "au", "aux"}), "en": frozenset({"to"})}
_OF = frozenset("de del d du des of s".split())
_BE = frozenset(
    "fue fueron es son era eran sido ser sera seran sea fuera est sont fut furent ete etait etaient etre sera"
    " seront soit was were is are been being be get got gets".split()
)
_HAVE = frozenset(
    "ha han he hemos habia habian haber hubo habra a ai ont avons avait avaient avoir aura auront eut aurait has have"
    " had having".split()
)
_BESIDE = frozenset(  # what they lead in is no end of the verb: «tras la riada»
    "tras en durante desde hasta para con sin segun ante bajo sobre entre contra hacia dans pendant depuis jusqu"
    " jusque pour avec sans selon chez sur sous apres avant lors vers entre contre after before in on at during since"
    " until for with without from into under over within about against between among across despues antes".split()
)
_DETERMINERS = frozenset(
    "du au aux del al el la los las un una unos unas su sus este esta estos le les l une des leur leurs son sa ses"
    " ce cette the a an his her its their this that these".split()
)
_CLITICS = frozenset({"lo", "la", "los", "las", "le", "les"})
_TITLES = frozenset("mr mrs ms dr sr sra don dona m mme mlle senor senora monsieur madame".split())
_REFLEXIVE = frozenset({"se", "s"})
_PAST = re.compile(r"(?:ó|aron|ieron|aba|aban|ía|ían|ará|arán)$")
_PARTICIPLE = {
    "es": re.compile(r"(?:[ai]d[oa]s?|ich[oa]s?|ech[oa]s?|crit[oa]s?|uest[oa]s?|iert[oa]s?|uelt[oa]s?)$"),
    "fr": re.compile(r"(?:ée?s?|ies?|ue?s?|[iua]ts?|[iua]tes?|ise?s?)$"),
    "en": re.compile(r"(?:ed|en|wn|ght|ld|nt|ade)$"),
}


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


def case_of(reading: Reading, at: int) -> Case:
    """By the word that leads in the words which it stands among."""
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
        if led_in.folded in _BESIDE:
            return Case.BESIDE
        if led_in.folded in _BY.get(reading.language, ()):
            return Case.BY
        if _is_to(reading, before):
            return Case.TO
        is_of = is_of or led_in.folded in _OF
        if not _goes_on(reading, before):
            break
    return Case.OF if is_of else Case.BARE


def _is_to(reading: Reading, at: int) -> bool:
    """Not the French «a», whose accent the folding takes away."""
    word = reading.words[at]
    return word.folded in _TO.get(reading.language, ()) and (reading.language != "fr" or word.written != "a")


def _determiners(reading: Reading) -> frozenset[str]:
    return _DETERMINERS if reading.language == "en" else _DETERMINERS - {"a", "an"}


def _goes_on(reading: Reading, at: int) -> bool:
    """Whether what follows may be of the same words: «la vieja casa de su tía»."""
    word = reading.words[at]
    if word.folded in _determiners(reading) | _OF | _TITLES or word.written[0].isupper() or counts(reading, at):
        return True
    return at > 0 and word.says and reading.words[at - 1].folded in _determiners(reading) | _OF


def counts(reading: Reading, at: int) -> bool:
    folded = reading.words[at].folded
    return folded[0].isdigit() or folded in VALUES.get(reading.language, {})


def is_noun(reading: Reading, at: int) -> bool:
    """An article stands before it, which a pronoun before a verb («la firmó») looks like."""
    article = reading.words[at - 1].folded if at else ""
    if article in {"no", "any", "some", "ningun", "ninguna", "aucun", "aucune"}:
        return article != "no" or reading.language == "en"
    if article in _BESIDE | _OF - {"s"} or article in _BY.get(reading.language, ()) or _follows_comma(reading, at):
        return True
    if article in _CLITICS:
        is_resumed = at > 1 and reading.words[at - 2].says
        return not (is_resumed and _PAST.search(reading.words[at].written))
    return article in _determiners(reading)


def _follows_comma(reading: Reading, at: int) -> bool:
    """«Agnes, maestra jubilada»; not «Agnes, mi maestra, firmó el acta»."""
    words = reading.words
    if at + 1 < len(words) and words[at + 1].folded in _determiners(reading):
        return False
    return at > 0 and "," in reading.text[words[at - 1].end : words[at].start]


def voice_of(reading: Reading, verb: int) -> Voice:
    """«fue firmado por», «firmado por»; or what it does it to stands before it: «el diseño lo firmó»."""
    words = reading.words
    before = [word.folded for word in words[max(0, verb - 3) : verb] if word.sentence == words[verb].sentence]
    behind = [word.folded for word in words[verb + 1 : verb + 7] if word.clause == words[verb].clause]
    if before and before[-1] in _REFLEXIVE:
        return Voice.UNSURE
    by = _BY.get(reading.language, frozenset())
    if set(behind[:1]) & by or (by & set(behind) and _BE & set(before)):
        return Voice.PASSIVE
    if reading.language == "es" and verb > 1 and before[-1:] and before[-1] in _CLITICS and words[verb - 2].says:
        return Voice.PASSIVE if _PAST.search(words[verb].written) else Voice.ACTIVE
    if _is_participle(words[verb], reading.language):
        if _BE & set(before):
            return Voice.PASSIVE
        return Voice.ACTIVE if reading.language == "en" or _HAVE & set(before) else Voice.UNSURE
    return Voice.ACTIVE


def _is_participle(word: Word, language: str) -> bool:
    ending = _PARTICIPLE.get(language)
    return ending is not None and ending.search(word.written) is not None
