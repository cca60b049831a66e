"""Headings of plain text formats with marks of their own, and subtitles as paragraphs."""

import re
from collections.abc import Iterator

from graphrag.models import Heading
from graphrag.parsers.detection import ASCIIDOC, INI, ORG, RST, TEX

_TEX_COMMANDS = ("part", "chapter", "section", "subsection", "subsubsection")
_MARKED = {  # a line with its mark, of which the level is told, and its text
    ORG: re.compile(r"(?m)^(?P<mark>\*{1,9}) +(?:(?:TODO|DONE) +)?(?P<text>\S.*)$"),
    ASCIIDOC: re.compile(r"(?m)^(?P<mark>={1,6}) +(?P<text>\S.*)$"),
    TEX: re.compile(r"(?m)^\\(?P<mark>part|chapter|(?:sub){0,2}section)\*?(?:\[[^\]\n]*\])?\{(?P<text>[^{}\n]+)\}"),
    INI: re.compile(r"(?m)^(?P<mark>\[)\[?(?P<text>[^\[\]\n]+)\]\]?[ ]*(?:[#;].*)?$"),
}
# Docutils, «Sections»: a title is underlined, often overlined too, by one mark at least as long as it.
_UNDERLINED = re.compile(r"(?m)^(?P<over>([^\w\s])\2{2,}\n)?(?P<text>[ ]?\S.*)\n(?P<under>([^\w\s])\5{2,})$")


def find_headings(text: str, media_type: str) -> Iterator[Heading]:
    """Yield the headings of a text that is clean. Those of a format without marks are not guessed."""
    if media_type == RST:
        yield from _underlined(text)
    elif media_type in _MARKED:
        for match in _MARKED[media_type].finditer(text):
            mark, title = match["mark"], " ".join(match["text"].split())
            level = _TEX_COMMANDS.index(mark) + 1 if media_type == TEX else len(mark)
            if title:
                yield Heading(level, title, match.start())


def _underlined(text: str) -> Iterator[Heading]:
    """Yield reStructuredText's titles; their marks have levels in the order in which they first come."""
    levels: dict[tuple[str, bool], int] = {}
    for match in _UNDERLINED.finditer(text):
        title, over, under = match["text"], match["over"], match["under"]
        is_overlined = over is not None and over[:-1] == under
        if len(under) >= len(title.strip()) and not re.fullmatch(r"[^\w\s]+", title.strip()):
            level = levels.setdefault((under[0], is_overlined), len(levels) + 1)
            yield Heading(level, " ".join(title.split()), match.start("text"))


_TIMES = re.compile(r"(?:(\d{1,3}):)?(\d\d):(\d\d)[.,](\d{3}) +--> +(?:(\d{1,3}):)?(\d\d):(\d\d)[.,](\d{3}).*")
_VOICE = re.compile(r"<v(?:\.[^\s>]+)?\s+([^>\n]{1,80})>")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,80}>|\{\\[^{}\n]{0,80}\}")
_PAUSE = 2.0  # seconds, after which a new paragraph begins
_PARAGRAPH = 300  # characters, after which one ends with its sentence
_SENTENCE_ENDS = (".", "?", "!", "…", "»", '"')


def join_cues(text: str) -> str:
    """Return the words of SubRip or WebVTT subtitles as paragraphs, each after the time at which it begins."""
    paragraphs: list[str] = []
    last_end = 0.0
    for block in text.split("\n\n"):
        lines = block.split("\n")
        place = next((number for number, line in enumerate(lines[:2]) if _TIMES.fullmatch(line)), None)
        if place is None or not (words := _words(lines[place + 1 :])):
            continue
        times = _TIMES.fullmatch(lines[place])
        assert times is not None
        begin, end = _seconds(*times.groups()[:4]), _seconds(*times.groups()[4:])
        is_over = not paragraphs or (len(paragraphs[-1]) > _PARAGRAPH and paragraphs[-1].endswith(_SENTENCE_ENDS))
        if is_over or begin - last_end > _PAUSE:
            minutes, seconds = divmod(int(begin), 60)
            paragraphs.append(f"[{minutes // 60:02}:{minutes % 60:02}:{seconds:02}] {words}")
        else:
            paragraphs[-1] += f" {words}"
        last_end = end
    return "\n\n".join(paragraphs)


def _words(lines: list[str]) -> str:
    text = _TAG.sub("", _VOICE.sub(r"\1: ", " ".join(lines)))
    return " ".join(text.split())


def _seconds(hours: str | None, minutes: str, seconds: str, milliseconds: str) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int(milliseconds) / 1000
