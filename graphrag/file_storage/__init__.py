"""Storage of original files, on disk or in an S3 bucket, as the settings say."""

import asyncio
import hashlib
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import url2pathname

from graphrag.config.settings import Settings
from graphrag.errors import FileUnavailable, InvalidSettings
from graphrag.file_storage.local import LocalFiles
from graphrag.file_storage.s3 import S3Files
from graphrag.protocols import FileStorage

WAY_OUT = "RAG_FILES_URL is none that is known: use file:///FOLDER or s3://BUCKET/PREFIX."


def open_files(settings: Settings) -> FileStorage:
    """Raises InvalidSettings or MissingExtra."""
    if settings.storage.files_url is None:
        return LocalFiles(settings.storage.home / "files")
    url = _split(settings.storage.files_url)
    if url.scheme == "file" and url.netloc in ("", "localhost") and url.path.startswith("/"):
        return LocalFiles(Path(url2pathname(url.path)))
    if url.scheme == "s3" and _names_a_bucket(url):
        return S3Files(
            url.netloc,
            prefix=unquote(url.path).strip("/"),
            endpoint=settings.storage.files_endpoint,
            timeout_seconds=settings.storage.files_timeout_seconds,
        )
    raise InvalidSettings(WAY_OUT)


async def read_original(files: FileStorage, key: str) -> bytes:
    """Read a file whose key ends with the SHA-256 of its content.

    Raises FileUnavailable, also where the content is another one: a disk failed, or somebody changed it.
    """
    data = await files.get(key)
    digest = await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
    if digest != key.rpartition("/")[2]:
        raise FileUnavailable(
            f"The original file {key} is damaged: delete the document and upload it again.", reason="file_damaged"
        )
    return data


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
    except ValueError as exc:
        raise InvalidSettings(WAY_OUT) from exc
    if not unquote(parts.path).isprintable():
        raise InvalidSettings(WAY_OUT)
    return parts


def _names_a_bucket(url: SplitResult) -> bool:
    """Alone: keys of access belong into the environment's other variables, which nobody prints."""
    return bool(url.netloc) and not {"@", ":"} & set(url.netloc) and not url.query and not url.fragment
