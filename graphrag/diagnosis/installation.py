"""The installation, its home, its models and its storage."""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

from graphrag import DISTRIBUTION
from graphrag.cache.redis import RedisCache
from graphrag.config.reference import unknown_variables
from graphrag.config.settings import Settings
from graphrag.diagnosis.findings import Finding, error, ok, warning
from graphrag.embeddings.registry import load_registry
from graphrag.errors import CausewayError, FileUnavailable, InvalidSettings, MissingExtra
from graphrag.file_storage import open_files
from graphrag.file_storage.local import LocalFiles
from graphrag.ingestion.outbox import FOLDER
from graphrag.linguistics.spacy_pipelines import find_pipelines, open_recognizer
from graphrag.llm.chat_models import EXTRACTIVE, open_chat_model
from graphrag.parsers.recognition import LANGUAGES, find_tesseract, installed_data
from graphrag.protocols import FileStorage
from graphrag.rerankers import open_cross_encoder

MODULES = {  # by extra
    "chroma": "chromadb",
    "google": "langchain_google_genai",
    "linguistics": "spacy",
    "llamaindex": "llama_index.core",
    "local-models": "sentence_transformers",
    "milvus": "pymilvus",
    "ollama": "langchain_ollama",
    "otel": "opentelemetry.sdk",
    "redis": "redis",
    "s3": "obstore",
    "splitters": "langchain_text_splitters",
    "typesense": "typesense",
}

OCR_COMMANDS = {  # by platform
    "linux": "apt-get install tesseract-ocr tesseract-ocr-spa tesseract-ocr-fra",
    "darwin": "brew install tesseract tesseract-lang",
}


def examine_installation(environment: Mapping[str, str]) -> Iterator[Finding]:
    extras = [extra for extra, module in MODULES.items() if is_installed(module)]
    python = ".".join(map(str, sys.version_info[:3]))
    yield ok("installed", version=version(DISTRIBUTION), python=python, extras=", ".join(extras) or "–")
    yield _examine_recognition()
    for name, near in unknown_variables(environment).items():
        yield error("variable_mistyped", name=name, near=near) if near else error("variable_unknown", name=name)


def _examine_recognition() -> Finding:
    """Report whether text in pictures is recognised, which is optional, and else how to get it."""
    data = installed_data()
    missing = [language for language, name in LANGUAGES.items() if name not in data]
    command = OCR_COMMANDS.get(sys.platform, OCR_COMMANDS["linux"])
    if find_tesseract() is None:
        return ok("ocr_missing", command=command)
    if missing:
        return ok("ocr_languages_missing", languages=", ".join(missing), command=command)
    return ok("ocr", languages=", ".join(LANGUAGES))


def is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False


LITTLE_BYTES, TOO_LITTLE_BYTES = 2_000_000_000, 200_000_000


def examine_home(home: Path) -> Iterator[Finding]:
    place = home.expanduser().resolve()
    existing = next(folder for folder in (place, *place.parents) if folder.exists())
    if not (existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)):
        yield error("home_unwritable", home=str(place))
        return
    yield from _room(place, existing)
    yield ok("home", home=str(place)) if existing == place else ok("home_new", home=str(place))


