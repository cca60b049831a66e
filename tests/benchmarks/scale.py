"""The curve: what grows with the number of chunks, and how fast, in one PostgreSQL with the causal graph.

python -m tests.benchmarks.scale --data DIR --sizes 10000,100000,1000000 [--queries 100] [--out DIR]

One collection grows to each size in turn. At each: chunks stored a second, seconds for the indexes, bytes on the disk,
memory of PostgreSQL's processes, searches (hybrid, reranked, one after the other) with the mean of each stage, and the
share of the ten best that the bounded full text has in common with the unbounded. At the end a document is deleted, a
backup written, and the collection deleted. Texts are corpus.py's, around a dataset in BEIR's format.
"""

import argparse
import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import psycopg
from prometheus_client import REGISTRY
from pydantic import SecretStr
from rich.console import Console
from rich.table import Table

from graphrag.config.settings import Settings
from graphrag.db.backup import write_backup
from graphrag.observability.telemetry import configure_logging
from tests.benchmarks.datasets import ROOT, load_beir, load_demo
from tests.benchmarks.measuring import HITS, ask, overlap, speed, warm_up
from tests.benchmarks.progress import progress
from tests.benchmarks.retrieval import Corpus, prepare
from tests.benchmarks.systems.causeway import CausewaySystem
from tests.benchmarks.systems.databases import fresh_database, running_postgres
from tests.benchmarks.systems.protocol import Workplace

STAGES = ("transform", "fulltext", "vector", "fuse", "rerank", "associate")
COMPARED = 30  # questions whose exact answers are looked for: each may take seconds
LIMIT_SECONDS = 6 * 3600.0
GROWING = ("megabytes", "index_seconds")  # with the chunks; latency with their logarithm


@dataclass(frozen=True, slots=True)
class Point:
    """What was measured at one size."""

    chunks: int
    chunks_per_second: float
    index_seconds: float
    megabytes: float
    memory_megabytes: float
    p50_ms: float
    p95_ms: float
    stage_ms: Mapping[str, float]  # the mean of each
    overlap: float


async def measure(
    corpus: Corpus, sizes: Sequence[int], url: str, folder: Path, console: Console
) -> tuple[list[Point], dict[str, float]]:
    """Return the points, and how many seconds each of the last operations took."""
    deadline = time.monotonic() + LIMIT_SECONDS
    workplace = Workplace(folder, url, corpus.embeddings, corpus.dataset.language, deadline)
    system = await CausewaySystem.open(workplace, has_graph=True)
    try:
        points = [point async for point in _grow(system, corpus, sizes, url, console)]
        store, collection = system.services.store, system.collection
        document = (await store.list_documents(collection))[0]
        backing_up = asyncio.to_thread(write_backup, _settings(url, folder), folder / "backup.tar")
        ending: dict[str, Awaitable[Any]] = {
            "delete a document": store.delete_document(collection, document.id),
            "backup": backing_up,
            "delete the collection": store.delete_collection(collection),
        }
        return points, {name: (await _timed(operation))[1] for name, operation in ending.items()}
    finally:
        await system.close()


async def _grow(
    system: CausewaySystem, corpus: Corpus, sizes: Sequence[int], url: str, console: Console
) -> AsyncIterator[Point]:
    stored = 0
    for size in sizes:
        batches = list(corpus.batches(size, start=stored))
        started = time.perf_counter()
        with progress(f"{size:,} chunks", size - stored, console) as step:
            for batch in batches:
                await system.add(batch)
                step(len(batch.passages))
        seconds = time.perf_counter() - started
        added = sum(len(batch.passages) for batch in batches)
        stored += added
        _, indexing = await _timed(system.build_indexes())
        point = await _measure_searches(system, corpus, stored, added / seconds, indexing, url)
        console.print(f"  {stored:,} chunks: p50 {point.p50_ms:.0f} ms, p95 {point.p95_ms:.0f} ms")
        yield point


async def _measure_searches(
    system: CausewaySystem, corpus: Corpus, chunks: int, rate: float, index_seconds: float, url: str
) -> Point:
    search, questions = system.searches["hybrid + rerank"], corpus.dataset.questions
    await warm_up(search, questions, limit_seconds=LIMIT_SECONDS)
    before = _stages()
    figures = speed(await ask(search, questions, clients=1, limit_seconds=LIMIT_SECONDS))
    after = _stages()
    asked = list(enumerate(questions[:COMPARED]))
    best = {number: await system.exact(question.text, HITS) for number, question in asked}
    bounded = system.searches["full text"]
    return Point(
        chunks=chunks,
        chunks_per_second=rate,
        index_seconds=index_seconds,
        megabytes=await system.size_bytes() / 1e6,
        memory_megabytes=_memory_of_postgres(url) / 1e6,
        p50_ms=figures["p50_ms"],
        p95_ms=figures["p95_ms"],
        stage_ms={name: _mean_ms(before[name], after[name]) for name in STAGES},
        overlap=overlap(best, {number: await bounded(question.text, HITS) for number, question in asked}),
    )


