"""`filter_by`: conditions joined by && and ||, which bind alike, from the left; parentheses; values in backticks."""

import operator
import re
from collections.abc import Callable
from typing import Any

from tests.typesense_server.collection import NUMBERS, Collection
from tests.typesense_server.contract import Refusal, Values, require, words_of

Condition = Callable[[Values], bool]
MOST_OPERATIONS = 100
UNPARSED = "Could not parse the filter query"
COMPARED: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "": operator.eq,
}


def parse_filter(text: str, collection: Collection) -> Condition:
    """Nothing lets every document through."""
    tokens = _tokens(text)
    if not tokens:
        return lambda document: True
    count = sum(token not in ("(", ")") for token in tokens)
    require(count <= MOST_OPERATIONS, 400, f"`filter_by` has too many operations. Maximum allowed: {MOST_OPERATIONS}.")
    condition = _any_of(tokens, collection)
    require(not tokens, 400, f"{UNPARSED}: unbalanced parentheses.")
    return condition


def _tokens(text: str) -> list[str]:
    tokens, position = [], 0
    while position < len(text):
        rest = text[position:]
        if rest[0] == " ":
            position += 1
        elif rest[0] in "()":
            tokens.append(rest[0])
            position += 1
        elif rest[0] in "&|":
            require(rest[:2] in ("&&", "||"), 400, f"{UNPARSED}.")
            tokens.append(rest[:2])
            position += 2
        else:
            length = _condition_length(rest)
            tokens.append(rest[:length].strip(" "))
            position += length
    return tokens


def _condition_length(text: str) -> int:
    """Up to a parenthesis or an operator that is not between backticks."""
    in_backticks = False
    for index, mark in enumerate(text):
        if mark == "`":
            in_backticks = not in_backticks
        elif not in_backticks and (mark in "()" or text[index : index + 2] in ("&&", "||")):
            return index
    return len(text)


def _any_of(tokens: list[str], collection: Collection) -> Condition:
    condition = _operand(tokens, collection)
    while tokens and tokens[0] in ("&&", "||"):
        joint = tokens.pop(0)
        condition = _joined(joint, condition, _operand(tokens, collection))
    return condition


def _joined(joint: str, left: Condition, right: Condition) -> Condition:
    if joint == "&&":
        return lambda document: left(document) and right(document)
    return lambda document: left(document) or right(document)


def _operand(tokens: list[str], collection: Collection) -> Condition:
    require(tokens and tokens[0] not in ("&&", "||", ")"), 400, f"{UNPARSED}: unbalanced operands.")
    token = tokens.pop(0)
    if token != "(":
        return _condition(token, collection)
    condition = _any_of(tokens, collection)
    require(tokens and tokens.pop(0) == ")", 400, f"{UNPARSED}: unbalanced parentheses.")
    return condition


def _condition(text: str, collection: Collection) -> Condition:
    name, colon, value = (part.strip(" ") for part in text.partition(":"))
    require(colon, 400, f"{UNPARSED}.")
    if name == "id":
        ids = set(_values(value.removeprefix("=")))
        require(ids, 400, "Error with filter field `id`: Filter value cannot be empty.")
        return lambda document: document["id"] in ids
    field = collection.fields.get(name)
    if field is None or not field["index"]:
        raise Refusal(404, f"Could not find a filter field named `{name}` in the schema.")
    require(not field.get("num_dim"), 404, f"Cannot filter on vector field `{name}`.")
    if field["type"] in NUMBERS:
        return _numbers(name, field["type"], value)
    require(field["type"] in ("string", "string[]"), 400, f"Filter field `{name}` is of a type not served here.")
    return _texts(name, value)


def _texts(name: str, value: str) -> Condition:
    """Words are compared, not characters: `:=` where they are all the words of the field, `:` where they are in it."""
    sign = re.match(r"!=|=|", value)
    assert sign
    values = [words_of(text) for text in _values(value[sign.end() :])]
    require(any(values), 400, f"Error with filter field `{name}`: Filter value cannot be empty.")

    def holds(document: Values) -> bool:
        told = document.get(name, [])
        fields = [words_of(text) for text in ([told] if isinstance(told, str) else told)]
        if sign[0]:
            return any(field in values for field in fields) is (sign[0] == "=")
        return any(_contains(field, wanted) for field in fields for wanted in values)

    return holds


def _contains(words: list[str], wanted: list[str]) -> bool:
    return any(words[start : start + len(wanted)] == wanted for start in range(len(words)))


def _numbers(name: str, kind: str, value: str) -> Condition:
    value = value.removeprefix("=").strip(" ")
    comparisons = [_comparison(name, kind, item) for item in (_values(value) if value.startswith("[") else [value])]
    return lambda document: name in document and any(holds(document[name]) for holds in comparisons)


def _comparison(name: str, kind: str, text: str) -> Callable[[Any], bool]:
    low, dots, high = text.partition("..")
    if dots:
        least, most = _number(name, kind, low), _number(name, kind, high)
        return lambda number: least <= number <= most
    sign = next(sign for sign in COMPARED if text.startswith(sign))
    limit = _number(name, kind, text.removeprefix(sign).strip(" "))
    return lambda number: COMPARED[sign](number, limit)


def _number(name: str, kind: str, text: str) -> float:
    pattern = r"-?\d+(\.\d+)?" if kind == "float" else r"-?\d+"
    article = "a" if kind == "float" else "an"
    require(re.fullmatch(pattern, text), 400, f"Error with filter field `{name}`: Not {article} {kind}.")
    return float(text) if kind == "float" else int(text)


def _values(text: str) -> list[str]:
    """One, or those of a [list]; commas between backticks separate nothing."""
    text = text.strip(" ")
    is_list = text.startswith("[") and text.endswith("]")
    parts = re.findall(r"(?:`[^`]*`|[^,`])+", text[1:-1]) if is_list else [text]
    return [value for part in parts if (value := part.strip(" ").replace("`", ""))]
