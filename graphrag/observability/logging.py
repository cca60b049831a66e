"""Content of logs: outlines of errors, without secrets or words of documents."""

import errno
import os
import re
import traceback
from collections.abc import Iterator

NAMES = re.compile(r"API_KEY|TOKEN|PASSWORD|SECRET|CREDENTIALS")
LONG_ENOUGH = 6  # characters: what is shorter stands in many a text by chance
USERINFO = re.compile(r"(?<=://)[^/@\s]{1,500}@")


def without_secrets(text: str) -> str:
    """The text without keys of the environment and passwords of addresses."""
    for name, value in os.environ.items():
        if NAMES.search(name.upper()) and len(value) >= LONG_ENOUGH:
            text = text.replace(value, "…")
    return USERINFO.sub("…@", text)


def outline(error: BaseException) -> str:
    """«ProviderError ← APIStatusError 401 ← …»: the error, and what it was raised from."""
    return " ← ".join(_kind(cause) for cause in chain(error))


def outline_places(error: BaseException) -> str:
    """Return the traceback without messages, causes first as Python prints them."""
    told = ["".join(traceback.format_tb(cause.__traceback__)) + _kind(cause) for cause in chain(error)]
    return "\n".join(reversed(told))


def without_words(text: str, error: BaseException) -> str:
    """A text that may repeat the error."""
    for cause in chain(error):
        for words in (repr(cause), str(cause)):
            text = text.replace(words, _kind(cause)) if len(words) >= LONG_ENOUGH else text
    return text


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it was raised from, each once."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _kind(error: BaseException) -> str:
    return " ".join([type(error).__name__, *_codes(error)])


def _codes(error: BaseException) -> Iterator[str]:
    """An HTTP status, PostgreSQL's or the system's code."""
    for name in ("status_code", "sqlstate", "errno"):
        code = getattr(error, name, None)
        if name == "errno" and isinstance(code, int):
            yield errno.errorcode.get(code, str(code))
        elif isinstance(code, int) or (name == "sqlstate" and isinstance(code, str)):
            yield str(code)
