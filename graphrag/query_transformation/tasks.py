"""Task classifier: what a message asks the service to do, read before anything is searched.

A multinomial logistic regression over words, word pairs and triples, character n-grams and a few rule features tells
the tasks apart; `training/tasks.py` fits it from the sentences in `training/tasks/` and writes `tasks.npz`. The reader,
which knows other wordings of the same, has its say where it is installed. Six tasks
are answered without a search of the documents, so that a wrong one there loses an answer: they need a higher
probability than the others. What no task reaches its threshold for is a `Task.QUESTION`, which is searched for.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrag.embeddings.reader import open_reader
from graphrag.linguistics.language import all_stop_words, fold, is_foreign, visible, words
from graphrag.linguistics.normalization import flatten, without_quotes
from graphrag.linguistics.rules import Pattern, Rules, read_rules
from graphrag.query_transformation.phrases import find_intent, read_question_grammar


class Task(StrEnum):
    SMALL_TALK = "small_talk"
    ABOUT_CAUSEWAY = "about_causeway"
    CATALOGUE = "catalogue"
    SUMMARISE = "summarise"
    TRANSFORM_ANSWER = "transform_answer"
    CANNOT_DO = "cannot_do"
    LIST = "list"
    COMPARE = "compare"
    DEFINE = "define"
    LOOK_UP = "look_up"
    YES_NO = "yes_no"
    WHY = "why"
    WHAT_FOLLOWED = "what_followed"
    QUESTION = "question"


TASKS = tuple(Task)
WITHOUT_SEARCH = frozenset(TASKS[:6])  # of the documents by the message's own words
LEAST_ASKED = 3  # words that are left of a question
# The reader knows more wordings, the regression more surely what is a question: of messages that neither was fitted on,
# both together read 76 to 83 of 100 rightly, the regression alone 60 to 78.
REGRESSION_WEIGHT, LEAST_SHARE = 0.5, 1e-3
SURE, LEAST_TOGETHER = 0.95, 0.9  # of a task without a search: alone, so that none other is asked; of both together
LEAST_READ = 2  # words of a message: one alone tells the reader too little
LEAST_SURE = 0.5  # probability of the one task without a search: of several likely ones, none is sure
_SEARCHLESS = np.array([task in WITHOUT_SEARCH for task in TASKS])
_WITHOUT_TOPIC = np.isin(TASKS, [Task.SMALL_TALK, Task.ABOUT_CAUSEWAY, Task.TRANSFORM_ANSWER])
_NO_TASK = np.zeros(len(TASKS), bool)
_QUESTION = TASKS.index(Task.QUESTION)
_TRANSFORM_ANSWER = TASKS.index(Task.TRANSFORM_ANSWER)


@dataclass(frozen=True)
class TaskReading:
    task: Task
    probability: float
    slots: Mapping[str, str] = field(default_factory=dict)


READ_CHARS = 500  # at the beginning, and half as many at the end: who pastes a text says there what to do with it
MOST_TOKENS = 60
PREFIX_WIDTHS = (4, 5, 6)
MOST_TOKEN_CHARS = 24
MOST_PHRASE_TOKENS = 4
_TOKEN = re.compile(r"[\w-]{1,60}\.(?:pdf|docx?|xlsx?|csv|md|txt|pptx?|odt|html?|eml|json)\b|[^\W_]+|[?!]|[:;]-?[)D(]")
_FILE_NAME = re.compile(r"\.[a-z]+$")
_DIGITS = re.compile(r"\d+")
_ALPHANUMERIC = re.compile(r"[^\W_]")
_QUOTED = re.compile(r"«[^«»]*»|“[^“”]*”|\"[^\"]*\"")
_INITIAL_CAPITAL = re.compile(r"(?<=[\w,] )[A-ZÀ-Þ][\w-]+")


class TaskRules(Rules):
    courtesy: Pattern  # greetings, thanks and polite words, at the beginning or the end of a message
    thanks: Pattern  # and what for: «gracias, me has ayudado mucho»
    telling: Pattern  # what asks to be told, before the question itself: «could you tell me»
    download: Pattern
    summary_words: Pattern
    linking_words: Pattern
    whole_collection: Pattern
    since: Pattern
    changes: dict[str, Pattern]
    languages: dict[str, Pattern]
    unavailable: dict[str, Pattern]
    catalogue: dict[str, Pattern]
    catalogue_words: Pattern
    concepts: dict[str, Pattern]


@lru_cache(maxsize=1)
def _rules() -> TaskRules:
    return read_rules(TaskRules, "graphrag.query_transformation", "tasks")


def _read(message: str) -> str:
    text = message if len(message) <= 2 * READ_CHARS else f"{message[:READ_CHARS]} {message[-READ_CHARS // 2 :]}"
    return " ".join(visible(text).split())


def _without_courtesy(text: str) -> tuple[str, bool]:
    """Return the text without greetings, thanks and polite words around it, and whether there were any."""
    flat = flatten(text).lower()
    begin, end = 0, len(text)
    for _ in range(3):
        if match := _rules().courtesy.match(flat, begin):
            begin = match.end()
    last_word = max((match.start() for match in _ALPHANUMERIC.finditer(flat)), default=-1)
    for match in _rules().courtesy.finditer(flat, begin):
        if match.end() > last_word:
            end = match.start()
            break
    rest = text[begin:end].strip(" ,.;:-")
    return (rest, len(rest) < len(text.strip(" ,.;:-"))) if _has_word(rest) else (text, False)


def bare_question(text: str) -> str:
    """Return a question without greetings, thanks and what asks to be told; as it is where little would be left."""
    rest, is_courteous = _without_courtesy(text)
    told = _rules().telling.match(flatten(rest).lower())
    rest = rest[told.end() :] if told else rest
    if not (told or is_courteous) or len(words(rest)) < LEAST_ASKED:
        return text
    return rest if "?" in rest or "?" not in text else f"{rest}?"


def _has_word(text: str) -> bool:
    return any(character.isalnum() for character in text)


def read_features(message: str, language: str, task_words: frozenset[int]) -> Iterator[str]:
    """Yield the names of a message's features; a name may come more than once.

    `task_words` are the hashes of the words that are written as they are; runs of others, which name what the message
    is about, become "*", so that the frame of a sentence is told whatever it speaks of.
    """
    text, is_courteous = _without_courtesy(_read(message))
    tokens = _tokens(text)
    found = [token for token in tokens if token not in ("?", "!")]
    framed = ["^", *_collapsed(token if hash_name(token) in task_words else "*" for token in found), "$"]
    yield f"length={_bucket(len(found))}"
    yield f"language={language}"
    if is_courteous:
        yield "courteous"
    if "?" in tokens:
        yield "asks"
    if _INITIAL_CAPITAL.search(text):
        yield "names"
    for width in (1, 2, 3, 4):
        yield from (" ".join(framed[start : start + width]) for start in range(len(framed) - width + 1))
    yield from (f"{one} … {other}" for one, other in zip(framed, framed[2:], strict=False))
    yield f"{framed[1]} … {framed[-2]}"
    meant = ["^", *_collapsed(map(_concept, found)), "$"]
    for width in (1, 2, 3):
        yield from ("@" + " ".join(meant[start : start + width]) for start in range(len(meant) - width + 1))
    yield from (f"@{one} … {other}" for one, other in zip(meant, meant[2:], strict=False))
    intent, direction = find_intent(without_quotes(flatten(text)), read_question_grammar(language))
    yield f"intent={intent} {direction}"
    yield from (f"~{token[:width]}" for token in found for width in PREFIX_WIDTHS if len(token) >= width)
    yield from (f"{found[0][-width:]}~" for width in (2, 3) if found)  # «resumemelo»
    unknown = sum(not _is_known(token, task_words) for token in found)
    yield f"unknown={_bucket(unknown)}"
    yield f"known={_bucket(len(found) - unknown)}"
    yield f"share={4 * unknown // max(1, len(found))}"


def _collapsed(tokens: Iterable[str]) -> Iterator[str]:
    before = ""
    for token in tokens:
        if not token == before == "*":
            yield token
        before = token


@lru_cache(maxsize=20_000)
def _concept(token: str) -> str:
    return next((name for name, words in _rules().concepts.items() if words.fullmatch(token)), "*")


def _tokens(text: str) -> list[str]:
    return [_normal(token) for token in _TOKEN.findall(_QUOTED.sub(" quoted ", text))][:MOST_TOKENS]


def _is_known(token: str, task_words: frozenset[int]) -> bool:
    return hash_name(token) in task_words or _concept(token) != "*"


def _normal(token: str) -> str:
    folded = fold(token[:MOST_TOKEN_CHARS])
    return "filename" if "." in token and _FILE_NAME.search(folded) else _DIGITS.sub("0", folded)


def _bucket(count: int) -> int:
    return count if count < 4 else 4 if count < 6 else 6 if count < 9 else 9 if count < 15 else 15


def hash_features(names: Sequence[str]) -> NDArray[np.uint32]:
    """Return the distinct features as sorted 32-bit hashes."""
    return np.unique(np.fromiter(map(hash_name, names), np.uint32, len(names)))


def hash_name(name: str) -> int:
    return zlib.crc32(name.encode())


@dataclass(frozen=True)
class TaskModel:
    """Weights of the logistic regression. A message's features all have the value 1 / √(their number)."""

    task_words: frozenset[int]  # hashes
    signal_words: frozenset[int]  # hashes of those that messages of the tasks without search have more than questions
    features: NDArray[np.uint32]  # sorted hashes
    weights: NDArray[np.int8]  # (features, tasks), in units of `scales`
    scales: NDArray[np.float32]  # one a task
    bias: NDArray[np.float32]
    search_threshold: float  # of the tasks that are searched for
    no_search_threshold: float

    def probabilities(self, message: str, language: str) -> NDArray[np.float64]:
        hashes = hash_features([*read_features(message, language, self.task_words)])
        rows = np.searchsorted(self.features, hashes)
        rows = rows[self.features[np.minimum(rows, len(self.features) - 1)] == hashes]
        scores = self.weights[rows].sum(0, dtype=np.int32) * self.scales / np.sqrt(len(hashes)) + self.bias
        shares = np.asarray(np.exp(scores - scores.max()), np.float64)
        excluded = self._excluded(message)
        shares[_QUESTION] += shares[excluded].sum()
        shares[excluded] = 0
        return np.asarray(shares / shares.sum(), np.float64)

    def _excluded(self, message: str) -> NDArray[np.bool_]:
        """Return the tasks that a message has too many words of other things for."""
        tokens = _tokens(_without_courtesy(_read(message))[0])
        content = [token for token in tokens if token not in all_stop_words() and token[0].isalnum()]
        known = sum(_is_known(token, self.signal_words) for token in content)
        if not _has_word("".join(tokens)) or (content and not known):
            return _SEARCHLESS
        if not content:
            return _NO_TASK
        is_phrase = len(tokens) <= MOST_PHRASE_TOKENS  # «Simple complaint», a title
        return _WITHOUT_TOPIC if len(content) > 2 * known - is_phrase else _NO_TASK


