"""What the server needs to know of a provider's HTTP interface, and what the providers have in common."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.responses import Response

from tests.model_server.behaviours import Body


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    path: str
    headers: dict[str, str]  # names in lower case
    body: Body  # {} where the request carried no JSON object
    query: str = ""


class Contract(Protocol):
    """One provider's chat. Its stream is a head, an event a word, and an end."""

    media_type: str  # of a stream

    def check(self, request: RecordedRequest) -> None:
        """Raises Refusal where the provider would refuse it."""
        ...

    def wants_stream(self, request: RecordedRequest) -> bool: ...

    def error(self, status: int, message: str, retry_after: int | None = None) -> Response: ...

    def whole(self, request: RecordedRequest, words: Sequence[str], *, is_withheld: bool = False) -> Body:
        """`is_withheld`: the provider's filter keeps the rest."""
        ...

    def head(self, request: RecordedRequest) -> str: ...

    def word(self, request: RecordedRequest, word: str) -> str: ...

    def end(self, request: RecordedRequest, words: Sequence[str], *, is_withheld: bool = False) -> str: ...

    def failure(self, message: str) -> str:
        """Told within a stream that has begun."""
        ...


class Refusal(Exception):
    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def require(condition: object, message: str, status: int = 400) -> None:
    if not condition:
        raise Refusal(message, status)


def retry_headers(retry_after: int | None) -> dict[str, str]:
    return {} if retry_after is None else {"retry-after": str(retry_after)}


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_integer(value: object) -> bool:
    return is_number(value) and float(str(value)).is_integer()


def is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def are_objects(value: object) -> bool:
    """Whether it is a list of objects, with at least one."""
    return isinstance(value, list) and len(value) > 0 and all(isinstance(item, dict) for item in value)


def split_words(text: str) -> list[str]:
    """The tokens of this server: words with the space before them, so that joining them gives the text again."""
    return re.findall(r"\s*\S+|\s+", text)


def count_words(values: Sequence[Any]) -> int:
    return sum(len(split_words(str(value))) for value in values)
