"""Negated words of a text: the first content word after «no», «ne … pas», "never", "failed to"."""

import re
from collections.abc import Iterator, Sequence

from graphrag.linguistics.language import stop_words

_CUES = {
    "es": frozenset("no nunca jamas tampoco sin ni nadie ningun ninguno ninguna nada".split()),
    "fr": frozenset("pas jamais rien aucun aucune personne sans ni nullement guere non".split()),
    "en": frozenset("not never no without neither nor nobody none cannot nothing".split()),
}
_FAILING = {
    "es": frozenset("evito evita evitar impidio impide impedir dejo".split()),
    "fr": frozenset("empeche empecher evite eviter".split()),
    "en": frozenset("failed fails fail unable refused refuses".split()),
}
# Here a cue denies nothing: «sin embargo», "not only", «no más de».
_EXCEPTIONS = re.compile(
    r"\bsin embargo\b|\bno obstante\b|\bno s[oó]lo\b|\bno solamente\b|\bsin duda\b|\bno m[aá]s (?:de|tarde)\b"
    r"|\bno menos de\b|\bnada m[aá]s\b|\bsans doute\b|\bnon seulement\b|\bpas seulement\b|\bpas plus\b|\bsans cesse\b"
    r"|\bnot only\b|\bno (?:later|more|less|fewer|longer than)\b|\bnot (?:later|more|less) than\b|\bno doubt\b"
    r"|\b[Nn][oº°]\.?\s?\d|\bne\b[^.;,]{1,40}\bque\b(?! ne)",
    re.IGNORECASE,
)
_NOT = re.compile(r"n['’]t\b|\bcannot\b", re.IGNORECASE)
_NE = re.compile(r"\b(?:ne|n['’])", re.IGNORECASE)
_STOP = re.compile(r"[.!?;:()]")
_NEGATIVE = re.compile(
    r"(?:sauf|salvo|excep|solo$|unicamente|seul|only|refus|rechaz|reject|deni|deneg|faute|falt|lack|manqu|unable|incapa|impos"
    r"|absen|ausen|exclu|prohib|interdi|forbid|forbad|ban(?:ned|s)?$|vaci|vide$|empty|pendient|unpaid|still$|yet$|aun$|todavia"
    r"|encore$|ecart|dispens|exempt|carec|depourvu|missing|omit|suspend|anul|cancel|annul|descart|impid|impedi|evit|avoid|prevent"
    r"|free$|gratis|gratuit|stop|cess|dej(?:o|a|an|aron)$|un[a-z]{5,}ed$|nadie|nul|negativ|perd|lost|los[ts]|miss|late$|declin"
    r"|parad|stopp|arret|deten|averi|panne|inhabil|inutil|fuera|hors$|out$|nada$|cero$|zero$"
    r"|mant(?:ien|uv)|maintien|remain|same$|unchang|inchang|inalter"
    r"|waiv|exim|exent|exon|condon|renunci|renonc"
    r"|retrac|retir|abandon|libre|intact|sinon|rest(?:e|ee?s|ent|a|an)?$|otherwise)"
)
_REACH = 5  # words


def denying_words(text: str, matches: Sequence[re.Match[str]], folded: Sequence[str], language: str) -> list[int]:
    """Places of the words that deny."""
    spared = [(match.start(), match.end()) for match in _EXCEPTIONS.finditer(text)]
    return [
        cue
        for cue in _cues(text, matches, folded, language)
        if not any(start <= matches[cue].start() < end for start, end in spared)
    ]


def negated_words(
    text: str, matches: Sequence[re.Match[str]], folded: Sequence[str], cues: Sequence[int], language: str
) -> set[int]:
    """Places of the words that the cues deny; «no … nunca» denies once."""
    places = (_denied(text, matches, folded, cue, language) for cue in cues)
    return {place for place in places if place is not None}


def is_negative(word: str) -> bool:
    """A word that denies by itself: «rechazó», «sauf», "only"."""
    return _NEGATIVE.match(word) is not None


def _cues(text: str, matches: Sequence[re.Match[str]], folded: Sequence[str], language: str) -> Iterator[int]:
    cues, failing = _CUES.get(language, frozenset()), _FAILING.get(language, frozenset())
    for place, word in enumerate(folded):
        if (
            word in cues
            or (word in failing and (word != "dejo" or folded[place + 1 : place + 2] == ["de"]))
            or (
                language == "fr"
                and word == "plus"
                and _NE.search(text, max(0, matches[place].start() - 30), matches[place].start())
            )
            or (language == "en" and _NOT.match(text, matches[place].end() - (word[-1:] == "n")))
        ):
            yield place


def _denied(text: str, matches: Sequence[re.Match[str]], folded: Sequence[str], cue: int, language: str) -> int | None:
    """Return the negated word, «signe» in «n'a pas signé» and «ne signe pas»: in French, a word between the two comes first."""
    empty = stop_words(language)
    if language == "fr" and folded[cue] in {"pas", "plus", "jamais", "rien", "personne", "aucun", "aucune", "guere"}:
        for place in range(cue - 1, max(-1, cue - 5), -1):
            if folded[place] in {"ne", "n"}:
                between = [at for at in range(place + 1, cue) if folded[at] not in empty and len(folded[at]) > 1]
                if between:
                    return between[0]
                break
    for place in range(cue + 1, min(len(folded), cue + 1 + _REACH)):
        if _STOP.search(text, matches[place - 1].end(), matches[place].start()):
            return None
        if folded[place] not in empty and len(folded[place]) > 1:
            return place
    return None