@lru_cache(maxsize=1)
def read_model() -> TaskModel:
    with files("graphrag.query_transformation").joinpath("tasks.npz").open("rb") as file:
        arrays: dict[str, Any] = dict(np.load(file))
    thresholds = arrays.pop("thresholds")
    return TaskModel(
        frozenset(arrays.pop("task_words").tolist()),
        frozenset(arrays.pop("signal_words").tolist()),
        **arrays,
        search_threshold=float(thresholds[0]),
        no_search_threshold=float(thresholds[1]),
    )


def load() -> None:
    """Read the model, which the first message would wait for otherwise."""
    read_model()
    _rules()


def classify_task(message: str, language: str, *, has_answer: bool = False) -> TaskReading:
    """Return what a message asks for; `has_answer`: whether the conversation has an answer that could be changed."""
    if _rules().thanks.fullmatch(flatten(_read(message)).lower()):
        return TaskReading(Task.SMALL_TALK, 1.0, {})
    text, _ = _without_courtesy(_read(message))
    if has_answer and _rules().download.fullmatch(flatten(text).lower().strip("¿¡ ")):
        return TaskReading(Task.TRANSFORM_ANSWER, 1.0, {"change": "csv"})
    model = read_model()
    shares = model.probabilities(message, language)
    task, probability = choose_task(shares, model, has_answer=has_answer)
    together = _read_together(message, shares)
    if together is not None and (task not in WITHOUT_SEARCH or TASKS[int(together.argmax())] is not task):
        together_model = replace(model, no_search_threshold=LEAST_TOGETHER)
        task, probability = choose_task(together, together_model, has_answer=has_answer)
    return TaskReading(task, probability, _slots(task, message))


