"""A cache in Redis, one owner's entries apart from another's. Needs the extra redis."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from graphrag.errors import DatabaseUnavailable, InvalidSettings, MissingExtra, ProviderError, install_command
from graphrag.resilience.circuit_breaker import CircuitBreaker

if TYPE_CHECKING:
    from redis.asyncio import Redis


SCANNED = 1_000  # keys, between two looks at what others want of the server
TIMEOUT_SECONDS = 1  # a cache that takes longer is slower than none
FAILURES, LEFT_ALONE_SECONDS = 2, 10  # nobody waits for one that is away again and again


class RedisCache:
    def __init__(self, url: str) -> None:
        """Raises MissingExtra or InvalidSettings."""
        self._redis = open_redis(url)
        self.breaker = CircuitBreaker("redis", failures=FAILURES, seconds=LEFT_ALONE_SECONDS, is_outage=lambda _: True)

    async def close(self) -> None:
        await self._redis.aclose()

    async def get_many(self, owner_id: str, keys: Sequence[str]) -> dict[str, bytes]:
        if not keys:
            return {}
        with _ours(self.breaker):
            values = await self._redis.mget([_name(owner_id, key) for key in keys])
        return {key: value for key, value in zip(keys, values, strict=True) if isinstance(value, bytes)}

    async def set_many(self, owner_id: str, values: Mapping[str, bytes], *, seconds: float) -> None:
        milliseconds = int(seconds * 1000)
        with _ours(self.breaker):
            async with self._redis.pipeline(transaction=False) as pipeline:
                for key, value in values.items():
                    if milliseconds > 0:
                        pipeline.set(_name(owner_id, key), value, px=milliseconds)
                    else:
                        pipeline.unlink(_name(owner_id, key))  # Redis takes no time that is over already
                await pipeline.execute()

    async def forget(self, owner_id: str, beginning: str) -> None:
        pattern = re.sub(r"([*?\[\]\\])", r"\\\1", _name(owner_id, beginning)) + "*"
        with _ours(self.breaker):
            found = [key async for key in self._redis.scan_iter(match=pattern, count=SCANNED)]
            if found:
                await self._redis.unlink(*found)


def _name(owner_id: str, key: str) -> str:
    """The owner is hashed: whatever its name holds, it ends where it ends."""
    return f"causeway:{hashlib.sha256(owner_id.encode()).hexdigest()}:{key}"


def open_redis(url: str) -> "Redis":
    """Raises MissingExtra or InvalidSettings."""
    try:
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
    except ImportError as exc:
        raise MissingExtra.of("REDIS_URL", install_command("redis")) from exc
    once = Retry(NoBackoff(), 0)  # whoever asks would wait for each further time
    try:
        database = urlsplit(url).path.strip("/")
        if not url.startswith("unix:") and database:
            int(database)  # else the client would take the first one, which may be another program's
        return Redis.from_url(
            url,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            retry=once,
            protocol=2,  # the one that every server speaks
        )
    except ValueError:
        way_out = "use redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE], rediss://… or unix://PATH."
        raise InvalidSettings(f"REDIS_URL is none: {way_out}") from None  # the cause may repeat the password


@contextmanager
def _ours(breaker: CircuitBreaker) -> Iterator[None]:
    from redis.exceptions import RedisError

    try:
        with breaker.watch():
            yield
    except (RedisError, ProviderError) as exc:
        said = str(exc).rstrip(".")
        raise DatabaseUnavailable(f"Redis can't be used: {said}. Check {_to_check(exc)}.") from exc


def _to_check(exc: Exception) -> str:
    from redis.exceptions import AuthenticationError, OutOfMemoryError

    if isinstance(exc, OutOfMemoryError):
        return "its maxmemory-policy, which should be allkeys-lru, and its maxmemory"
    if isinstance(exc, AuthenticationError):
        return "the user and the password in REDIS_URL"
    if "DB index" in str(exc):
        return "the number of the database at the end of REDIS_URL"
    return "REDIS_URL and the server"
