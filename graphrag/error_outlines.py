"""What a log may say of an error: its kinds and its places, never its words.

These may be anything: PostgreSQL repeats the row that it refuses, a vendor the prompt and the key, a checker the answer
that it can't read.
"""

import errno
import traceback
from collections.abc import Iterator

from graphrag.secrets import LONG_ENOUGH


def outline(error: BaseException) -> str:
    """«ProviderError ← APIStatusError 401 ← …»: the error, and what it was raised from."""
    return " ← ".join(_kind(cause) for cause in chain(error))


def outline_places(error: BaseException) -> str:
    """As Python tells an error, first what it was raised from."""
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
