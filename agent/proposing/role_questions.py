"""Questions for what the people of a document do: «Teresa Abadía, responsable de Calidad», "their buyer, Ann Lee"."""

import re
from collections.abc import Iterator

from agent.proposing.people import FULL_NAME
from agent.proposing.questions import MadeQuestion, ReadDocument

_ROLES = {
    "es": r"(?:(?:responsable|jef[ea]|técnic[oa]|gerente|encargad[oa]|operari[oa]|presidente|vocal)"
    r"|(?:director|ajustador|conductor|coordinador)a?)",
    "fr": r"(?:responsable|direct(?:eur|rice)|chef(?:fe)?|technicien(?:ne)?|gérante?|acheteu(?:r|se)|audit(?:eur|rice)"
    r"|présidente?)",
    "en": r"(?:(?:\w+ )?(?:manager|director|buyer|engineer|mixer|technician|supervisor|auditor)|head|chair|leader)",
}
_OPEN = {
    "es": r"(?:(?:el|la|su|nuestr[oa]) )?",
    "fr": r"(?:(?:le|la|son|sa|leur|notre) |l['’])?",
    "en": r"(?:(?:the|an?|his|her|its|our|their) |[A-Z]\w+['’]s )?",
}
_ASKS = {
    "es": "¿Qué puesto tiene {}?",
    "fr": "Quelle est la fonction de {} ?",
    "en": "What is {}’s role?",
}
_OPENS = re.compile(r"(?:el|la|su|nuestr[oa]|le|son|sa|leur|notre|the|an?|his|her|its|our|their) |l['’]", re.IGNORECASE)
_PRAISE = re.compile(r"\b(?:muy|très|very)\b")  # no role: «una encargada muy querida»
_VOWEL = re.compile(r"[AEIOUÉÈÊÎÔ]", re.IGNORECASE)


def role_questions(read: ReadDocument) -> Iterator[MadeQuestion]:
    """Each person is asked for once, whatever else the document calls them."""
    asked: set[str] = set()
    for span in read.sentences:
        sentence = read.read(span)
        for match in _pattern(read.language).finditer(sentence):
            name = match["a"] or match["b"] or match["c"]
            role = match["x"] or match["y"] or match["z"]
            if name not in asked and not _PRAISE.search(role):
                asked.add(name)
                quote = read.text[span.start : span.end].strip()
                yield MadeQuestion(
                    _question(name, read.language),
                    _bare(role),
                    quote,
                    "factual",
                    "role",
                )


def _bare(role: str) -> str:
    opening = _OPENS.match(role.strip())
    return role.strip()[opening.end() :] if opening else role.strip()


def _pattern(language: str) -> re.Pattern[str]:
    role = rf"{_OPEN[language]}{_ROLES[language]}\b[^,.;:()\d]{{0,50}}"
    return re.compile(
        rf"(?P<a>{FULL_NAME}), (?P<x>{role})(?=[,.;)])"
        rf"|(?P<b>{FULL_NAME}) \((?P<y>{role})\)"
        rf"|(?<![\w'’-])(?P<z>(?i:{_OPEN[language]}){_ROLES[language]}\b[^,.;:()\d]{{0,40}}), "
        rf"(?P<c>{FULL_NAME})(?=[,.;)])"
    )


def _question(name: str, language: str) -> str:
    asks = _ASKS[language].replace("de {}", "d'{}") if language == "fr" and _VOWEL.match(name) else _ASKS[language]
    return asks.format(name)
