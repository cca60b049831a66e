"""Files in files: members of an archive, attachments of a message; each is read by its own parser, within limits."""

import posixpath
import unicodedata
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers.detection import ZIP, check_archive
from graphrag.parsers.recognition import Recognizer
from graphrag.parsers.text import TextBuilder, clean

_MOST_WARNINGS = 20
_LONGEST_NAME = 200  # characters
_SYSTEM_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})


@contextmanager
def refusals() -> Iterator[None]:
    """Turn any error of a parser into UnreadableDocument, so that it concerns its file only."""
    try:
        yield
    except UnreadableDocument:
        raise
    except MemoryError as exc:
        raise UnreadableDocument("reading the file takes more memory than it may", reason="too_large") from exc
    except RecursionError as exc:
        raise UnreadableDocument("the file is damaged: its parts nest too deep", reason="damaged") from exc
    except Exception as exc:
        cause = f"{type(exc).__name__}: {' '.join(str(exc).split())[:200]}"
        raise UnreadableDocument(f"the file is damaged: {cause}", reason="damaged") from exc


@dataclass(frozen=True, slots=True)
class InnerFile:
    name: str
    parse: Callable[[], ParsedText]


class InnerFiles:
    """Reads the files in one file; those of all depths share the limits of number, bytes and recognition."""

    def __init__(self, parse: Callable[[bytes, str, "InnerFiles"], ParsedText], limits: ParsingLimits) -> None:
        self.limits, self.recognizer = limits, Recognizer(limits)
        self._parse = parse
        self._files, self._bytes, self._depth = limits.inner_files, limits.archive_bytes, 0

    def file(self, name: str, read: Callable[[], bytes]) -> InnerFile:
        """Return a file that is read by the parser of its type."""
        return InnerFile(name, lambda: self._parse(read(), name, self))

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        """Raises UnreadableDocument: nested."""
        if self._depth >= self.limits.inner_depth:
            raise UnreadableDocument(
                f"its files nest more than {self.limits.inner_depth} deep: unpack it first", reason="nested"
            )
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def check(self, count: int) -> None:
        """Raises UnreadableDocument: too_large, if no more so many files may be read."""
        if count > self._files:
            raise UnreadableDocument(
                f"it holds more than {self.limits.inner_files:,} files: divide it", reason="too_large"
            )

    def unpack(self, data: bytes) -> None:
        """Count the bytes of an archive. Raises UnreadableDocument: too_large, encrypted or damaged."""
        left = self.limits.model_copy(update={"archive_bytes": self._bytes})
        self._bytes -= check_archive(data, left, may_define_entities=True)

    def add(self, files: Sequence[InnerFile], builder: TextBuilder, *, level: int) -> list[UnreadableDocument]:
        """Append the text of each file below its name, a heading; return why the others have none.

        Raises UnreadableDocument: nested or too_large.
        """
        with self._deeper():
            self.check(len(files))
            self._files -= len(files)
            refused = []
            for file in files:
                name = " ".join(clean(file.name).split())[:_LONGEST_NAME]
                try:
                    with refusals():
                        parsed = file.parse()
                except UnreadableDocument as exc:
                    refused.append(UnreadableDocument(f"{name}: {exc}", **exc.details))
                else:
                    refused += [UnreadableDocument(f"{name}: {warning}") for warning in parsed.warnings]
                    builder.include(parsed, name=name, level=level)
        return refused


def as_warnings(refused: Sequence[UnreadableDocument]) -> tuple[str, ...]:
    rest = len(refused) - _MOST_WARNINGS
    return (*map(str, refused[:_MOST_WARNINGS]), *([f"and {rest} files more"] if rest > 0 else []))


def parse_archive(data: bytes, *, inner: InnerFiles) -> ParsedText:
    """Return the files of a ZIP archive as the sections of one text.

    Raises UnreadableDocument: nested, too_large, encrypted, damaged, empty, or what its files are refused for.
    """
    builder = TextBuilder(inner.limits.characters)
    inner.unpack(data)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        files = [inner.file(_decoded(entry), partial(archive.read, entry)) for entry in _files(archive)]
        files.sort(key=lambda file: file.name)
        refused = inner.add(files, builder, level=1)
    if refused and not builder.length:
        raise UnreadableDocument(f"none of its files can be read: {refused[0]}", **refused[0].details)
    return builder.parsed(ZIP, warnings=as_warnings(refused))


def _files(archive: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    for entry in archive.infolist():
        is_of_system = entry.filename.startswith("__MACOSX/") or posixpath.basename(entry.filename) in _SYSTEM_FILES
        if not entry.is_dir() and not is_of_system and entry.file_size:
            yield entry


def _decoded(entry: zipfile.ZipInfo) -> str:
    """Return an entry's name; where it isn't marked as UTF-8, zipfile takes it for CP 437, which few programs write."""
    name = entry.filename
    if not entry.flag_bits & 0x800:
        written = name.encode("cp437", errors="replace")
        try:
            name = written.decode("utf-8")
        except UnicodeDecodeError:
            name = written.decode("cp850", errors="replace")
    return unicodedata.normalize("NFC", name)
