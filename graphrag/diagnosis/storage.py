"""Where files and caches are: something is written there, read and taken away again."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

from graphrag.diagnosis.findings import Finding, error, ok, warning
from graphrag.errors import CausewayError, FileUnavailable
from graphrag.files.local import LocalFiles
from graphrag.files.opening import open_files
from graphrag.ingestion.waiting import FOLDER
from graphrag.protocols import FileStorage
from graphrag.redis_cache import RedisCache
from graphrag.settings import Settings

PROBE = b"causeway doctor"


async def examine_storage(settings: Settings) -> AsyncIterator[Finding]:
    place = settings.files_url or str(settings.home / "files")
    try:
        files = open_files(settings)
        if isinstance(files, LocalFiles) and not files.folder.exists():
            yield _new(files.folder)
        else:
            await _try(files)
            yield ok("files", place=place)
            if waiting := await files.list(FOLDER):
                yield warning("uploads_waiting", count=len(waiting))
    except CausewayError as exc:
        yield _unusable(exc)


def _unusable(exc: CausewayError) -> Finding:
    match exc.details.get("reason"):
        case "bucket_missing":
            return error("bucket_missing", cause=str(exc))
        case "bucket_refused":
            return error("bucket_refused", cause=str(exc))
        case "bucket_elsewhere":
            return error("bucket_elsewhere", cause=str(exc))
        case "not_s3":
            return error("not_s3", cause=str(exc))
    return error("cannot_be_used", what="RAG_FILES_URL", cause=str(exc))


def _new(folder: Path) -> Finding:
    """It is made by what is written first: nothing is left behind here."""
    return ok("files_new", place=str(folder))


async def _try(files: FileStorage) -> None:
    """Raises FileUnavailable."""
    key = f"doctor/{uuid4().hex}/probe"
    await files.put(key, PROBE)
    try:
        if await files.get(key) != PROBE:
            raise FileUnavailable("What was written is not what is read.", reason="unreachable")
    finally:
        await files.delete(key)


async def examine_redis(settings: Settings) -> AsyncIterator[Finding]:
    if settings.redis_url is None:
        return
    try:
        cache = RedisCache(settings.redis_url.get_secret_value())
        try:
            await cache.set_many("", {"doctor": PROBE}, seconds=1)  # one that is full is still read
            await cache.get_many("", ["doctor"])
        finally:
            await cache.close()
        yield ok("redis")
    except CausewayError as exc:
        yield error("cannot_be_used", what="REDIS_URL", cause=str(exc))