def _stages() -> dict[str, tuple[float, float]]:
    """Return the seconds and the number of times of each stage so far."""
    return {name: (_sample("sum", name), _sample("count", name)) for name in STAGES}


def _sample(kind: str, stage: str) -> float:
    return REGISTRY.get_sample_value(f"causeway_stage_seconds_{kind}", {"stage": stage}) or 0.0


def _mean_ms(before: tuple[float, float], after: tuple[float, float]) -> float:
    times = after[1] - before[1]
    return (after[0] - before[0]) / times * 1000 if times else 0.0


def _memory_of_postgres(url: str) -> int:
    """Return the memory of its processes, what they share counted once."""
    with psycopg.connect(url) as connection:
        (folder,) = connection.execute("SHOW data_directory").fetchone() or ("",)
    master = psutil.Process(int((Path(folder) / "postmaster.pid").read_text().split()[0]))
    return sum(_memory(process) for process in [master, *master.children()])


def _memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except psutil.NoSuchProcess:
        return 0


async def _timed(operation: Awaitable[Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    return await operation, time.perf_counter() - started


def _settings(url: str, folder: Path) -> Settings:
    return Settings.from_environment(database_url=SecretStr(url), files_url=(folder / "files").as_uri())


def fit(points: Sequence[Point]) -> Iterator[tuple[str, float, float]]:
    """Yield what was fitted, its value at no chunks (or at one), and its rise for each million (or tenfold) of them."""
    chunks = np.array([point.chunks for point in points], dtype=float)
    for name in GROWING:
        rise, base = np.polyfit(chunks / 1e6, [getattr(point, name) for point in points], 1)
        yield f"{name} per million chunks", float(base), float(rise)
    for name in ("p50_ms", "p95_ms"):
        rise, base = np.polyfit(np.log10(chunks), [getattr(point, name) for point in points], 1)
        yield f"{name} per tenfold chunks", float(base), float(rise)


def print_points(points: Sequence[Point], console: Console) -> None:
    table = Table("", *(f"{point.chunks:,}" for point in points), title="chunks")
    rows = {
        "stored a second": [f"{point.chunks_per_second:,.0f}" for point in points],
        "seconds for indexes": [f"{point.index_seconds:,.0f}" for point in points],
        "MB on the disk": [f"{point.megabytes:,.0f}" for point in points],
        "MB of memory": [f"{point.memory_megabytes:,.0f}" for point in points],
        "search, p50 · p95 ms": [f"{point.p50_ms:.0f} · {point.p95_ms:.0f}" for point in points],
        **{f"{name}, mean ms": [f"{point.stage_ms[name]:.1f}" for point in points] for name in STAGES},
        "ten best in common": [f"{point.overlap:.3f}" for point in points],
    }
    for name, cells in rows.items():
        table.add_row(name, *cells)
    console.print(table)


def draw(points: Sequence[Point], path: Path) -> None:
    """Latency by size, with the stages it consists of; and the disk."""
    from matplotlib.figure import Figure  # type: ignore[import-not-found,unused-ignore]  # of the extra `bench`

    figure = Figure(figsize=(12, 5), layout="constrained")
    latency, disk = figure.subplots(1, 2)
    chunks = [point.chunks for point in points]
    latency.plot(chunks, [point.p50_ms for point in points], "o-", label="p50")
    latency.plot(chunks, [point.p95_ms for point in points], "o:", label="p95")
    for name in STAGES:
        latency.plot(chunks, [point.stage_ms[name] for point in points], linewidth=1, label=f"{name}, mean")
    disk.plot(chunks, [point.megabytes for point in points], "o-", label="disk")
    disk.plot(chunks, [point.memory_megabytes for point in points], "o:", label="memory")
    latency.set(title="milliseconds of a search", xscale="log", xlabel="chunks", ylim=(0, None))
    disk.set(title="megabytes of PostgreSQL", xscale="log", yscale="log", xlabel="chunks")
    for panel in (latency, disk):
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.savefig(path, dpi=150)


async def run(arguments: argparse.Namespace, console: Console) -> None:
    dataset = (load_beir(arguments.data) if arguments.data else load_demo()).sample(arguments.queries)
    sizes = sorted({max(size, len(dataset.passages)) for size in arguments.sizes})
    corpus = prepare(dataset, sizes[-1], arguments.out, console)
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        with running_postgres() as server, fresh_database(server, "scale") as url:
            points, ending = await measure(corpus, sizes, url, folder, console)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print_points(points, console)
    for name, seconds in ending.items():
        console.print(f"{name}: {seconds:.1f} s")
    if len(points) > 1:
        for name, base, rise in fit(points):
            console.print(f"{name}: {base:.1f} + {rise:.1f}")
    kept = {"points": [asdict(point) for point in points], "seconds": ending}
    (arguments.out / "scale.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")
    draw(points, arguments.out / "scale.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder in BEIR's format; default: the demo")
    parser.add_argument("--sizes", type=lambda text: [int(part) for part in text.split(",")], default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=100, help="at most")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "benchmark", metavar="DIR")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    configure_logging("ERROR")
    asyncio.run(run(arguments, Console()))


if __name__ == "__main__":
    main()
