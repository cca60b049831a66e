"""What a question asks for, by rules in Spanish, French and English: language, intent, its parts."""

import re

from graphrag import language as languages
from graphrag.errors import InvalidQuestion
from graphrag.models import Intent, TransformedQuery

_CAUSAL = re.compile(
    r"\bpor qu[ée]\b|\ba qu[ée] se deb|\bcausas?\b|\bmotivos?\b|\braz[óo]n(?:es)?\b|\bprovoc|\borigin[óo]|\bocasion"
    r"|\bconsecuencias?\b|\bqu[ée] (?:llev[óo]|hizo que)|\befectos?\b"
    r"|\bpourquoi\b|\braisons?\b|\bà cause\b|\bcaus[ée]|\bprovoqu|\bentra[îi]n|\bconséquences?\b|\bpouss[ée]\b|\beffets?\b"
    r"|\bwhy\b|\bhow come\b|\bcause[sd]?\b|\bcausing\b|\breasons?\b|\bled to\b|\blead to\b|\bconsequences?\b|\beffects?\b"
    r"|\bresult(?:ed)? (?:in|of|from)\b|\bwhat made\b",
    re.IGNORECASE,
)
_COMPARATIVE = re.compile(
    r"\bcompar|\bdiferencias?\b|\bm[áa]s .{1,40} que\b|\bmenos .{1,40} que\b|\bfrente a\b"
    r"|\bdifférences?\b|\bplus .{1,40} que\b|\bmoins .{1,40} que\b|\bpar rapport à\b"
    r"|\bdifferences?\b|\bversus\b|\bvs\b|\b(?:more|less|fewer|\w+er) than\b",
    re.IGNORECASE,
)
_TEMPORAL = re.compile(
    r"\bcu[áa]ndo\b|\bqu[ée] (?:d[íi]a|fecha|mes|a[ñn]o|hora)\b|\bhasta qu[ée]\b|\bdesde qu[ée]\b|\bcu[áa]nto tiempo\b"
    r"|\bquand\b|\bquel(?:le)? (?:jour|date|mois|année|heure)\b|\bcombien de temps\b"
    r"|\bwhen\b|\b(?:what|which) (?:day|date|month|year|time)\b|\bhow long\b|\bsince\b",
    re.IGNORECASE,
)
_INTENTS = ((Intent.CAUSAL, _CAUSAL), (Intent.COMPARATIVE, _COMPARATIVE), (Intent.TEMPORAL, _TEMPORAL))
_ASKS = (
    # With their accents: «que», «cuando», «como» and the French «que» join clauses.
    r"(?:por qu[ée]|qué|quién(?:es)?|cuál(?:es)?|cuándo|cu[áa]nt[oa]s?|dónde|cómo"
    r"|pourquoi|qu'est-ce|qui|quel(?:le)?s?|quand|combien|où|comment"
    r"|why|what|who|which|when|where|how)"
)
# «… ? … ?», «…, y por qué …», "… and how …": a new part begins where a conjunction meets a question word.
_BEFORE = r"(?:(?:à|a|en|de|con|desde|hasta|pour|dans|in|at|for|from)\s+)?"
_PART = re.compile(rf"\?\s*¿?\s*(?=\S)|,?\s+(?:y|e|et|and)\s+(?={_BEFORE}{_ASKS}\b)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
MIN_PART_WORDS = 2


def check_question(text: str, *, max_chars: int) -> str:
    """The question without surrounding space. Raises InvalidQuestion with the reason."""
    question = text.strip()
    if not question:
        raise InvalidQuestion("The question is empty: write one.", reason="empty")
    if len(question) > max_chars:
        raise InvalidQuestion(
            f"The question has {len(question)} characters; at most {max_chars} are allowed: shorten it.",
            reason="too_long",
            limit=max_chars,
        )
    if _CONTROL.search(question):
        raise InvalidQuestion("The question holds control characters: remove them.", reason="control_characters")
    return question


def transform(question: str) -> TransformedQuery:
    intent = next((intent for intent, pattern in _INTENTS if pattern.search(question)), Intent.FACTUAL)
    return TransformedQuery(question, languages.detect_question(question), intent, split_parts(question))


def split_parts(question: str) -> tuple[str, ...]:
    """The parts of a question that asks several things; empty where it asks one."""
    parts = [part.strip(" ¿?,;") for part in _PART.split(question)]
    parts = [part for part in parts if len(languages.words(part)) >= MIN_PART_WORDS]
    return tuple(parts) if len(parts) > 1 else ()
