"""What people note of their own: any JSON object, as long as it is small and the database takes it."""

import json
import math
from typing import Annotated, Any

from pydantic import AfterValidator, Field

MOST_BYTES = 16_384
DEEPEST = 8


def _checked(values: dict[str, Any]) -> dict[str, Any]:
    _check(values, DEEPEST)
    if len(json.dumps(values, ensure_ascii=False).encode()) > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES} bytes")
    return values


def _check(value: Any, depth: int) -> None:
    if depth < 0:
        raise ValueError(f"it is deeper than {DEEPEST} levels")
    match value:
        case dict():
            for key, held in value.items():
                _check(key, depth)
                _check(held, depth - 1)
        case list():
            for held in value:
                _check(held, depth - 1)
        case str():
            _check_text(value)
        case float() if not math.isfinite(value):
            raise ValueError("it holds a number that JSON does not have")


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise ValueError("it holds a text that is not valid Unicode") from exc
    if "\0" in text:
        raise ValueError("it holds a NUL character")


Metadata = Annotated[
    dict[str, Any],
    AfterValidator(_checked),
    Field(
        description=f"Whatever you know of it: any JSON of up to {MOST_BYTES} bytes and {DEEPEST} levels",
        examples=[{"author": "Lidia Forcén", "pages": [3, 4]}],
    ),
]
Options = Annotated[dict[str, Any], AfterValidator(_checked)]  # that a configuration checks further
