"""Zip formats are measured before any parser opens them: a megabyte can hold a thousand."""

import zipfile
import zlib
from io import BytesIO
from lzma import LZMAError

from graphrag.errors import UnreadableDocument
from graphrag.settings import ParsingLimits

_STEP = 1 << 20  # bytes; declared sizes lie, so what comes out is counted
_PROLOG = 65_536  # bytes of an entry, where it would declare XML entities
_ENTITY = b"<!ENTITY"  # no program writes one into an Office file: it is a bomb, or reaches for other files


def check_archive(data: bytes, limits: ParsingLimits) -> None:
    """Raises UnreadableDocument: too_large, encrypted or damaged."""
    total = 0
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            for entry in archive.infolist():
                if entry.flag_bits & 0x1:
                    raise UnreadableDocument(
                        "the file is protected by a password: save it without one", reason="encrypted"
                    )
                total += _inflate(archive, entry, limits, total)
    except (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, NotImplementedError, OSError, ValueError) as exc:
        raise UnreadableDocument(f"the file is damaged: {exc}", reason="damaged") from exc


def _inflate(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: ParsingLimits, before: int) -> int:
    size = 0
    most = min(limits.archive_entry_bytes, limits.archive_bytes - before)
    with archive.open(entry) as stream:
        while part := stream.read(_STEP):
            if not size and _ENTITY in part[:_PROLOG]:
                raise UnreadableDocument("the file defines XML entities, which no document needs", reason="damaged")
            size += len(part)
            swollen = size > _STEP and size > limits.archive_ratio * max(entry.compress_size, 1)
            if size > most or swollen:
                raise UnreadableDocument(
                    "the file unpacks to far more than it should: it may be a zip bomb", reason="too_large"
                )
    return size