def _room(place: Path, existing: Path) -> Iterator[Finding]:
    free = shutil.disk_usage(existing).free
    if free < TOO_LITTLE_BYTES:
        yield error("space_gone", home=str(place), megabytes=free // 1_000_000)
    elif free < LITTLE_BYTES:
        yield warning("space_low", home=str(place), megabytes=free // 1_000_000)


QUESTION = "Answer with one word: ready."


async def examine_models(settings: Settings, *, calls: bool) -> AsyncIterator[Finding]:
    """`calls`: each chat model is asked something short, which its vendor may charge for."""
    try:
        registry = await asyncio.to_thread(load_registry, settings.storage.embeddings_config)
        for model in registry.models.values():
            if model.is_installed:
                yield ok("embeddings", model=model.id, dimensions=model.dimensions)
            else:
                yield warning("embeddings_missing", model=model.id)
    except (InvalidSettings, MissingExtra) as exc:
        yield error("cannot_be_used", what="EMBEDDINGS_CONFIG", cause=str(exc))
    chosen = dict(_chosen(settings))
    if not settings.generation.chat_model:
        yield ok("extractive")
    for name, variable in chosen.items():
        yield await _examine_chat_model(settings, name, variable, calls=calls)
    try:
        if encoder := open_cross_encoder(settings):
            await encoder.open()
            yield ok("reranker", model=encoder.model)
    except CausewayError as exc:
        yield error("cannot_be_used", what="RAG_RERANKER_MODEL", cause=str(exc))
    for finding in await asyncio.to_thread(lambda: list(_examine_pipelines(settings.ingestion_limits.spacy_pipelines))):
        yield finding


def _examine_pipelines(named: Sequence[str] | None) -> Iterator[Finding]:
    try:
        yield from _loaded(named or ())
    except (InvalidSettings, MissingExtra) as exc:
        yield error("cannot_be_used", what="RAG_SPACY_PIPELINES", cause=str(exc))
    for found in find_pipelines().values() if named is None else ():
        try:
            yield from _loaded([found.name])
        except (InvalidSettings, MissingExtra) as exc:
            yield warning("spacy_pipeline_unused", pipeline=found.name, cause=str(exc))


def _loaded(names: Sequence[str]) -> list[Finding]:
    recognizer = open_recognizer(names)
    return [ok("spacy_pipeline", pipeline=pipeline) for pipeline in recognizer.pipelines] if recognizer else []


def _chosen(settings: Settings) -> Iterator[tuple[str, str]]:
    """Each name once, with the variable that has it last."""
    if settings.evaluation.judge_model:
        yield settings.evaluation.judge_model, "RAG_JUDGE_MODEL"
    for name in settings.chat.chat_fallbacks:
        if name != EXTRACTIVE:
            yield name, "RAG_CHAT_FALLBACKS"
    if settings.generation.chat_model:
        yield settings.generation.chat_model, "RAG_CHAT_MODEL"


async def _examine_chat_model(settings: Settings, name: str, variable: str, *, calls: bool) -> Finding:
    try:
        model = open_chat_model(settings, name, variable=variable)
        if not calls:
            return ok("chat_model", model=name)
        begin = time.monotonic()
        await model.ainvoke(QUESTION)
    except CausewayError as exc:
        return error("cannot_be_used", what=variable, cause=str(exc))
    return ok("chat_model_answers", model=name, milliseconds=round((time.monotonic() - begin) * 1000))


PROBE = b"causeway doctor"


async def examine_storage(settings: Settings) -> AsyncIterator[Finding]:
    place = settings.storage.files_url or str(settings.storage.home / "files")
    try:
        files = open_files(settings)
        if isinstance(files, LocalFiles) and not files.folder.exists():
            yield _new(files.folder)
        else:
            await _try(files)
            yield ok("files", place=place)
            if waiting := await files.list(FOLDER):
                yield warning("uploads_waiting", count=len(waiting))
    except CausewayError as exc:
        yield _unusable(exc)


def _unusable(exc: CausewayError) -> Finding:
    match exc.details.get("reason"):
        case "bucket_missing":
            return error("bucket_missing", cause=str(exc))
        case "bucket_refused":
            return error("bucket_refused", cause=str(exc))
        case "bucket_elsewhere":
            return error("bucket_elsewhere", cause=str(exc))
        case "not_s3":
            return error("not_s3", cause=str(exc))
    return error("cannot_be_used", what="RAG_FILES_URL", cause=str(exc))


def _new(folder: Path) -> Finding:
    """Report a folder that the first write will create, without creating it."""
    return ok("files_new", place=str(folder))


async def _try(files: FileStorage) -> None:
    """Raises FileUnavailable."""
    key = f"doctor/{uuid4().hex}/probe"
    await files.put(key, PROBE)
    try:
        if await files.get(key) != PROBE:
            raise FileUnavailable("What was written is not what is read.", reason="unreachable")
    finally:
        await files.delete(key)


async def examine_redis(settings: Settings) -> AsyncIterator[Finding]:
    if settings.storage.redis_url is None:
        return
    try:
        cache = RedisCache(settings.storage.redis_url.get_secret_value())
        try:
            await cache.set_many("", {"doctor": PROBE}, seconds=1)  # one that is full is still read
            await cache.get_many("", ["doctor"])
        finally:
            await cache.close()
        yield ok("redis")
    except CausewayError as exc:
        yield error("cannot_be_used", what="REDIS_URL", cause=str(exc))
