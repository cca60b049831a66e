"""Pseudonyms of owners in logs: keyed hashes that can't be guessed without the key."""

import hashlib
import os
import secrets
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path

from graphrag.config.settings import Settings
from graphrag.observability.telemetry import log

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
        if given := self._settings.observability.log_salt:
            return hashlib.sha256(given.get_secret_value().encode()).digest()
        try:
            return _read_or_create(self._settings.storage.home / FILE)
        except OSError as exc:  # marks hold as long as the process
            log.warning("owners' marks hold until this process ends: set RAG_LOG_SALT", error=exc)
            return secrets.token_bytes(KEY_BYTES)


def _read_or_create(path: Path) -> bytes:
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
