"""File names in a question: «Compare les stocks entre production.xlsx et inventaire.csv» searches these two."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from graphrag.errors import CausewayError
from graphrag.linguistics.language import fold, words
from graphrag.models import Collection, Hit
from graphrag.observability.telemetry import log
from graphrag.protocols import ChunkStore

MOST_NAMES = 10  # in one question
MOST_WORDS = 8  # of a name that stands without quotes
_EXTENSION = (
    r"\.(?:docx?|xlsx?|xlsm|pptx?|pdf|csv|tsv|txt|text|md|markdown|html?|odt|ods|odp|rtf|jsonl?|xml|eml|msg|mht|epub|zip"
    r"|rst|org|adoc|tex|toml|ini|ya?ml|log|srt|vtt|png|jpe?g|tiff?|gif|bmp|webp)\b"
)
_IN_QUOTES = re.compile(
    rf'"([^"\n]+{_EXTENSION})"|«\s*([^«»\n]+{_EXTENSION})\s*»|“([^“”\n]+{_EXTENSION})”', re.IGNORECASE
)
_END = r"\s\"«»“”,;:¿¡/\\"  # no name without quotes goes on beyond one of these
_BARE = re.compile(rf"(?<![^{_END}])[^{_END}]+{_EXTENSION}(?![\w-])", re.IGNORECASE)
_BREAK = re.compile(r"[,;:¿¡?!()/\\\"«»“”\n]")


@dataclass(frozen=True, slots=True)
class NamedFiles:
    files: tuple[str, ...] = ()  # as the documents write them
    missing: tuple[str, ...] = ()  # as the question writes them
    mentions: tuple[str, ...] = ()  # of the files, as they stand in the question

    def without(self, original: str) -> str:
        """The text without the files' names, which say where to search, not for what; as it is where that is all."""
        text = unicodedata.normalize("NFC", original)
        for mention in sorted(self.mentions, key=len, reverse=True):  # one may end like another
            text = re.sub(rf"[\"«“]?\s*{re.escape(mention)}\s*[\"»”]?", " ", text, flags=re.IGNORECASE)
        for name in self.missing:  # in quotes it would be a phrase that no text holds
            text = re.sub(rf"[\"«“]\s*({re.escape(name)})\s*[\"»”]", r"\1", text, flags=re.IGNORECASE)
        return " ".join(text.split()) if words(text) else original


async def find_named_files(question: str, *, store: ChunkStore, collection: Collection) -> NamedFiles:
    """Return the files that the question names; none where they can't be looked up."""
    candidates = candidate_names(question)
    if not candidates:
        return NamedFiles()
    try:
        known = await store.find_filenames(collection, [form for names in candidates for form in _forms(names)])
    except CausewayError as exc:
        log.warning("files that the question names were not looked up", error=exc)
        return NamedFiles()
    return choose_named(candidates, known)


def candidate_names(question: str) -> list[list[str]]:
    """Return the possible names of each mention of a file, the longest first: names may have spaces."""
    text = unicodedata.normalize("NFC", question)
    found = [(match.start(), ["".join(filter(None, match.groups())).strip()]) for match in _IN_QUOTES.finditer(text)]
    text = _IN_QUOTES.sub(lambda match: "\n" * len(match[0]), text)  # in its place, so that no name goes across it
    end = 0
    for match in _BARE.finditer(text):
        before = _BREAK.split(text[end : match.start()])[-1].split()[1 - MOST_WORDS :]
        end = match.end()
        names = [" ".join([*before[number:], match[0]]) for number in range(len(before) + 1)]
        found.append((match.start(), list(dict.fromkeys([*names, match[0].lstrip("([")]))))
    return [names for _, names in sorted(found)][:MOST_NAMES]


def choose_named(candidates: Sequence[Sequence[str]], known: Sequence[str]) -> NamedFiles:
    """Return the longest known name of each mention."""
    by_name = {fold(name): name for name in known}
    found = [next((name for name in names if fold(name) in by_name), None) for names in candidates]
    return NamedFiles(
        files=tuple(dict.fromkeys(by_name[fold(name)] for name in found if name)),
        missing=tuple(names[-1] for names, name in zip(candidates, found, strict=True) if not name),
        mentions=tuple(name for name in found if name),
    )


def _forms(names: Sequence[str]) -> list[str]:
    """Return each name composed and decomposed (NFC, NFD), as systems write accents either way."""
    return [unicodedata.normalize(form, name) for name in names for form in ("NFC", "NFD")]


def each_file_first(hits: Sequence[Hit], files: Sequence[str]) -> list[Hit]:
    """The best hit of each file, then the others: a question that compares files is answered from each."""
    if len(files) < 2:
        return list(hits)
    best = {hit.chunk.document.filename: hit for hit in reversed(hits)}
    first = {best[name].chunk.id for name in files if name in best}
    return sorted(hits, key=lambda hit: hit.chunk.id not in first)  # stable
