"""Search for words: whole ones or beginnings, with typing mistakes where nothing has them as they are written."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tests.typesense_server.contract import Values, require, unsigned, words_of

LEAST_CHARS = {1: 4, 2: 7}  # of a word with so many mistakes: `min_len_1typo`, `min_len_2typo`
MOST_TOKENS, FIRST_WEIGHT = 15, 15


@dataclass(frozen=True, slots=True)
class Query:
    words: Sequence[str]
    without: frozenset[str]  # written with a minus sign
    is_prefix: bool  # of its last word
    typos: int
    enough: int  # found without typing mistakes: then none are looked for
    drop_until: int  # found: until then words are left out, from the end

    @classmethod
    def parse(cls, parameters: Mapping[str, Any]) -> "Query":
        require('"' not in str(parameters["q"]), 400, "Phrases are not served here.")
        parts = str(parameters["q"]).split()
        return cls(
            words=words_of(" ".join(part for part in parts if not part.startswith("-"))),
            without=frozenset(words_of(" ".join(part for part in parts if part.startswith("-")))),
            is_prefix=str(parameters.get("prefix", True)).lower() == "true",
            typos=unsigned(parameters, "num_typos", 2),
            enough=unsigned(parameters, "typo_tokens_threshold", 1),
            drop_until=unsigned(parameters, "drop_tokens_threshold", 1),
        )


def search_words(query: Query, fields: Sequence[str], documents: Iterable[Values]) -> list[tuple[Values, Values]]:
    """The documents with their text_match_info, best first."""
    texts = [(document, [words_of(str(document.get(field, ""))) for field in fields]) for document in documents]
    texts = [
        (document, told) for document, told in texts if not query.without & {word for field in told for word in field}
    ]
    found: dict[str, tuple[Values, Values]] = {}
    for dropped in range(len(query.words)):
        words = query.words[: len(query.words) - dropped]
        is_prefix = query.is_prefix and not dropped
        exact = list(_matches(words, texts, typos=0, is_prefix=is_prefix, dropped=dropped))
        lenient = () if len(exact) >= query.enough else _matches(words, texts, query.typos, is_prefix, dropped)
        for document, info in (*exact, *lenient):
            found.setdefault(document["id"], (document, info))
        if len(found) >= query.drop_until:
            break
    return sorted(found.values(), key=lambda match: -int(match[1]["score"]))


def _matches(
    words: Sequence[str],
    texts: Sequence[tuple[Values, list[list[str]]]],
    typos: int,
    is_prefix: bool,
    dropped: int,
) -> Iterator[tuple[Values, Values]]:
    """Those that have all the words, in whichever fields."""
    for document, told in texts:
        costs = [[_cost(word, field, typos, is_prefix and word == words[-1]) for word in words] for field in told]
        if all(any(cost[index] is not None for cost in costs) for index in range(len(words))):
            yield document, _info(costs, told, words, dropped)


def _cost(word: str, text: Sequence[str], typos: int, is_prefix: bool) -> int | None:
    """Mistakes in the word that is the most like it, or 1 for a beginning; None where no word is near enough."""
    if word in text:
        return 0
    if is_prefix and any(other.startswith(word) for other in text):
        return 1
    allowed = [cost for cost in range(1, typos + 1) if len(word) >= LEAST_CHARS.get(cost, 7)]
    return next((cost for cost in allowed if any(_distance(word, other) <= cost for other in text)), None)


@lru_cache(100_000)  # a query's words, but for those that are left out, are compared again and again
def _distance(left: str, right: str) -> int:
    """Damerau and Levenshtein's, without moves over more than one letter."""
    if abs(len(left) - len(right)) > 2:
        return 3
    rows = [list(range(len(right) + 1))]
    for i, mark in enumerate(left, start=1):
        row = [i]
        for j, other in enumerate(right, start=1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (mark != other))
            if i > 1 and j > 1 and mark == right[j - 2] and left[i - 2] == other:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]


def _info(
    costs: Sequence[Sequence[int | None]], told: Sequence[Sequence[str]], words: Sequence[str], dropped: int
) -> Values:
    """By max_score: how many words, then the best field's score, then its weight, then how many fields."""
    scores = [_field_score(cost, text, words) for cost, text in zip(costs, told, strict=True)]
    best = max(range(len(scores)), key=scores.__getitem__)
    tokens, weight = min(len(words), MOST_TOKENS), max(FIRST_WEIGHT - best, 0)
    matched = min(sum(score > 0 for score in scores), 7)
    return {
        "score": str(tokens << 59 | scores[best] << 11 | weight << 3 | matched),
        "best_field_score": str(scores[best]),
        "best_field_weight": weight,
        "fields_matched": matched,
        "num_tokens_dropped": dropped,
        "tokens_matched": tokens,
        "typo_prefix_score": sum(cost or 0 for cost in costs[best]),
    }


def _field_score(costs: Sequence[int | None], text: Sequence[str], words: Sequence[str]) -> int:
    """How many words, fewest mistakes, closest together, and whether they are the whole field."""
    matched = [(word, cost) for word, cost in zip(words, costs, strict=True) if cost is not None]
    if not matched:
        return 0
    places = [text.index(word) for word, _ in matched if word in text]
    apart = min(100, max(places) - min(places) - len(places) + 1) if places else 0
    cost = min(255, sum(cost for _, cost in matched))
    count = len(matched)
    return (
        count << 40 | count << 32 | (255 - cost) << 24 | (100 - max(0, apart)) << 16 | (list(words) == list(text)) << 8
    )
