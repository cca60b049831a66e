"""Files of Word 2 to 2003 by their piece tables ([MS-DOC]): the text alone, also of damaged ones."""

import re
import struct
from collections.abc import Iterator
from io import BytesIO

import olefile

from graphrag.config.settings import ParsingLimits
from graphrag.models import ParsedText
from graphrag.parsers.detection import DOC, WORD_2
from graphrag.parsers.text import TextBuilder

_SECOND_TABLE = 0x0200  # flag of FibBase, 2.5.2
_WORD_97 = 105  # the first nFib of its files
_STORIES = 7  # texts, one after the other: body, notes, headers, macros, comments, end notes, text boxes
_MARGINS = 2  # the place of headers among them
_COMPRESSED = 0x40000000  # FcCompressed, 2.9.73
_MOST_PIECES = 100_000
_FIELDS = re.compile(r"([\x13-\x15])")  # a field's begin, the end of its instruction, its end
_MOST_FILLING = 0.05  # of a text's characters, where the pieces still lead to text
_MARKS = str.maketrans({"\x07": "\t", "\x0b": "\n", "\x0c": "\n", "\r": "\n\n", "\x1e": "-"})
_OTHER_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_ROW_END = "\x07\x07"


def parse_word_97(data: bytes, *, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument: too_large or empty; and whatever olefile and struct raise of a damaged file."""
    builder = TextBuilder(limits.characters)
    for text in _texts(data):
        if text.count("\0") + text.count("\xff") > _MOST_FILLING * len(text):
            raise ValueError("its pieces lead to no text")
        text = "".join(_without_instructions(text))
        builder.add(_OTHER_CONTROL.sub("", text.replace(_ROW_END, "\r").translate(_MARKS)))
    return builder.parsed(DOC)


def _without_instructions(text: str) -> Iterator[str]:
    """Yield the text with the results of its fields; these nest. 2.8.25 Plcfld."""
    is_instruction: list[bool] = []
    depth = 0
    for part in _FIELDS.split(text):
        match part:
            case "\x13":
                is_instruction.append(True)
                depth += 1
            case "\x14" | "\x15" if is_instruction:
                depth -= is_instruction.pop()
                if part == "\x14":
                    is_instruction.append(False)
            case _ if not depth:
                yield part


def _texts(data: bytes) -> Iterator[str]:
    if data.startswith(WORD_2):
        yield _plain(data)
        return
    with olefile.OleFileIO(BytesIO(data)) as ole:
        document = ole.openstream("WordDocument").read()
        version, flags = struct.unpack_from("<H6xH", document, 2)
        if version < _WORD_97:
            yield _plain(document)
            return
        table = ole.openstream("1Table" if flags & _SECOND_TABLE else "0Table").read()
    lengths = struct.unpack_from(f"<{_STORIES}i", document, 0x4C)
    start, length = struct.unpack_from("<II", document, 0x1A2)
    text, begin = "".join(_pieces(document, table[start : start + length])), 0
    for story, count in enumerate(lengths):
        if story != _MARGINS:
            yield text[begin : begin + max(count, 0)]
        begin += max(count, 0)


def _plain(document: bytes) -> str:
    """Return the text of a file of Word 2 to 95, which is one piece unless it was saved quickly."""
    start, end = struct.unpack_from("<II", document, 0x18)
    return document[start:end].decode("cp1252", errors="replace")


def _pieces(document: bytes, table: bytes) -> Iterator[str]:
    """Yield the pieces of the text in their order. 2.9.38 Clx, 2.8.35 PlcPcd."""
    place = 0
    while table[place : place + 1] == b"\x01":  # Prc: properties
        place += 3 + struct.unpack_from("<H", table, place + 1)[0]
    (size,) = struct.unpack_from("<I", table, place + 1)
    count = min((size - 4) // 12, _MOST_PIECES)
    bounds = struct.unpack_from(f"<{count + 1}I", table, place + 5)
    for number in range(count):
        length = max(bounds[number + 1] - bounds[number], 0)
        (offset,) = struct.unpack_from("<I", table, place + 5 + 4 * (count + 1) + 8 * number + 2)
        if offset & _COMPRESSED:
            begin = (offset & ~_COMPRESSED) // 2
            yield document[begin : begin + length].decode("cp1252", errors="replace")
        else:
            yield document[offset : offset + 2 * length].decode("utf-16-le", errors="replace")
