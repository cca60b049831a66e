"""Every sentence of an answer that is ours and not a document's or a model's, in Spanish, French and English."""

import re
from typing import Final

from graphrag.extractive_answers.composition import OWN_SENTENCES
from graphrag.linguistics.rules import read_texts

DEFAULT_LANGUAGE: Final = "es"
_WORD: Final = re.compile(r"\w+")

_OWN: Final = ("not_found", "no_chat_model", "lead_other_language", "closest")  # what we say in an answer

_MESSAGES: Final[dict[str, dict[str, str]]] = {
    "not_found": {language: own.not_found for language, own in OWN_SENTENCES.items()},
    "no_chat_model": {language: own.no_chat_model for language, own in OWN_SENTENCES.items()},
    "lead_other_language": {language: own.lead for language, own in OWN_SENTENCES.items()},
    "no_part": {language: own.no_part for language, own in OWN_SENTENCES.items()},
    "closest": {language: own.closest for language, own in OWN_SENTENCES.items()},
    **read_texts("agent", "messages"),
}


def is_not_found(answer: str, language: str) -> bool:
    """Return whether an answer says that nothing was found, however its quotes and apostrophes are written."""
    said = _WORD.findall(answer)
    return any(said == _WORD.findall(say(key, language)) for key in ("not_found", "empty_collection"))


def opens_closest(answer: str, language: str) -> bool:
    """Return whether an answer says that it is none, and what comes closest."""
    said, opening = _WORD.findall(answer), _WORD.findall(say("closest", language))
    return said[: len(opening)] == opening


def is_no_part(line: str) -> bool:
    """Return whether a line says that nothing answers a part of the question."""
    return any(_opens(line, text) for text in _MESSAGES["no_part"].values())


def is_own(sentence: str) -> bool:
    """Return whether a sentence is one of ours, in any language, and so says nothing of the documents."""
    said = _WORD.findall(sentence)
    if is_no_part(sentence):
        return True
    return any(said == _WORD.findall(text) for key in _OWN for text in _MESSAGES[key].values())


def _opens(sentence: str, text: str) -> bool:
    """«Sin respuesta en los documentos: …», as an item of a list or not."""
    opening, _, _ = text.partition("{part}")
    return sentence.lstrip("-* ").startswith(opening.strip())


def without_lead(statement: str) -> str:
    """Remove the introduction of an answer that quotes documents in another language."""
    for lead in _MESSAGES["lead_other_language"].values():
        if statement.startswith(lead):
            return statement[len(lead) :].lstrip()
    return statement


def say(key: str, language: str) -> str:
    """KeyError for a key that does not exist; the default language for one that we do not speak."""
    sentences = _MESSAGES[key]
    return sentences.get(language, sentences[DEFAULT_LANGUAGE])
