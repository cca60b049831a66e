"""Files in a bucket of S3 or whatever speaks its language, as MinIO does. Needs the extra s3."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

from graphrag.errors import FileUnavailable, InvalidSettings, MissingExtra, install_command
from graphrag.file_storage.local import NOT_KEPT, check_key, check_prefix
from graphrag.observability.logging import without_secrets

if TYPE_CHECKING:
    from obstore.store import S3Store


T = TypeVar("T")
RETRIES = 2
SUSPICIOUS_SECONDS = 2.0  # without an answer
MAX_CAUSE_CHARS = 500
PARTS_FROM_BYTES = 64 * 2**20  # what is larger would have to begin anew, as a whole, where a line is slow or breaks
PART_BYTES, PARTS_AT_ONCE = 8 * 2**20, 2
ABORT_SECONDS = 5.0  # for taking away the parts of a file that nobody waits for any more

# How S3 or obstore say it → the reason, the likelier first.
REASONS = {
    r"<Code>NoSuchKey<": "missing",
    r"<Code>NoSuchBucket<": "bucket_missing",
    r"<Code>(AuthorizationHeaderMalformed|PermanentRedirect)<|redirect without LOCATION": "bucket_elsewhere",
    # The last is where a machine of Amazon's would have keys, for one that was told none.
    r"<Code>(AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken)<|"
    r"//169\.254\.169\.254/": "bucket_refused",
    r"<Code>(XMinioStorageFull|QuotaExceeded)<": "disk_full",
    r"ETag Header missing|status code: 4(?!08|29)\d\d (?!.*<Code>)": "not_s3",
}
WAYS_OUT = {
    "bucket_missing": "Make the bucket, or correct RAG_FILES_URL.",
    "bucket_elsewhere": "Set AWS_REGION to the bucket's region.",
    "bucket_refused": "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they may do in the bucket.",
    "disk_full": "Free some space there.",
    "not_s3": "What answers does not speak S3: check AWS_ENDPOINT_URL.",
    "unreachable": "Check RAG_FILES_URL, AWS_ENDPOINT_URL and the keys.",
}


class S3Files:
    """Credentials and region are read from the environment, by the names that AWS gave them."""

    def __init__(self, bucket: str, *, prefix: str = "", endpoint: str | None = None, timeout_seconds: float) -> None:
        """Raises MissingExtra or InvalidSettings."""
        self._bucket = bucket
        self._store = _open(bucket, prefix, endpoint, timedelta(seconds=timeout_seconds))

    async def put(self, key: str, data: bytes) -> None:
        check_key(key)
        with self._ours():
            if len(data) < PARTS_FROM_BYTES:
                await self._while_it_answers(self._store.put_async(key, data, use_multipart=False))
            else:
                await self._while_it_answers(self._put_in_parts(key, data))

    async def get(self, key: str) -> bytes:
        check_key(key)
        with self._ours():
            found = await self._while_it_answers(self._store.get_async(key))
            if not found.meta["e_tag"]:
                raise self._failed("not_s3", "a file came without an ETag")
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

    async def _put_in_parts(self, key: str, data: bytes) -> None:
        """Upload in parts, and abort the upload on cancellation.

        obstore aborts it if a part fails, but not if it is cancelled; the parts would then stay stored, hidden and paid
        for. Cancellation reaches it as an error of the iterator that it reads.
        """
        given_up = asyncio.Event()
        parts = _parts(data, given_up)
        sending = asyncio.ensure_future(
            self._store.put_async(key, parts, use_multipart=True, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)
        )
        try:
            await asyncio.shield(sending)
        finally:
            if not sending.done():
                given_up.set()
                await asyncio.wait({sending}, timeout=ABORT_SECONDS)
                sending.cancel() or sending.exception()  # whatever it says

    async def _while_it_answers(self, request: Awaitable[T]) -> T:
        """A large file takes its time. Whether it is that, or a server that hangs, a small question finds out.

        Raises FileUnavailable.
        """
        working = asyncio.ensure_future(request)
        try:
            await asyncio.wait({working}, timeout=SUSPICIOUS_SECONDS)
            if not working.done() and not await self._answers():
                silence = TimeoutError(f"it has not answered for {SUSPICIOUS_SECONDS:g} s")
                raise self._failed("unreachable", str(silence)) from silence
            return await working
        finally:
            if not working.done():
                working.cancel()
                await asyncio.wait({working})

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
        except (BaseError, OSError) as exc:
            said = str(exc)
            reason = next(
                (reason for pattern, reason in REASONS.items() if re.search(pattern, said, re.S)), "unreachable"
            )
            raise self._failed(reason, _cause(said)) from exc

    def _failed(self, reason: str, cause: str) -> FileUnavailable:
        if reason == "missing":
            return FileUnavailable(NOT_KEPT, reason=reason)
        return FileUnavailable(f"The bucket {self._bucket!r} can't be used: {cause}. {WAYS_OUT[reason]}", reason=reason)


async def _parts(data: bytes, given_up: asyncio.Event) -> AsyncIterator[bytes]:
    for start in range(0, len(data), PART_BYTES):
        if given_up.is_set():
            raise GivenUp
        yield data[start : start + PART_BYTES]


class GivenUp(Exception):
    """The upload was cancelled."""


def _open(bucket: str, prefix: str, endpoint: str | None, timeout: timedelta) -> "S3Store":
    try:
        from obstore.exceptions import BaseError
        from obstore.store import S3Store
    except ImportError as exc:
        raise MissingExtra.of("RAG_FILES_URL=s3://…", install_command("s3")) from exc
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
        raise InvalidSettings(f"RAG_FILES_URL, bucket {bucket!r}: {_cause(str(exc))}") from exc


def _cause(said: str) -> str:
    """Return the cause in one line: the server's own message, else obstore's without its debugging details."""
    if match := re.search(r"<Code>(\w+)</Code>\s*(?:<Message>([^<]*)</Message>)?", said):
        said = f"{match[1]}: {match[2]}" if match[2] else match[1]
    said = without_secrets(said.partition("\n\nDebug source")[0])
    return " ".join(said.split())[:MAX_CAUSE_CHARS].rstrip(".")
