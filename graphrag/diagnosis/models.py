"""The models: whether they can be opened, and, where calls are wanted, whether they answer."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence

from graphrag.causal_graph.spacy_pipelines import find_pipelines, open_recognizer
from graphrag.chat_models import EXTRACTIVE, open_chat_model
from graphrag.diagnosis.findings import Finding, error, ok, warning
from graphrag.embeddings.registry import load_registry
from graphrag.errors import CausewayError, InvalidSettings, MissingExtra
from graphrag.rerankers.opening import open_cross_encoder
from graphrag.settings import Settings

QUESTION = "Answer with one word: ready."


async def examine_models(settings: Settings, *, calls: bool) -> AsyncIterator[Finding]:
    """`calls`: each chat model is asked something short, which its vendor may charge for."""
    try:
        registry = await asyncio.to_thread(load_registry, settings.embeddings_config)
        for model in registry.models.values():
            yield ok("embeddings", model=model.id, dimensions=model.dimensions)
    except (InvalidSettings, MissingExtra) as exc:
        yield error("cannot_be_used", what="EMBEDDINGS_CONFIG", cause=str(exc))
    chosen = dict(_chosen(settings))
    if not settings.chat_model:
        yield ok("extractive")
    for name, variable in chosen.items():
        yield await _examine_chat_model(settings, name, variable, calls=calls)
    try:
        if encoder := open_cross_encoder(settings):
            await encoder.open()
            yield ok("reranker", model=encoder.model)
    except CausewayError as exc:
        yield error("cannot_be_used", what="RAG_RERANKER_MODEL", cause=str(exc))
    for finding in await asyncio.to_thread(lambda: list(_examine_pipelines(settings.spacy_pipelines))):
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
    if settings.judge_model:
        yield settings.judge_model, "RAG_JUDGE_MODEL"
    for name in settings.chat_fallbacks:
        if name != EXTRACTIVE:
            yield name, "RAG_CHAT_FALLBACKS"
    if settings.chat_model:
        yield settings.chat_model, "RAG_CHAT_MODEL"


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
