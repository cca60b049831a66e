"""Limits of an owner's requests, by the minute and at a time, and of an address with invalid credentials."""

import hashlib
import ipaddress
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from limits.errors import StorageError
from starlette.requests import Request

from api.middleware.shared_counts import SharedCounts
from graphrag.cache.redis import open_redis
from graphrag.config.settings import Settings
from graphrag.errors import RateLimited, Unauthorized
from graphrag.observability.telemetry import log
from graphrag.resilience.concurrency import OwnerLimit, OwnerTurn

if TYPE_CHECKING:
    from redis.asyncio import Redis


REQUESTS_PER_MINUTE, ANSWERS_PER_MINUTE = 600, 60  # of one owner, where it is known who asks
REQUESTS_AT_ONCE = 16  # likewise
SHARE_BESIDE_OTHERS = 4  # one in so many of them: what runs at once on one event loop slows each other's down
WAITING_PER_SLOT = 10
ALONE_SECONDS = 30  # after it failed: each request would wait for it
ANSWERING = ("/chat", "/chat/stream", "/chat/completions", "/responses")


class RateLimits:
    """Rate limits, in Redis for all processes together, or in a file for those of one service.

    Where neither is given or works, each process counts alone.
    """

    def __init__(self, settings: Settings, counts: Path | None = None) -> None:
        """Raises InvalidSettings or MissingExtra."""
        is_known = settings.authentication.auth != "none"
        requests, answers = settings.access.rate_per_minute, settings.access.answers_per_minute
        self._requests = _limit("requests", REQUESTS_PER_MINUTE * is_known if requests is None else requests)
        self._answers = _limit("answers", ANSWERS_PER_MINUTE * is_known if answers is None else answers)
        at_once = settings.access.requests_per_owner
        at_once = REQUESTS_AT_ONCE * is_known if at_once is None else at_once
        beside_others = max(1, at_once // SHARE_BESIDE_OTHERS)
        waiting = WAITING_PER_SLOT * at_once
        self._in_progress = OwnerLimit(at_once, beside_others=beside_others, waiting=waiting) if at_once else None
        self._refusals = _limit("refusals", settings.access.refusals_per_minute)
        self._here = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._redis = open_redis(settings.storage.redis_url.get_secret_value()) if settings.storage.redis_url else None
        self._shared = _shared_limiter(self._redis) if self._redis else _file_limiter(counts) if counts else None
        self._shared_from = 0.0  # monotonic seconds

    async def close(self) -> None:
        if self._redis:
            await self._redis.aclose()

    async def count(self, request: Request, owner_id: str) -> None:
        """Raises RateLimited."""
        await self._count(self._requests, owner_id)
        if request.method == "POST" and request.url.path.endswith(ANSWERING):
            await self.count_answer(owner_id)

    async def count_answer(self, owner_id: str) -> None:
        """Count an answer of an interface that has no address for answers alone. Raises RateLimited."""
        await self._count(self._answers, owner_id)

    async def begin(self, owner_id: str) -> OwnerTurn:
        """Wait until the owner has fewer requests in progress. Raises RateLimited."""
        return await self._in_progress.acquire(owner_id) if self._in_progress else OwnerTurn()

    @asynccontextmanager
    async def refusing(self, request: Request) -> AsyncIterator[None]:
        """Count failed authentication by address, and refuse further attempts.

        A valid credential is not refused for others' failures behind its address. Raises RateLimited in place of
        Unauthorized.
        """
        try:
            yield
        except Unauthorized:
            if "authorization" in request.headers:
                await self._count(self._refusals, network_of(request.client.host if request.client else ""))
            raise

    async def _count(self, limit: RateLimitItem | None, who: str) -> None:
        if limit is None:
            return
        name = hashlib.sha256(who.encode()).hexdigest()
        if self._shared and time.monotonic() >= self._shared_from:
            try:
                return await _hit(self._shared, limit, name)
            except StorageError as exc:
                self._shared_from = time.monotonic() + ALONE_SECONDS
                log.warning("rates are counted by this process alone", error=type(exc.__cause__).__name__)
        await _hit(self._here, limit, name)


def network_of(address: str) -> str:
    """Return the network of one client: 2^64 IPv6 addresses, or one IPv4 address however it is written."""
    try:
        found = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))


def _limit(name: str, per_minute: int) -> RateLimitItem | None:
    """None: as often as one likes."""
    return RateLimitItemPerMinute(per_minute, namespace=name) if per_minute else None


def _shared_limiter(redis: "Redis") -> SlidingWindowCounterRateLimiter:
    storage = RedisStorage(
        "redis://",  # the pool knows the way
        wrap_exceptions=True,
        implementation="redispy",
        key_prefix="causeway:rates",
        connection_pool=redis.connection_pool,  # type: ignore[arg-type] # as its own description has it
    )
    return SlidingWindowCounterRateLimiter(storage)


def _file_limiter(counts: Path) -> SlidingWindowCounterRateLimiter:
    return SlidingWindowCounterRateLimiter(SharedCounts(counts))


async def _hit(limiter: SlidingWindowCounterRateLimiter, limit: RateLimitItem, name: str) -> None:
    """Raises RateLimited, or StorageError."""
    if await limiter.hit(limit, name):
        return
    window = await limiter.get_window_stats(limit, name)
    seconds = max(1, math.ceil(window.reset_time - time.time()))
    raise RateLimited(f"{limit.amount} {limit.namespace} a minute are over: wait {seconds} s.", retry_after=seconds)
