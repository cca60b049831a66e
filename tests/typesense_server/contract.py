"""What is refused, and how words and parameters are read."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

Values = dict[str, Any]


class Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def require(condition: object, status: int, message: str) -> None:
    if not condition:
        raise Refusal(status, message)


def check_names(given: Mapping[str, Any], known: set[str]) -> None:
    """Typesense ignores a parameter that it does not know; here it is the client's mistake."""
    for name in given:
        require(name in known, 400, f"Parameter `{name}` is unknown or not served here.")


def unsigned(parameters: Mapping[str, Any], name: str, default: int) -> int:
    value = str(parameters.get(name, default))
    require(value.isdecimal(), 400, f"Parameter `{name}` must be an unsigned integer.")
    return int(value)


def words_of(text: str) -> list[str]:
    """What Typesense indexes and compares: lower case, without accents; symbols are left out and separate nothing."""
    bare = "".join(mark for mark in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(mark))
    return [word for part in bare.split() if (word := re.sub(r"[\W_]", "", part))]
