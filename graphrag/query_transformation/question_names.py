"""Names, titles and codes in a question."""

import re

from graphrag.linguistics.date_tokens import months
from graphrag.linguistics.language import stop_words
from graphrag.linguistics.normalization import flatten
from graphrag.query_transformation.phrases import QuestionGrammar, QuestionToken, beginning, read_words

_QUOTED = re.compile(r"«\s*([^«»]+?)\s*»|“([^“”]+)”|\"([^\"]+)\"")
_CODE = re.compile(r"(?=\w*\d)(?=\w*[A-Za-z])[\w-]{2,}|\w+-\d[\w-]*")
_JOINTS = frozenset("de del la las los le du des d of the van von da di y".split())
_FINAL_JOINTS = 2  # small words in a row: «Casa de la Vega»
MOST_NAMES = 20


def find_names(question: str, grammar: QuestionGrammar) -> tuple[str, ...]:
    """Quoted titles, runs of capitalised words but not the first word for itself, and codes, in their order."""
    quoted = [(match.start(), match.end(), next(filter(None, match.groups()))) for match in _QUOTED.finditer(question)]
    flat = flatten(question)
    words = [word for word in read_words(question, flat) if not any(a <= word.start < b for a, b, _ in quoted)]
    found = [(start, title) for start, _, title in quoted]
    found += _runs(words, question, beginning(flat, grammar.asking), grammar)
    return tuple(dict.fromkeys(name for _, name in sorted(found)))[:MOST_NAMES]


def _runs(words: list[QuestionToken], question: str, start: int, grammar: QuestionGrammar) -> list[tuple[int, str]]:
    empty = stop_words(grammar.language) | grammar.clauses.breaks | grammar.clauses.determiners
    runs, number = [], 0
    while number < len(words):
        if not _is_capital(words[number], empty):
            number += 1
            continue
        end = _end_of_run(words, number, empty)
        opens = number == 0 or words[number].start == start
        if end - number > 1 or not opens or _CODE.fullmatch(words[number].text):
            runs.append((words[number].start, question[words[number].start : words[end - 1].end]))
        number = end
    return runs


def _end_of_run(words: list[QuestionToken], first: int, empty: frozenset[str]) -> int:
    end = first + 1
    while end < len(words) and not words[end].is_apart:
        ahead = end
        while (
            ahead < len(words)
            and ahead - end < _FINAL_JOINTS
            and words[ahead].flat in _JOINTS
            and words[ahead].text.islower()
        ):
            ahead += 1
        if (
            ahead >= len(words)
            or words[ahead].is_apart
            or not (_is_capital(words[ahead], empty) or words[ahead].text.isdigit())
        ):
            return end
        end = ahead + 1
    return end


def _is_capital(word: QuestionToken, empty: frozenset[str]) -> bool:
    return bool(_CODE.fullmatch(word.text)) or (
        word.text[0].isupper() and word.flat not in empty and word.flat not in months()
    )