def _read_together(message: str, shares: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the share of each task by what the reader and the regression tell together; None if it need not ask."""
    reader, text = open_reader(), _read(message)
    is_told = shares[_SEARCHLESS].max() >= SURE or len(words(text)) < LEAST_READ
    if reader is None or is_told or is_foreign(text):
        return None
    both = np.exp(reader.read_task(text).astype(np.float64)) * (shares + LEAST_SHARE) ** REGRESSION_WEIGHT
    return np.asarray(both / both.sum(), np.float64)


def choose_task(probabilities: NDArray[np.float64], model: TaskModel, *, has_answer: bool) -> tuple[Task, float]:
    """Return the likeliest task if it reaches its threshold, else `Task.QUESTION`; with its probability."""
    shares = probabilities.copy()
    if not has_answer and shares.argmax() == _TRANSFORM_ANSWER:
        return Task.QUESTION, float(shares[_TRANSFORM_ANSWER] + shares[_QUESTION])
    may_be = _SEARCHLESS & (has_answer | (np.arange(len(TASKS)) != _TRANSFORM_ANSWER))
    best = int(np.where(may_be, shares, 0).argmax())
    if shares[_SEARCHLESS].sum() >= model.no_search_threshold and shares[best] >= LEAST_SURE:
        return TASKS[best], float(shares[best])
    shares[_QUESTION] += shares[_SEARCHLESS].sum()
    shares[_SEARCHLESS] = 0
    best = int(shares.argmax())
    if shares[best] < model.search_threshold:
        best = _QUESTION
    return TASKS[best], float(shares[best])


def _slots(task: Task, message: str) -> Mapping[str, str]:
    """Return what else the message says: the values as it writes them, kinds as they are named in `rules/tasks.yml`.

    - summarise: `target`, the named text, which lacks for the whole collection; `since`, a phrase of time
    - transform_answer: `change`, `csv` for its table as a file; `language`, ISO 639-1, where that is the change
    - cannot_do: `kind`
    - catalogue: `kind`; `filters`, what the documents asked for are, as «spreadsheets from March»
    """
    rules, text = _rules(), _read(message)
    flat = flatten(text).lower()
    if task is Task.SUMMARISE:
        return _summary_slots(text, flat)
    if task is Task.TRANSFORM_ANSWER:
        language = next((name for name, words in rules.languages.items() if words.search(flat)), "")
        change = _first_found(rules.changes, flat, "language" if language else "other")
        return {"change": change, "language": language} if change == "language" and language else {"change": change}
    if task is Task.CANNOT_DO:
        return {"kind": _first_found(rules.unavailable, flat, "other")}
    if task is Task.CATALOGUE:
        filters = " ".join(_left_over(text, flat, rules.catalogue_words))
        return {"kind": _first_found(rules.catalogue, flat, "list"), **({"filters": filters} if filters else {})}
    return {}


def _summary_slots(text: str, flat: str) -> Mapping[str, str]:
    rules, slots = _rules(), {}
    if match := rules.since.search(flat):
        slots["since"] = text[match.start() : match.end()].strip()
        text, flat = (f"{each[: match.start()]};{each[match.end() :]}" for each in (text, flat))
    parts = _left_over(text, flat, rules.summary_words)
    named = [
        part
        for part in map(_without_link, parts)
        if _has_word(part)
        and not rules.whole_collection.fullmatch(flatten(part).lower())
        and not rules.courtesy.fullmatch(part.lower())
    ]
    return {**slots, "target": max(named, key=len)} if named else slots


def _without_link(part: str) -> str:
    match = _rules().linking_words.match(flatten(part).lower())
    return part[match.end() :] if match else part


def _first_found(patterns: Mapping[str, re.Pattern[str]], flat: str, default: str) -> str:
    return next((name for name, pattern in patterns.items() if pattern.search(flat)), default)


def _left_over(text: str, flat: str, fillers: re.Pattern[str]) -> list[str]:
    """Return the parts of the text between the fillers that have words, without the marks around them."""
    parts, begin = [], 0
    for match in fillers.finditer(flat):
        parts.append(text[begin : match.start()])
        begin = match.end()
    stripped = (part.strip(" .,;:!?¿¡-'’") for part in [*parts, text[begin:]])
    return [part for part in stripped if _has_word(part)]
