"""Names as spaCy's trained pipelines find them, one a language. Needs the extra linguistics."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from graphrag.errors import InvalidSettings, MissingExtra, install_command
from graphrag.observability.telemetry import log, stage

if TYPE_CHECKING:
    from spacy.language import Language


MULTILINGUAL = "xx"  # stands in where a language has no pipeline of its own
SIZES = ("lg", "md", "sm", "trf")  # the best first; a transformer, slow without a GPU, where there is nothing else
_STANDARD = re.compile(rf"([a-z]{{2}})_(?:core_news|core_web|ent_wiki)_({'|'.join(SIZES)})")
_MODELS = {"ner", "beam_ner"}
_MEASURES = {"CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"}  # OntoNotes' labels: no names
PIECE_CHARS = 5_000  # of a long text at once, for memory grows with it
PIECES_TOGETHER = 8  # between two looks at whether they are still wanted
_PIECE = re.compile(rf"(?s).{{1,{PIECE_CHARS}}}(?:(?<=\n)|\Z)|.{{1,{PIECE_CHARS}}}(?<=\s)|.{{1,{PIECE_CHARS}}}")


class SpacyRecognizer:
    """`found`: packages by language, each loaded at the first text that is in it."""

    def __init__(self, loaded: Sequence["Language"], found: Mapping[str, EntryPoint]) -> None:
        self._loaded = {pipeline.lang: pipeline for pipeline in loaded}
        self._found = dict(found)
        packages = (f"{package.name} {package.dist.version}" for package in found.values() if package.dist)
        self.pipelines = (*map(_identity, loaded), *packages)
        # A thread of its own: a pipeline is not made for several, and those that all share have questions to answer.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="names")

    async def find_names(self, texts: Sequence[str], *, language: str) -> list[tuple[str, ...]]:
        names: list[tuple[str, ...]] = [() for _ in texts]
        pieces = [(number, piece) for number, text in enumerate(texts) for piece in split_pieces(text)]
        with stage("names"):
            for start in range(0, len(pieces), PIECES_TOGETHER):
                numbers, together = zip(*pieces[start : start + PIECES_TOGETHER], strict=True)
                reading = asyncio.get_running_loop().run_in_executor(self._thread, self._read, together, language)
                for number, found in zip(numbers, await reading, strict=True):
                    names[number] += found
        return names

    def _read(self, texts: Sequence[str], language: str) -> list[tuple[str, ...]]:
        pipeline = self._pipeline(language)
        if pipeline is None:
            return [() for _ in texts]
        try:
            with pipeline.memory_zone():  # else it keeps every word that it has seen
                return [
                    tuple(entity.text for entity in read.ents if entity.label_ not in _MEASURES)
                    for read in pipeline.pipe(texts)
                ]
        except Exception as exc:  # each component has its own
            log.warning("names by rules alone", pipeline=_identity(pipeline), error=type(exc).__name__)
            return [() for _ in texts]

    def _pipeline(self, language: str) -> "Language | None":
        for known in (language, MULTILINGUAL):
            if package := self._found.pop(known, None):
                try:
                    self._loaded[known] = load_pipeline(package.name)
                except (InvalidSettings, MissingExtra) as exc:
                    log.warning("names by rules alone", pipeline=package.name, error=exc)
            if known in self._loaded:
                return self._loaded[known]
        return None


def open_recognizer(names: Sequence[str] | None) -> SpacyRecognizer | None:
    """Open the named pipelines, or the installed ones if `names` is None; return None if there are none.

    Raises MissingExtra or InvalidSettings.
    """
    if names is None:
        found = find_pipelines()
        return SpacyRecognizer([], found) if found else None
    loaded = [load_pipeline(name) for name in names]
    languages = [pipeline.lang for pipeline in loaded]
    if twice := next((language for language in languages if languages.count(language) > 1), None):
        raise InvalidSettings(f"RAG_SPACY_PIPELINES names two pipelines for the language {twice!r}.")
    return SpacyRecognizer(loaded, {}) if loaded else None


def find_pipelines() -> dict[str, EntryPoint]:
    """The best of spaCy's standard packages that are installed, by language. spaCy itself is not imported."""
    packages = [(of, match) for of in entry_points(group="spacy_models") if (match := _STANDARD.fullmatch(of.name))]
    worst_first = sorted(packages, key=lambda package: SIZES.index(package[1][2]), reverse=True)
    return {match[1]: of for of, match in worst_first}


def load_pipeline(name: str) -> "Language":
    """Load a pipeline from a package or a folder. Raises MissingExtra or InvalidSettings."""
    try:
        import spacy
    except ImportError as exc:
        raise MissingExtra.of(f"spaCy {name!r}", install_command("linguistics")) from exc
    try:
        pipeline = spacy.load(name)
        used = _recognizers(pipeline)
        for component in set(pipeline.component_names) - used:
            pipeline.remove_pipe(component)
    except Exception as exc:  # a missing file, another format, another spaCy: each has its own error
        raise InvalidSettings(f"The spaCy pipeline {name!r} could not be loaded: {exc}") from exc
    if not used:
        raise InvalidSettings(f"The spaCy pipeline {name!r} finds no names: choose one with the component `ner`.")
    log.info("spaCy pipeline loaded", pipeline=_identity(pipeline), components=pipeline.pipe_names)
    return pipeline


def _recognizers(pipeline: "Language") -> set[str]:
    """The components that find names, and those that they listen to."""
    found = {name for name in pipeline.pipe_names if "doc.ents" in pipeline.get_pipe_meta(name).assigns}
    if any(pipeline.get_pipe_meta(name).factory not in _MODELS for name in found):
        return set(pipeline.pipe_names)  # a ruler's patterns may ask for what any of them says of a word
    heard = {
        name
        for name, component in pipeline.pipeline
        if found.intersection(getattr(component, "listening_components", ()))
    }
    return found | heard


def split_pieces(text: str) -> Iterator[str]:
    """Each ends with a line, else with a word, where one ends in time."""
    return (match.group() for match in _PIECE.finditer(text))


def _identity(pipeline: "Language") -> str:
    return f"{pipeline.lang}_{pipeline.meta['name']} {pipeline.meta['version']}"
