"""Causeway beside its peers: quality, latency, throughput, ingestion and size, over the same texts and vectors.

python -m tests.benchmarks.retrieval [--data DIR …] [--sizes 2000,50000,300000] [--clients 1,8] [--queries N]
    [--systems causeway,langchain-postgres,ensemble,lancedb,chroma] [--limit SECONDS] [--out DIR] [--resume]

DIR holds a dataset in BEIR's format; without one the demo documents are asked. The distractors are corpus.py's.
"""

import argparse
import asyncio
import gc
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.observability.telemetry import configure_logging
from graphrag.query_transformation.transformation import transform
from tests.benchmarks.corpus import Passage
from tests.benchmarks.datasets import ROOT, Dataset, Question, load_beir, load_demo
from tests.benchmarks.measuring import HITS, ask, overlap, quality, searches_of, speed, warm_up
from tests.benchmarks.progress import progress
from tests.benchmarks.report import OVER_LIMIT, Result, Results, print_table
from tests.benchmarks.systems.databases import fresh_database, running_postgres
from tests.benchmarks.systems.protocol import Approximate, Batch, Search, System, Workplace
from tests.benchmarks.vectors import Matrix, Precomputed, embed

SYSTEMS = {
    "causeway": "causeway.CausewaySystem",
    "langchain-postgres": "pgvector_store.PGVectorSystem",
    "ensemble": "ensemble.EnsembleSystem",
    "lancedb": "lance.LanceSystem",
    "chroma": "chroma.ChromaSystem",
}
PACKAGES = "pgvector langchain-postgres langchain-classic langchain-community rank-bm25 lancedb chromadb".split()
BATCH = 5_000
TABLE_WIDTH = 130
EXACT_QUESTIONS = 50  # an exact search may take seconds


@dataclass(frozen=True, slots=True)
class Corpus:
    """A dataset grown to the largest size: smaller ones are its beginning."""

    dataset: Dataset
    passages: Sequence[Passage]
    vectors: Matrix
    embeddings: Precomputed

    def batches(self, size: int, *, start: int = 0) -> Iterator[Batch]:
        while start < size:
            end = min(start + BATCH, size)
            while end < size and self.passages[end].document == self.passages[end - 1].document:
                end += 1
            yield Batch(start, self.passages[start:end], np.asarray(self.vectors[start:end]))
            start = end


def prepare(dataset: Dataset, size: int, folder: Path, console: Console) -> Corpus:
    with progress(f"{dataset.name}: passages", size, console) as step:
        passages = dataset.grown(size)
        step(len(passages))
    contents = [passage.content for passage in passages]
    with progress(f"{dataset.name}: vectors", len(contents), console) as step:
        vectors = embed(contents, folder=folder, progress=step)
    # What a question is split into is searched for too.
    asked = {text for question in dataset.questions for text in (question.text, *transform(question.text).searches)}
    texts = sorted(asked)
    queries = np.asarray(BundledEmbeddings().embed_documents(texts), dtype=np.float32)
    return Corpus(dataset, passages, vectors, Precomputed(texts, queries))


async def measure(corpus: Corpus, wanted: Result, server: str, console: Console) -> Result:
    """Never raises: what goes wrong, or takes too long, is the result."""
    started = time.perf_counter()
    result = wanted
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        with fresh_database(server, "benchmark") as database:
            deadline = time.monotonic() + wanted.limit_seconds
            workplace = Workplace(folder, database, corpus.embeddings, corpus.dataset.language, deadline)
            system = await _load_class(wanted.system).open(workplace)
            try:
                result = await _ingest(system, corpus, result, console)
                for name in system.searches:
                    figures = await _measure_search(system, name, corpus, result, console)
                    result = replace(result, searches={**result.searches, name: figures})
            finally:
                await system.close()
    except TimeoutError:
        result = replace(result, error=_over(wanted, "to ingest"))
    except Exception as exc:  # one system's failure is one line of the report
        result = replace(result, error=_one_line(exc))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        gc.collect()
    return replace(result, seconds=round(time.perf_counter() - started, 1))


async def _ingest(system: System, corpus: Corpus, result: Result, console: Console) -> Result:
    started = time.perf_counter()
    async with asyncio.timeout(result.limit_seconds):
        with progress(f"{result.system}: ingestion", result.size, console) as step:
            for batch in corpus.batches(result.size):
                await system.add(batch)
                step(len(batch.passages))
        console.print(f"  {result.system}: indexes …")
        await system.build_indexes()
    seconds = time.perf_counter() - started
    return replace(
        result,
        ingestion_seconds=round(seconds, 2),
        chunks_per_second=round(result.size / seconds, 1),
        megabytes=round(await system.size_bytes() / 1e6, 1),
    )


