"""Decide whether a question depends on the conversation, by a linear model over its function words and its form.

`training/follow_ups.py` learns the weights of `dependence.tsv`, a feature and its weight a line.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Final

from graphrag.linguistics.language import content_stems, content_words, fold, stem, stop_words
from graphrag.linguistics.language import words as words_of
from graphrag.linguistics.lexicon import find_meanings
from graphrag.linguistics.normalization import flatten
from graphrag.query_transformation.phrases import QuestionGrammar, find_named, find_phrases, read_words

MOST_WORDS: Final = 40  # read of a question: its form shows by then
LONGEST_GRAM: Final = 3
MOST_COUNTED: Final = 5
BIAS: Final = "bias"
FRAGMENT_ADDED: Final = frozenset({"goes on", "fragment"})  # «¿y en mayo?»
_WORD = re.compile(r"[^\W_]+|[?,]")


def depends_on_conversation(question: str, before: str, grammar: QuestionGrammar, cues: frozenset[str]) -> bool:
    """Return whether a question is understood only with what was said `before` it.

    `cues`: what shows it, as follow_ups.find_cues() reads it.
    """
    if cues >= FRAGMENT_ADDED:
        return True
    weights = _weights()
    found = find_features(question, before, grammar, cues)
    return weights[f"{BIAS} {grammar.language}"] + sum(weights.get(feature, 0.0) for feature in found) > 0


@lru_cache(maxsize=1)
def _weights() -> dict[str, float]:
    text = files("graphrag.query_transformation").joinpath("dependence.tsv").read_text("utf-8")
    lines = (line.rsplit("\t", 1) for line in text.splitlines())
    return {feature: float(weight) for feature, weight in lines}


def find_features(question: str, before: str, grammar: QuestionGrammar, cues: frozenset[str]) -> frozenset[str]:
    """Return the features of a question: runs of its function words, and how much of its own it names."""
    return frozenset(_features(question, before, grammar, cues))


def _features(question: str, before: str, grammar: QuestionGrammar, cues: frozenset[str]) -> Iterator[str]:
    language = grammar.language
    tokens = ["^", *_masked(question, language), "$"]
    for size in range(1, LONGEST_GRAM + 1):
        for start in range(len(tokens) - size + 1):
            yield f"{language} {' '.join(tokens[start : start + size])}"
    content = content_stems(question, language)
    said = content_stems(before, language)
    own = [word for word in content_words(question, language) if stem(word, language) not in said]
    lower = [fold(word) for word in own if word.islower()]
    unknown = sum(not meanings for meanings in find_meanings(lower, language))
    phrases = find_phrases(read_words(question, flatten(question)), question, grammar.clauses)
    news = sum(any(stem(word.text, language) in content - said for word in phrase.words) for phrase in phrases)
    yield f"unknown words {min(unknown, 2)}"
    yield f"own phrases {min(news, 2)}, content {min(len(content), MOST_COUNTED)}"
    names = [name for name in find_named(question, grammar.language) if not name.isdigit()]
    yield f"content {min(len(content), MOST_COUNTED)}"
    yield f"words {min(len(words_of(question)), 2 * MOST_COUNTED)}"
    yield f"names {bool(names)}"
    for cue in cues:
        yield f"cue {cue}"
        yield f"cue {cue}, content {min(len(content), MOST_COUNTED)}"
        yield f"cue {cue}, names {bool(names)}"
    yield f"cues {' '.join(sorted(cues))}"
    if content and not names and content & said:
        yield f"shares, content {min(len(content), MOST_COUNTED)}"
        yield f"shares, new {min(len(content - said), MOST_COUNTED)}"


def _masked(question: str, language: str) -> Iterator[str]:
    """Yield the function words as they are, and a sign for any other: for names, numbers and words."""
    empty = stop_words(language)
    for match in list(_WORD.finditer(question))[:MOST_WORDS]:
        folded = fold(match[0])
        if folded in empty or not match[0].isalnum():
            yield folded
        elif match[0].isdigit():
            yield "#"
        else:
            yield "w"
