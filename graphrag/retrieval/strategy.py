"""Which search suits a question: its very words, its meaning, or both."""

import re
from typing import Literal

from graphrag import language as languages
from graphrag.function_words import QUESTION_WORDS
from graphrag.models import Strategy

Reason = Literal["quoted words", "keywords", "a long question about a meaning", "neither words nor meaning alone"]
MOST_KEYWORDS = 3
LEAST_WORDS_OF_MEANING = 9  # so many words that carry meaning outvote a wording that the documents do not share
_QUOTED = re.compile(r'"(?=\S)([^"]{2,})(?<=\S)"|«([^«»]{2,})»|“([^“”]{2,})”')
_IDENTIFIER = re.compile(r"\d")  # A-2517, L4, 2025: to be found as they are written
_NAME = re.compile(r"(?<=\w[ ,'’])[A-ZÀ-ÖØ-Þ]\w")
_ASKING = {languages.fold(word) for text in QUESTION_WORDS.values() for word in text.split()}


def choose_strategy(question: str, language: str, *, model_is_strong: bool) -> tuple[Strategy, Reason]:
    """Words or meaning alone only where the other could add little; hybrid is never far from the better of both."""
    if quoted_phrases(question):
        return "fulltext", "quoted words"
    if _is_keywords(question, language):
        return "fulltext", "keywords"
    if model_is_strong and _is_all_meaning(question, language):
        return "semantic", "a long question about a meaning"
    return "hybrid", "neither words nor meaning alone"


def quoted_phrases(text: str) -> list[str]:
    return ["".join(groups).strip() for groups in _QUOTED.findall(text)]


def _is_keywords(question: str, language: str) -> bool:
    words = languages.words(question)
    asks = "?" in question or any(languages.fold(word) in _ASKING for word in words)
    return not asks and 0 < len(languages.content_words(question, language)) <= MOST_KEYWORDS


def _is_all_meaning(question: str, language: str) -> bool:
    is_long = len(languages.content_words(question, language)) >= LEAST_WORDS_OF_MEANING
    return is_long and not _IDENTIFIER.search(question) and not _NAME.search(question)
