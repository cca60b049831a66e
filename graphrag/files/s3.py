"""Files in a bucket of S3 or whatever speaks its language, as MinIO does. Needs the extra s3."""

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from graphrag.errors import FileUnavailable, InvalidSettings, MissingExtra
from graphrag.files.keys import check_key, check_prefix

if TYPE_CHECKING:
    from obstore.store import S3Store

T = TypeVar("T")
RETRIES = 2
SUSPICIOUS_SECONDS = 2.0  # without an answer
MAX_CAUSE_CHARS = 500


class S3Files:
    """Credentials and region are read from the environment, by the names that AWS gave them."""

    def __init__(self, bucket: str, *, prefix: str = "", endpoint: str | None = None, timeout_seconds: float) -> None:
        """Raises MissingExtra or InvalidSettings."""
        self._bucket = bucket
        self._store = _open(bucket, prefix, endpoint, timedelta(seconds=timeout_seconds))

    async def put(self, key: str, data: bytes) -> None:
        check_key(key)
        with self._ours():
            # In one request: of one in parts that fails, some would be kept, and paid for.
            await self._while_it_answers(self._store.put_async(key, data, use_multipart=False))

    async def get(self, key: str) -> bytes:
        check_key(key)
        with self._ours():
            found = await self._while_it_answers(self._store.get_async(key))
            return bytes(await found.bytes_async())

    async def delete(self, prefix: str) -> None:
        check_prefix(prefix)
        with self._ours():
            keys = [prefix, *await self.list(prefix)]
            await self._while_it_answers(self._store.delete_async(keys))

    async def _listed(self, prefix: str) -> list[str]:
        return sorted([found["path"] async for page in self._store.list(prefix) for found in page])

    async def list(self, prefix: str) -> list[str]:
        check_prefix(prefix)
        with self._ours():
            return await self._while_it_answers(self._listed(prefix))

    async def _while_it_answers(self, request: Awaitable[T]) -> T:
        """A large file takes its time. Whether it is that, or a server that hangs, a small question finds out.

        Raises FileUnavailable.
        """
        working = asyncio.ensure_future(request)
        try:
            await asyncio.wait({working}, timeout=SUSPICIOUS_SECONDS)
            if not working.done() and not await self._answers():
                raise self._unreachable(TimeoutError(f"it has not answered for {SUSPICIOUS_SECONDS:g} s"))
            return await working
        finally:
            working.cancel()

    async def _answers(self) -> bool:
        asking = asyncio.ensure_future(self._store.head_async("is-anybody-there"))
        try:
            answered, _ = await asyncio.wait({asking}, timeout=SUSPICIOUS_SECONDS)
        finally:
            asking.cancel() or asking.exception()  # whatever it says
        return bool(answered)

    @contextmanager
    def _ours(self) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except FileNotFoundError as exc:
            if "<Code>NoSuchBucket<" in str(exc):
                raise self._unreachable(exc) from exc
            raise FileUnavailable(
                "The original file is not kept here: upload the document again.", reason="missing"
            ) from exc
        except (BaseError, OSError) as exc:
            raise self._unreachable(exc) from exc

    def _unreachable(self, exc: Exception) -> FileUnavailable:
        said = f"The bucket {self._bucket!r} can't be used: {_cause(exc)}."
        return FileUnavailable(f"{said} Check RAG_FILES_URL, AWS_ENDPOINT_URL and the keys.", reason="unreachable")


def _open(bucket: str, prefix: str, endpoint: str | None, timeout: timedelta) -> "S3Store":
    try:
        from obstore.exceptions import BaseError
        from obstore.store import S3Store
    except ImportError as exc:
        raise MissingExtra("Files in S3 need: pip install 'causeway[s3]'") from exc
    try:
        return S3Store(
            bucket,
            prefix=prefix or None,
            config={"endpoint": endpoint} if endpoint else None,
            client_options={
                "allow_http": bool(endpoint and endpoint.startswith("http://")),
                "connect_timeout": min(timeout, timedelta(seconds=5)),
                "timeout": timeout,
            },
            retry_config={"max_retries": RETRIES, "retry_timeout": timeout},
        )
    except (BaseError, ValueError) as exc:
        raise InvalidSettings(f"RAG_FILES_URL, bucket {bucket!r}: {_cause(exc)}") from exc


def _cause(exc: Exception) -> str:
    """In one line, without the vendor's inner state that may follow."""
    said = str(exc).partition("\n\nDebug source")[0]
    return " ".join(said.split())[:MAX_CAUSE_CHARS].rstrip(".")
