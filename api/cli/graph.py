"""`causeway graph`: what the documents of a collection say caused what, and what a model would cost that reads them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from uuid import UUID, uuid4

import typer
from rich.text import Text
from rich.tree import Tree

from api.cli.terminal import CollectionOption, load_settings, out, run, say
from graphrag.causal_graph.model_extraction import ExtractionEstimate, ModelExtractor
from graphrag.errors import CollectionNotFound, InvalidSettings
from graphrag.ingestion.bulk import estimate_relations
from graphrag.ingestion.sources import check_files, find_files
from graphrag.models import Collection
from graphrag.models.graph import CausalEdge, Entity, Polarity
from graphrag.services import Services

app = typer.Typer(help="Show the causal graph of a collection.", no_args_is_help=True)
DOUBTS = {Polarity.NEGATED, Polarity.HYPOTHETICAL}


@app.command()
def show(
    entity: Annotated[
        str | None,
        typer.Argument(help="Words of a cause or an effect, to show its neighbourhood; default: everything."),
    ] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an SVG image instead.")] = None,
    limit: Annotated[
        int, typer.Option(help="Maximum number of relations, the most confident first.", min=1, max=2_000)
    ] = 200,
    collection: CollectionOption = None,
) -> None:
    """List causes with their effects and source documents."""
    edges = run(lambda services: _read(services, collection, entity, limit))
    if not edges:
        out.print(say("nothing_said", entity=entity) if entity else say("no_causes"))
    elif svg:
        from graphrag.causal_graph.drawing import draw  # and what places it: every command would wait for that

        _write(svg, draw(edges))
        out.print(say("drawn", path=svg, count=len(edges)), soft_wrap=True)
    else:
        for tree in trees(edges):
            out.print(tree)


@app.command()
def estimate(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")], collection: CollectionOption = None
) -> None:
    """Estimate the chat model calls needed to extract relations from files; none is made."""
    check_files(paths)
    files = find_files(paths)
    cost = run(lambda services: _estimate(services, files, collection))
    limit = load_settings().ingestion_limits.graph_max_calls
    out.print(say("estimated", calls=cost.calls, tokens=cost.tokens))
    out.print(say("calls_allowed", limit=limit, allowed=min(limit, cost.calls)) if limit else say("no_calls"))


async def _estimate(services: Services, files: Sequence[Path], name: str | None) -> ExtractionEstimate:
    if not services.settings.generation.chat_model:
        told = "An estimate needs RAG_CHAT_MODEL: the model that would find relations."
        raise InvalidSettings(told, reason="estimate_without_model")
    extractor = ModelExtractor(services.chat_models[0].model, services.cache, 0)
    try:
        collection = await services.collections.open(services.owner, name)
    except CollectionNotFound:  # it would be made with the files, as the settings say
        collection = Collection(uuid4(), services.owner, name or "", services.embeddings.default)
    return await estimate_relations(
        files,
        pipeline=services.ingestion,
        extractor=extractor,
        collection=collection,
        model=await services.collections.embedding_model(collection),
    )


async def _read(services: Services, name: str | None, entity: str | None, limit: int) -> list[CausalEdge]:
    collection = await services.collections.open(services.owner, name)
    return await services.graph.list_causal_edges(collection, entity=entity, limit=limit)


def _write(path: Path, picture: str) -> None:
    try:
        path.write_text(picture, encoding="utf-8")
    except OSError as exc:
        told = f"{path} can't be written: {exc.strerror}."
        raise InvalidSettings(told, reason="file_unwritable", path=path, cause=exc.strerror) from exc


def trees(edges: Sequence[CausalEdge]) -> list[Tree]:
    """Return a tree for each cause without causes and for each cycle; repeated nodes are not unfolded again."""
    by_cause: dict[UUID, list[CausalEdge]] = {}
    for edge in edges:
        by_cause.setdefault(edge.cause.id, []).append(edge)
    caused = {edge.effect.id for edge in edges}
    causes = {edge.cause.id: edge.cause for edge in edges}
    shown: set[UUID] = set()
    ordered = sorted(causes.values(), key=lambda cause: cause.id in caused)
    return [_grow(cause, by_cause, shown) for cause in ordered if cause.id not in shown]


def _grow(cause: Entity, by_cause: dict[UUID, list[CausalEdge]], shown: set[UUID]) -> Tree:
    tree = Tree(Text(_flat(cause.name), style="bold"), guide_style="dim")
    pending = [(tree, cause.id)]
    while pending:
        branch, identity = pending.pop()
        if identity in shown:
            continue
        shown.add(identity)
        grown = [(branch.add(_label(edge)), edge.effect.id) for edge in by_cause.get(identity, ())]
        pending += grown[::-1]
    return tree


def _label(edge: CausalEdge) -> Text:
    is_doubted = edge.polarity in DOUBTS
    label = Text("→ ").append(_flat(edge.effect.name), style="dim" if is_doubted else "")
    if is_doubted:
        label.append(f" {say(edge.polarity)}", style="yellow")
    return label.append(f"  {edge.document.filename}", style="cyan")


def _flat(name: str) -> str:
    return " ".join(name.split())