async def _measure_search(
    system: System, name: str, corpus: Corpus, result: Result, console: Console
) -> Mapping[str, Any]:
    search, questions, limit = system.searches[name], corpus.dataset.questions, result.limit_seconds
    documents = [passage.document for passage in corpus.passages[: result.size]]
    figures: dict[str, Any] = {"clients": {}}
    try:
        await warm_up(search, questions, limit_seconds=limit)
        for clients in result.clients:
            title = f"{result.system} {name}".strip() + f": {clients} at the same time"
            with progress(title, searches_of(questions), console) as step:
                answers = await ask(search, questions, clients=clients, limit_seconds=limit, progress=step)
            figures["clients"][str(clients)] = speed(answers)
            if "hit@10" not in figures:
                figures |= quality(answers.rankings, questions, documents)
            if not answers.in_time:
                figures["error"] = _over(result, f"for {len(answers.rankings)} of {len(questions)} questions")
        if isinstance(system, Approximate) and system.approximate == name:
            figures["overlap"] = await _overlap(system.exact, search, questions[:EXACT_QUESTIONS], console)
    except TimeoutError:
        figures["error"] = _over(result, "to answer")
    except Exception as exc:  # one search's failure is one line of the report
        figures["error"] = _one_line(exc)
    return figures


async def _overlap(exact: Search, search: Search, questions: Sequence[Question], console: Console) -> float:
    best: dict[int, Sequence[int]] = {}
    with progress("exact search, to compare with", len(questions), console) as step:
        for number, question in enumerate(questions):
            best[number] = await exact(question.text, HITS)
            step(1)
    return overlap(best, {number: await search(question.text, HITS) for number, question in enumerate(questions)})


def _over(result: Result, what: str) -> str:
    return f"{OVER_LIMIT}{result.limit_seconds:,.0f} s {what}"


def _load_class(system: str) -> Any:
    module, _, name = SYSTEMS[system].rpartition(".")
    return getattr(import_module(f"tests.benchmarks.systems.{module}"), name)


def _one_line(exc: Exception) -> str:
    return " ".join(f"{type(exc).__name__}: {exc}".split())


def expected_seconds(results: Sequence[Result], wanted: Result) -> float | None:
    """From the system's last smaller size, as if all of it grew with the size."""
    known = [result for result in results if result.system == wanted.system and result.dataset == wanted.dataset]
    smaller = [result for result in known if result.size <= wanted.size and not result.errors]
    last = max(smaller, key=lambda result: result.size, default=None)
    return last.seconds * wanted.size / last.size if last else None


async def run(arguments: argparse.Namespace, console: Console) -> bool:
    """Return whether all was measured, apart from what took longer than the limit."""
    from tests.benchmarks.picture import draw  # of the extra `bench`: its absence shows now, not after hours

    datasets = [load_beir(folder) for folder in arguments.data] if arguments.data else [load_demo()]
    results = Results(arguments.out / "retrieval.json", environment(), resume=arguments.resume)
    try:
        with running_postgres() as server:
            for dataset in datasets:
                await _run_dataset(dataset.sample(arguments.queries), arguments, server, results, console)
    finally:  # also where it is interrupted
        print_table(results.shown, console)
        for name in {result.dataset for result in results.shown}:
            draw(results.shown, name, arguments.out / f"retrieval-{name}.png")
    minutes = sum(result.seconds for result in results.shown) / 60
    console.print(f"{minutes:.1f} min of measuring; retrieval.json and the pictures are in {arguments.out}")
    return not any(result.has_failed for result in results.shown)


async def _run_dataset(
    dataset: Dataset, arguments: argparse.Namespace, server: str, results: Results, console: Console
) -> None:
    # No size below the passages that the questions are about.
    sizes = sorted({max(size, len(dataset.passages)) for size in arguments.sizes})
    corpus = prepare(dataset, max(sizes), arguments.out, console)
    for size in sizes:
        for system in arguments.systems:
            questions = len(dataset.questions)
            wanted = Result(dataset.name, system, size, questions, arguments.clients, arguments.limit)
            result = results.find(wanted)
            if result is None:
                seconds = expected_seconds(results.shown, wanted)
                about = f", about {seconds / 60:.1f} min" if seconds else ""
                console.print(f"{time.strftime('%H:%M:%S')} {dataset.name}, {size:,} chunks: {system}{about}")
                result = await measure(corpus, wanted, server, console)
            results.keep(result)


def environment() -> dict[str, Any]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except ModuleNotFoundError:
            versions[package] = "not installed"
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    return {"date": time.strftime("%Y-%m-%d"), **machine, "packages": versions}


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.retrieval", description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", default=[], metavar="DIR", help="folders in BEIR's format")
    parser.add_argument("--sizes", type=_numbers, default=(2_000, 50_000, 300_000), help="chunks")
    parser.add_argument("--clients", type=_numbers, default=(1, 8), help="at the same time")
    parser.add_argument("--systems", type=_systems, default=tuple(SYSTEMS), help=", ".join(SYSTEMS))
    parser.add_argument("--queries", type=int, default=200, help="at most, of each dataset")
    parser.add_argument("--limit", type=float, default=3_600, help="seconds for an ingestion or one search's questions")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "benchmark", metavar="DIR")
    parser.add_argument("--resume", action="store_true", help="keep the results that are in --out already")
    parsed = parser.parse_args(arguments)
    parsed.out.mkdir(parents=True, exist_ok=True)
    return parsed


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _systems(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - set(SYSTEMS):
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: known are {', '.join(SYSTEMS)}")
    return names


def main() -> None:
    configure_logging("ERROR")
    os.environ.setdefault("LANCEDB_LOG", "error")  # it warns at every search
    is_whole = asyncio.run(run(parse_arguments(sys.argv[1:]), Console(width=max(Console().width, TABLE_WIDTH))))
    sys.exit(0 if is_whole else 1)


if __name__ == "__main__":
    main()
