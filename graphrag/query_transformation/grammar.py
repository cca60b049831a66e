"""What the rules know of a language: its question words, and how it asks for causes, times and comparisons."""

import re
from dataclasses import dataclass


def alternatives(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


def exactly(*patterns: str) -> re.Pattern[str]:
    """As alternatives, but in capitals only what is in capitals: accented question words."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def one_of(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


@dataclass(frozen=True, slots=True)
class Asking:
    """Where a question begins to ask. All patterns read flattened text."""

    opening: re.Pattern[str]  # a question phrase: «para qué», "by when"
    sure: re.Pattern[str] | None  # one that can't be anything else, wherever it stands
    verbs: re.Pattern[str]  # «dime», "can you find out": what asks without a question mark
    polite: re.Pattern[str]  # what may stand before all that
    relative: re.Pattern[str]  # after a comma: it may go on with what was said
    last: re.Pattern[str]  # a question word at the end


@dataclass(frozen=True, slots=True)
class Intents:
    """`…` patterns are matched where the question begins to ask; those of `found` anywhere in it."""

    effects: re.Pattern[str]
    causes: re.Pattern[str]
    times: re.Pattern[str]  # question words that can ask for nothing else
    timely: re.Pattern[str]  # nouns of time
    compares: re.Pattern[str]
    found_comparing: re.Pattern[str]
    not_comparing: re.Pattern[str]  # blotted out first
    last_time: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Clauses:
    """How parts are joined, and what words of a part belong together."""

    joint: re.Pattern[str]  # before a further question
    determiners: frozenset[str]
    prepositions: frozenset[str]
    binding: frozenset[str]  # prepositions that make one phrase of two
    breaks: frozenset[str]  # words that no noun phrase goes across
    weak_heads: frozenset[str]  # «ruido», "price": of «the noise of the pump» one goes on to speak of the pump


@dataclass(frozen=True, slots=True)
class Comparing:
    """How compared things stand in a question."""

    joints: re.Pattern[str]  # between the things
    than: re.Pattern[str]
    grades: re.Pattern[str]  # «peor», "colder": adjectives that compare
    words: frozenset[str]  # of comparing: no part of what is compared
    rest: frozenset[str]  # «the others», «last year»: nothing to be searched for apart


@dataclass(frozen=True, slots=True)
class Grammar:
    language: str
    asking: Asking
    intents: Intents
    clauses: Clauses
    comparing: Comparing
    multi_hop: re.Pattern[str]


def folded(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())
