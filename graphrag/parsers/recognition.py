"""Text of pictures (OCR) through the `tesseract` program, where it is installed.

A process that parses may start no program once it is confined. So `start` forks a helper from it before: that one may,
but has the same limits of memory, time and files, and no network.
"""

import contextlib
import os
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers.detection import picture_sizes
from graphrag.parsers.text import TextBuilder, holds_words, word_joiner

LANGUAGES = {"es": "spa", "fr": "fra", "en": "eng"}  # our languages, and their names there
_ORIENTATION = "osd"  # the data that tell which side is up
INSTALL = "install Tesseract, or run character recognition (OCR) on the file first"
UNRECOGNIZED = "no text was recognised in the file's pictures"
_FOLDERS = ("/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin", *os.defpath.split(os.pathsep))
_SAUVOLA = 2  # method that tells ink from paper: by its surroundings, so neither noise nor a shadow spoils a page
_LEAST_CONFIDENCE = 50  # of a picture's or paragraph's words, of 100: what is below is no text
_PAGE_SECONDS = 60
_LENGTH = struct.Struct("!Q")


@cache
def find_tesseract() -> str | None:
    return shutil.which("tesseract", path=os.pathsep.join([os.environ.get("PATH", ""), *_FOLDERS]))


@cache
def installed_data() -> frozenset[str]:
    """Return the names of the languages that it has, and of its other data."""
    if not (program := find_tesseract()):
        return frozenset()
    listed = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=_PAGE_SECONDS)
    return frozenset(listed.stdout.split("\n")[1:]) - {""}


def recognize(picture: bytes) -> str:
    """Return the text of a picture in any format that tesseract reads, a line a line and a blank one after paragraphs.

    Raises UnreadableDocument: damaged, if the program fails.
    """
    program, data = find_tesseract(), installed_data()
    languages = [name for name in LANGUAGES.values() if name in data]
    assert program is not None
    command = [program, "stdin", "stdout", "-l", "+".join(languages) or "eng"]
    command += ["--psm", "1" if _ORIENTATION in data else "3", "-c", f"thresholding_method={_SAUVOLA}", "tsv"]
    try:
        done = subprocess.run(
            command, input=picture, capture_output=True, timeout=_PAGE_SECONDS, env={"OMP_THREAD_LIMIT": "1"}
        )
    except subprocess.TimeoutExpired as exc:
        raise UnreadableDocument(
            f"recognising its text takes more than {_PAGE_SECONDS} seconds", reason="timeout"
        ) from exc
    if done.returncode:
        raise UnreadableDocument("the picture can't be read", reason="damaged")
    return _read_table(done.stdout.decode("utf-8", errors="replace"))


class _RecognizedWord(NamedTuple):
    page: int
    block: int
    paragraph: int
    line: int
    confidence: float
    text: str


def _read_table(table: str) -> str:
    """Return the text of tesseract's table of words; without paragraphs of which it is not confident."""
    words = [
        _RecognizedWord(int(page), int(block), int(paragraph), int(line), float(confidence), text)
        for row in table.split("\n")[1:]
        if len(fields := row.split("\t")) == 12 and fields[0] == "5"
        for _, page, block, paragraph, line, *_, confidence, text in [fields]
        if text.strip()
    ]
    paragraphs = [list(group) for _, group in groupby(words, key=lambda word: word[:3])] if _is_confident(words) else []
    return "\n\n".join(
        "\n".join(" ".join(word.text for word in line) for _, line in groupby(paragraph, key=lambda word: word.line))
        for paragraph in paragraphs
        if _is_confident(paragraph)
    )


def _is_confident(words: Sequence[_RecognizedWord]) -> bool:
    return sum(word.confidence for word in words) >= _LEAST_CONFIDENCE * len(words)


class Recognizer:
    """Recognises the pictures of one file, for as long as its limit allows."""

    def __init__(self, limits: ParsingLimits) -> None:
        self._seconds = limits.recognition_seconds
        self._deadline: float | None = None

    @property
    def is_available(self) -> bool:
        return self._seconds > 0 and find_tesseract() is not None

    def recognize(self, picture: bytes) -> str | None:
        """Return the text of a picture; None if the file has had its time. Raises UnreadableDocument: damaged."""
        if self._deadline is None:
            # The last page may take long, and has to end within the limit too.
            self._deadline = time.monotonic() + max(self._seconds - _PAGE_SECONDS, self._seconds / 2)
            if _helper is not None:
                _helper.announce()
        if time.monotonic() > self._deadline:
            return None
        return _helper.recognize(picture) if _helper is not None else recognize(picture)


def parse_picture(data: bytes, *, media_type: str, limits: ParsingLimits, recognizer: Recognizer) -> ParsedText:
    """Raises UnreadableDocument: scanned without tesseract, too_large, damaged or unrecognized."""
    pixels = max(width * height for width, height in picture_sizes(data, media_type))
    if pixels > limits.picture_pixels:
        raise UnreadableDocument(
            f"the picture has more than {limits.picture_pixels:,} pixels: make it smaller", reason="too_large"
        )
    if not recognizer.is_available:
        raise UnreadableDocument(
            "the file is a picture, and its text can't be recognised: " + INSTALL, reason="scanned"
        )
    builder = TextBuilder(limits.characters)
    text = recognizer.recognize(data) or ""
    builder.add_page(1, [builder.add(word_joiner([text])(text))], is_recognized=True)
    if not holds_words(builder.text):
        raise UnreadableDocument(UNRECOGNIZED, reason="unrecognized")
    return builder.parsed(media_type, warnings=("its text was recognised (OCR) and may hold errors",))


class _Helper:
    """The way to the process that may start tesseract."""

    def __init__(self, connection: socket.socket, announce: Callable[[], None]) -> None:
        self._connection, self.announce = connection, announce
        self._received = connection.makefile("rb")

    def recognize(self, picture: bytes) -> str:
        self._connection.sendall(_LENGTH.pack(len(picture)) + picture)
        is_read, length = struct.unpack("!?Q", self._received.read(9))
        text = self._received.read(length).decode()
        if not is_read:
            raise UnreadableDocument(text, reason="damaged")
        return text


_helper: _Helper | None = None  # of this process: it confines itself for good


def start(confine: Callable[[], None], announce: Callable[[], None]) -> None:
    """Fork the helper; `confine` restricts it, `announce` is called before the first picture of a file."""
    global _helper
    if find_tesseract() is None:
        return
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        try:
            _close_others(theirs.fileno())
            confine()
            _serve(theirs)
        finally:
            os._exit(0)
    theirs.close()
    _helper = _Helper(ours, announce)


def _close_others(descriptor: int) -> None:
    """Close all files but the standard ones: whoever waits for the parser's end would wait for the helper's too."""
    for each in map(int, os.listdir("/dev/fd")):
        if each > 2 and each != descriptor:
            with contextlib.suppress(OSError):  # that of the listing itself
                os.close(each)


def _serve(connection: socket.socket) -> None:
    with connection.makefile("rb") as requests:
        while len(header := requests.read(_LENGTH.size)) == _LENGTH.size:
            picture = requests.read(_LENGTH.unpack(header)[0])
            try:
                is_read, text = True, recognize(picture)
            except UnreadableDocument as exc:
                is_read, text = False, str(exc)
            answer = text.encode()
            connection.sendall(struct.pack("!?Q", is_read, len(answer)) + answer)
