"""Turn a statement's clause into a question."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from graphrag.causal_graph.grammar import read_causal_grammar
from graphrag.linguistics.language import content_words, words
from graphrag.linguistics.names import NAME
from graphrag.linguistics.normalization import normalize
from graphrag.linguistics.rules import AnyCase, Pattern, Rules, read_rules

_IRREGULAR = {
    past: base
    for pair in (
        "came:come went:go took:take ran:run lost:lose fell:fall broke:break rose:rise made:make "
        "left:leave met:meet got:get gave:give kept:keep told:tell said:say saw:see found:find felt:feel "
        "became:become began:begin grew:grow held:hold brought:bring bought:buy sent:send spent:spend "
        "built:build paid:pay sold:sell won:win wrote:write drove:drive froze:freeze burst:burst "
        "shut:shut cut:cut led:lead meant:mean sank:sink spoke:speak chose:choose stood:stand"
    ).split()
    for past, base in [pair.split(":")]
}


class QuestionWordingRules(Rules):
    doubled: Pattern
    without_e: Pattern
    with_e: Pattern
    words: dict[str, dict[str, str]]
    cause_of: dict[str, str]
    trigger_of: dict[str, str]
    points: dict[str, AnyCase]
    opening: dict[str, Pattern]
    article: AnyCase
    noun: Pattern
    second: dict[str, Pattern]
    connective: dict[str, Pattern]
    group: Pattern


@lru_cache(maxsize=1)
def _rules() -> QuestionWordingRules:
    return read_rules(QuestionWordingRules, "agent.proposals", "wording")


def base_form(past: str) -> str | None:
    """None where the rules are not sure of it."""
    if past in _IRREGULAR:
        return _IRREGULAR[past]
    if past.endswith("ied"):
        return f"{past[:-3]}y"
    if doubled := _rules().doubled.fullmatch(past):
        return doubled[1] + doubled[2]
    found = _rules().without_e.fullmatch(past) or _rules().with_e.fullmatch(past)
    return found[1] if found else None


Asked = Literal["why", "when"]
MAX_WORDS, FEWEST_WORDS = 18, 3  # of a clause that makes a question which is read at once
MAX_SUBJECT_WORDS = 10
MAX_PHRASE_WORDS = 8  # of a noun phrase: a longer one may be a clause whose verb nobody recognised
MIN_CONTENT_WORDS = {
    "why": 4,
    "when": 2,
}  # of a question without a name or a number: else it is nobody's in particular
_POSSESSIVE = re.compile(r"\b(?:sus?|son|sa|ses|leurs?|his|her|its|their)\b", re.IGNORECASE)  # of the subject, after it
_DETERMINER = re.compile(r"(?:el|la|los|las|un|una|le|les|une|the|an?)\s|l['’]", re.IGNORECASE)
_BEFORE_VERB = re.compile(r"(?:\b(?:no|se|le|les|ya|apenas|casi|nunca|nadie)\s+)+$")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|have|had|will|can|could|would|must)\b")
_VOWEL = re.compile(r"[aeiouyhàâéèêëîïôûœ]", re.IGNORECASE)


def ask(asked: Asked, clause: str, language: str) -> str | None:
    """None where no question comes of it that is grammatical and understood without the text around it."""
    bare = _tidy(clause, language)
    if bare is None or not _is_particular(bare, asked, language) or (verb := _verb(bare, language)) is None:
        return None
    if _POSSESSIVE.search(bare, 0, verb.start()):
        return None
    told = _TURNED[language](bare, verb, asked)
    return _rules().words[language][asked].format(told) if told else None


def ask_cause(phrase: str, language: str, *, triggered: bool = False) -> str | None:
    """Ask for the cause of a noun phrase."""
    bare = _tidy(phrase, language)
    if bare is None or _verb(bare, language) or not _DETERMINER.match(bare) or _POSSESSIVE.search(bare):
        return None
    if len(words(bare)) > MAX_PHRASE_WORDS or not _is_particular(bare, "why", language):
        return None
    return (_rules().trigger_of if triggered else _rules().cause_of)[language].format(bare)


def has_verb(text: str, language: str) -> bool:
    return _verb(text, language) is not None


def is_alone(text: str, language: str) -> bool:
    """Return whether it is understood without the text around it."""
    return _rules().points[language].search(text) is None


def lowered(text: str) -> str:
    """Lower the first letter for the middle of a sentence: of an article or a noun, not of a name."""
    return text[0].lower() + text[1:] if _rules().article.match(text) or _rules().noun.match(text) else text


def _tidy(clause: str, language: str) -> str | None:
    """One clause without asides, or None."""
    text = " ".join(clause.split()).strip(" .;:,")
    text = _rules().connective[language].sub("", _without_aside(text, language))
    text = _first_clause(text, language)
    count = len(words(text))
    is_read = FEWEST_WORDS <= count <= MAX_WORDS and not re.search(r"[;:?!()\[\]«»\"“”—–|]", text)
    if not text or not is_read or not _rules().opening[language].match(text) or not is_alone(text, language):
        return None
    return lowered(text)


def _without_aside(text: str, language: str) -> str:
    """Return the clause without its aside, and without what follows a single comma.

    «El lote A-2518, en cambio, se detuvo» → «El lote A-2518 se detuvo»; "Their cook, Ann, left" → "Ann left".
    """
    parts = text.split(", ")
    if len(parts) > 1 and _verb(parts[0], language):
        return parts[0]
    if len(parts) == 3:
        return f"{parts[1]} {parts[2]}" if NAME.fullmatch(parts[1]) else f"{parts[0]} {parts[2]}"
    return text if len(parts) == 1 else ""


def _first_clause(text: str, language: str) -> str:
    for joint in _rules().second[language].finditer(text):
        if _verb(text[: joint.start()], language) and _verb(text[joint.end() :], language):
            return text[: joint.start()]
    return text


def _is_particular(text: str, asked: Asked, language: str) -> bool:
    has_name = any(word[0].isupper() or word[0].isdigit() for word in words(text)[1:])
    return has_name or len(content_words(text, language)) >= MIN_CONTENT_WORDS[asked]


def _verb(text: str, language: str) -> re.Match[str] | None:
    """The first finite one; no name that looks like one: «Abadía»."""
    found = re.finditer(read_causal_grammar(language).finite, normalize(text))
    return next((match for match in found if text[match.start()].islower()), None)


def _spanish(clause: str, verb: re.Match[str], asked: Asked) -> str | None:
    """Return the question with the verb before its subject: «¿Por qué no se revisó el gráfico hasta abril?»."""
    start, end = verb.span()
    if before := _BEFORE_VERB.search(clause[:start]):
        start = before.start()
    if participle := _rules().group.match(clause, end):
        end = participle.end()
    subject, rest = clause[:start].strip(), clause[end:].strip()
    if not subject:
        return clause
    if len(words(subject)) > MAX_SUBJECT_WORDS or re.search(r"\b(?:que|quien|donde)\b", subject):
        return clause if asked == "why" else None
    return " ".join(filter(None, [clause[start:end].strip(), subject, rest]))


def _french(clause: str, verb: re.Match[str], asked: Asked) -> str | None:
    if asked == "when" and re.search(r"\bqu[ei]\b|\bqu['’]", clause[: verb.start()]):
        return None
    return f"est-ce qu'{clause}" if _VOWEL.match(clause) else f"est-ce que {clause}"


def _english(clause: str, verb: re.Match[str], asked: Asked) -> str | None:
    """The auxiliary before the subject: "Why was lot A-2517 recalled?"; else with "did"."""
    subject, rest = clause[: verb.start()].strip(), clause[verb.end() :].strip()
    if not subject or len(words(subject)) > MAX_SUBJECT_WORDS or re.search(r",|\bthat\b", subject):
        return None
    said = verb[0].strip()
    if _AUXILIARY.fullmatch(said):
        return " ".join(filter(None, [said, subject, rest])) if rest else None
    base = base_form(said)
    return " ".join(filter(None, ["did", subject, base, rest])) if base and not _verb(rest, "en") else None


_TURNED: dict[str, Callable[[str, re.Match[str], Asked], str | None]] = {"es": _spanish, "fr": _french, "en": _english}
