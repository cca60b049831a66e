"""The command `causeway models`: which embedding models there are, and which of two finds more."""

import os
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.table import Table

from agent.evaluation.model_comparison import DECIDING, WeightedModel, compare_models
from api.cli.terminal import CollectionOption, embedding_progress, out, print_table, run, say
from graphrag.diagnosis.installation import MODULES, is_installed
from graphrag.embeddings.providers import find_cached_models
from graphrag.errors import InvalidSettings, NoGoldenCases, install_command
from graphrag.ingestion.reembedding import EmbeddingMigration
from graphrag.services import Services

SHOWN = ("hit@1", "hit@10", "mrr@10", "ndcg@10")


def models(
    compare: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Measure this model beside the collection's own, on its golden cases."),
    ] = None,
    collection: CollectionOption = None,
) -> None:
    """List embedding models and what each needs; measure one on a collection's golden cases (--compare)."""
    run(lambda services: _compare(services, collection, compare) if compare else _list(services), answers=False)


async def _list(services: Services) -> None:
    headers = [say(f"column_{name}") for name in ("id", "model", "dimensions", "weight", "collections")]
    table = Table(*headers)
    collections = await services.store.list_collections(services.owner)
    for model in services.embeddings.models.values():
        used = ", ".join(each.name for each in collections if each.embedding_model == model.id)
        name = model.name if model.is_installed else say("no_wheel", model=model.name)
        table.add_row(model.id, name, str(model.dimensions), f"{model.fusion_weight:g}", used)
    print_table(table, spare=[headers[3], headers[2]])
    out.print(say("other_models"), highlight=False)
    for line in _describe_others():
        out.print(f"- {line}", highlight=False, soft_wrap=True)


def _describe_others() -> Iterator[str]:
    yield say("openai_models", state=_is_set("OPENAI_API_KEY"))
    yield say("google_models", state=_is_set("GOOGLE_API_KEY"), package=_has("google"))
    yield say("ollama_models", package=_has("ollama"))
    yield say("local_models", package=_has("local-models"))
    yield say("cached_models", names=", ".join(find_cached_models()) or say("no_cached_models"))


def _is_set(variable: str) -> str:
    return say("is_set" if os.environ.get(variable) else "is_not_set")


def _has(extra: str) -> str:
    return say("package_installed") if is_installed(MODULES[extra]) else f"`{install_command(extra)}`"


async def _compare(services: Services, name: str | None, model_id: str) -> None:
    collection = await services.collections.open(services.owner, name)
    model, own = services.embeddings.get(model_id), await services.collections.embedding_model(collection)
    if model.id == own.id:
        told = f"{collection.name!r} is searched with {model.id!r} already: name another model."
        raise InvalidSettings(told, reason="same_model", collection=collection.name, model=model.id)
    cases = [case for case in await services.golden.list_all(collection) if case.relevant_document_ids]
    if not cases:
        raise NoGoldenCases(
            f"The collection {collection.name!r} has no golden cases: `causeway eval golden propose` makes some.",
            collection=collection.name,
        )
    batch_size = services.settings.ingestion_limits.embedding_batch_size
    migration = EmbeddingMigration(services.database, collection, batch_size=batch_size)
    with embedding_progress() as report:
        await migration.prepare(model, report=report)
    found = [each async for each in compare_models(collection, [own, model], cases, services=services)]
    _print_comparison(found, cases=len(cases))
    best = _best(found)
    if best.model != own.id:
        command = f"causeway reembed {collection.name} --model {best.model}"
        out.print(say("move_to_model", command=command), highlight=False)


def _best(found: list[WeightedModel]) -> WeightedModel:
    return max(found, key=lambda each: each.quality)


def _print_comparison(found: list[WeightedModel], *, cases: int) -> None:
    best = _best(found)
    table = Table(say("column_model"), say("column_weight"), *SHOWN)
    for each in found:
        values = (f"{each.metrics[name]:.3f}" for name in SHOWN)
        table.add_row(each.model, f"{each.vector_weight:g}", *values, style="bold" if each is best else "")
    print_table(table)
    metrics, weight, one = ", ".join(DECIDING), f"{best.vector_weight:g}", f"{1 / cases:.3f}"
    told = say("best_model", metrics=metrics, model=best.model, weight=weight, cases=cases, one=one)
    out.print(told, highlight=False)
