"""What a log may say: outlines of errors, no secrets, pseudonyms of owners."""

import errno
import hashlib
import os
import re
import secrets
import traceback
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path

from graphrag.config.settings import Settings
from graphrag.observability.telemetry import log

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


BYTES = 6  # of a mark: two of a million owners have the same one with a chance of 0.2 %
KEY_BYTES = 32
FILE = "log-salt"


class Pseudonyms:
    """A keyed hash: who knows a name can't look for it without the key."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.of = lru_cache(maxsize=10_000)(self._mark)

    def _mark(self, owner_id: str) -> str:
        told = owner_id.encode(errors="surrogatepass")
        return hashlib.blake2b(told, key=self._key, digest_size=BYTES).hexdigest()

    @cached_property
    def _key(self) -> bytes:
        if given := self._settings.log_salt:
            return hashlib.sha256(given.get_secret_value().encode()).digest()
        try:
            return _kept(self._settings.home / FILE)
        except OSError as exc:  # marks hold as long as the process
            log.warning("owners' marks hold until this process ends: set RAG_LOG_SALT", error=exc)
            return secrets.token_bytes(KEY_BYTES)


def _kept(path: Path) -> bytes:
    """The file's bytes; made by the first process that asks, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        made = path.with_name(f"{FILE}.{secrets.token_hex(8)}")
        try:
            made.touch(mode=0o600)
            made.write_bytes(secrets.token_bytes(KEY_BYTES))
            with suppress(FileExistsError):  # another one was faster
                os.link(made, path)
        finally:
            made.unlink(missing_ok=True)
    kept = path.read_bytes()[:KEY_BYTES]
    if len(kept) < KEY_BYTES:  # with an empty key anybody could look for a name
        raise OSError(f"{path} is too short")
    return kept
