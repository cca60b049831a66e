"""Zip formats are measured before any parser opens them: a megabyte can hold a thousand."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO

from graphrag.errors import UnreadableDocument
from graphrag.settings import ParsingLimits

_STEP = 16_384  # bytes, which unpack to a thousand times as many at most
_SMALL = 1 << 20  # bytes; below it no ratio is too high
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
                total += _measure(data, entry, limits, total)
    except UnreadableDocument:
        raise
    except Exception as exc:  # zipfile and struct raise whatever a broken structure leads to
        raise UnreadableDocument(f"the file is damaged: {exc}", reason="damaged") from exc


def _measure(data: bytes, entry: zipfile.ZipInfo, limits: ParsingLimits, before: int) -> int:
    """How many bytes it unpacks to, which need not be what it declares."""
    size = 0
    most = min(limits.archive_entry_bytes, limits.archive_bytes - before)
    for part in _unpacked(data, entry):
        if not size and _ENTITY in part[:_PROLOG]:
            raise UnreadableDocument("the file defines XML entities, which no document needs", reason="damaged")
        size += len(part)
        swollen = size > _SMALL and size > limits.archive_ratio * max(entry.compress_size, 1)
        if size > most or swollen:
            raise UnreadableDocument(
                "the file unpacks to far more than it should: it may be a zip bomb", reason="too_large"
            )
    return size


def _unpacked(data: bytes, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    # Not through zipfile, which stops at the declared size: parsers go on.
    name_length, extra_length = struct.unpack_from("<HH", data, entry.header_offset + 26)
    start = entry.header_offset + 30 + name_length + extra_length
    packed = data[start : start + entry.compress_size]
    if entry.compress_type == zipfile.ZIP_STORED:
        yield packed
        return
    if entry.compress_type != zipfile.ZIP_DEFLATED:
        raise ValueError("it is packed by a method that such files don't use")
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    yield from (stream.decompress(packed[place : place + _STEP]) for place in range(0, len(packed), _STEP))
