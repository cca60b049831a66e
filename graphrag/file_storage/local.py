"""Files in a folder of this machine, which only its owner can read."""

import asyncio
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from graphrag.errors import FileUnavailable

NOT_KEPT = "The original file is not kept here: delete the document and upload it again."
PARTS = 3  # collection, document, content: no key lies under another, which a folder could not hold
# Lower case alone: two keys that differ in case are one file on some systems. Never a dot first: that is ".." and
# the name of what is half written.
PART = re.compile(r"[0-9a-z][0-9a-z._-]{0,127}")


def check_key(key: str) -> str:
    """Raises ValueError."""
    if len(_checked(key, "key")) != PARTS:
        raise ValueError(f"{key!r} is no key of a file: it has {PARTS} parts.")
    return key


def check_prefix(prefix: str) -> str:
    """A key, or what one or more of its first parts make. Raises ValueError."""
    if len(_checked(prefix, "prefix")) > PARTS:
        raise ValueError(f"{prefix!r} is no prefix of a file's key: it has at most {PARTS} parts.")
    return prefix


def _checked(text: str, kind: str) -> list[str]:
    parts = text.split("/")
    if not all(PART.fullmatch(part) for part in parts):
        raise ValueError(f"{text!r} is no {kind} of a file: each part is of a-z, 0-9, '.', '_' and '-'.")
    return parts


ATTEMPTS = 20  # a folder that is removed as empty may be wanted by another process in that instant, and again
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
MOVING = {errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST}


class LocalFiles:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def put(self, key: str, data: bytes) -> None:
        path = self.folder / check_key(key)
        with _ours():
            await asyncio.to_thread(_repeated, lambda: self._write(path, data))

    async def get(self, key: str) -> bytes:
        path = self.folder / check_key(key)
        with _ours():
            return await asyncio.to_thread(path.read_bytes)

    async def delete(self, prefix: str) -> None:
        path = self.folder / check_prefix(prefix)
        with _ours():
            await asyncio.to_thread(_repeated, lambda: self._remove(path))

    async def list(self, prefix: str) -> list[str]:
        path = self.folder / check_prefix(prefix)
        with _ours():
            return await asyncio.to_thread(lambda: sorted(self._keys(path)))

    def _keys(self, path: Path) -> Iterator[str]:
        for folder, _, names in os.walk(path, onerror=_unless_gone):
            inside = Path(folder).relative_to(self.folder)
            yield from ((inside / name).as_posix() for name in names if not name.startswith("."))

    def _write(self, path: Path, data: bytes) -> None:
        self._make_folders(path.parent)
        # Beside its place, so that taking it is one step; mkstemp makes it for its owner alone.
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _make_folders(self, innermost: Path) -> None:
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        inside = [folder for folder in innermost.parents if folder.is_relative_to(self.folder)]
        for folder in (*reversed(inside), innermost):  # mkdir's mode holds for the last one only
            folder.mkdir(mode=0o700, exist_ok=True)

    def _remove(self, path: Path) -> None:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        for folder in self._around(path):
            try:
                folder.rmdir()
            except OSError as exc:
                if exc.errno not in MOVING:
                    raise
                if exc.errno != errno.ENOENT:
                    return

    def _around(self, path: Path) -> Iterator[Path]:
        """Yield the path's folders inside of ours, innermost first."""
        return (folder for folder in path.parents if folder != self.folder and folder.is_relative_to(self.folder))


def _repeated(step: Callable[[], None]) -> None:
    """Retry a step that fails because other processes change the same folders meanwhile."""
    for _ in range(ATTEMPTS - 1):
        try:
            return step()
        except OSError as exc:
            if exc.errno not in MOVING:
                raise
    return step()


def _unless_gone(error: OSError) -> None:
    """A folder that is removed while they are listed holds nothing, like one that there never was, or a file."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


@contextmanager
def _ours() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as exc:
        raise FileUnavailable(NOT_KEPT, reason="missing") from exc
    except OSError as exc:
        if exc.errno in FULL:
            raise FileUnavailable(
                f"The folder of the original files is full: {exc.strerror}. Free some space.", reason="disk_full"
            ) from exc
        raise FileUnavailable(
            f"The folder of the original files can't be used: {exc.strerror}. Check RAG_FILES_URL or CAUSEWAY_HOME.",
            reason="unreachable",
        ) from exc
