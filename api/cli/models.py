"""The command `causeway models`: which embedding models there are, and which of two finds more."""

import os
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.table import Table

from agent.evaluation.model_comparison import DECIDING, WeightedModel, compare_models
from api.cli.terminal import CollectionOption, embedding_progress, out, print_table, run
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
    table = Table("Id", "Model", "Dimensions", "Weight beside full text", "Collections")
    collections = await services.store.list_collections(services.owner)
    for model in services.embeddings.models.values():
        used = ", ".join(each.name for each in collections if each.embedding_model == model.id)
        name = model.name if model.is_installed else f"{model.name}: its package has no wheel here"
        table.add_row(model.id, name, str(model.dimensions), f"{model.fusion_weight:g}", used)
    print_table(table, spare=["Weight beside full text", "Dimensions"])
    out.print("Others, by an entry in a copy of embeddings.yml (serve --embeddings-config FILE):", highlight=False)
    for line in _describe_others():
        out.print(f"- {line}", highlight=False, soft_wrap=True)


def _describe_others() -> Iterator[str]:
    yield f"openai, or a server that speaks like it: OPENAI_API_KEY ({_is_set('OPENAI_API_KEY')})"
    yield f"google_genai: GOOGLE_API_KEY ({_is_set('GOOGLE_API_KEY')}) and {_has('google')}"
    yield f"ollama: a server (OLLAMA_HOST) and {_has('ollama')}"
    cached = ", ".join(find_cached_models()) or "none yet: serve --download-models fills it"
    yield f"sentence-transformers: {_has('local-models')}; path: a folder, or model: a name"
    yield f"in the cache of the Hugging Face hub: {cached}"


def _is_set(variable: str) -> str:
    return "set" if os.environ.get(variable) else "not set"


def _has(extra: str) -> str:
    return "its package, which is installed" if is_installed(MODULES[extra]) else f"`{install_command(extra)}`"


async def _compare(services: Services, name: str | None, model_id: str) -> None:
    collection = await services.collections.open(services.owner, name)
    model, own = services.embeddings.get(model_id), await services.collections.embedding_model(collection)
    if model.id == own.id:
        raise InvalidSettings(f"{collection.name!r} is searched with {model.id!r} already: name another model.")
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
        out.print(f"To move to it: causeway reembed {collection.name} --model {best.model}", highlight=False)


def _best(found: list[WeightedModel]) -> WeightedModel:
    return max(found, key=lambda each: each.quality)


def _print_comparison(found: list[WeightedModel], *, cases: int) -> None:
    best = _best(found)
    table = Table("Model", "Weight", *SHOWN)
    for each in found:
        values = (f"{each.metrics[name]:.3f}" for name in SHOWN)
        table.add_row(each.model, f"{each.vector_weight:g}", *values, style="bold" if each is best else "")
    print_table(table)
    told = f"Best by {', then '.join(DECIDING)}: {best.model} with fusion_weight {best.vector_weight:g}."
    out.print(f"{told} Of {cases} cases: one case is {1 / cases:.3f}.", highlight=False)
