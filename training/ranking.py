"""Fit what full text, vectors and the bundled reranker's features count; measure them on what is kept aside.

    python -m training.ranking DATA [--every 1]

The questions of the worlds that `training.answerability` is fitted on, and of encyclopaedias for a quarter, as
`training.retrieval_encoder` keeps them from what vectors are trained on. Each is searched once by both legs; what the
weights would make of it is computed here: the fusion's by a grid, the reranker's by listwise logistic regression.
Printed is how often a passage that answers stands first, among three and among ten: on these, and on the kept worlds.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from agent.evaluation.retrieval_run import DatasetQuery, loaded
from graphrag.config.settings import Settings
from graphrag.models import Hit
from graphrag.observability.telemetry import configure_logging
from graphrag.rerankers.bundled import ACROSS, WEIGHTS, Features, describe, with_text
from graphrag.retrieval import hybrid
from graphrag.retrieval.fusion import weighted_sum
from graphrag.retrieval.pipeline import SearchRequest
from graphrag.retrieval.query import Query
from graphrag.services import Services, open_services
from tests.benchmarks.answering import read, spread
from tests.benchmarks.worlds import FITTED, KEPT
from training.answerability import is_kept, part
from training.prompts import Job, read_misleading, read_worlds
from training.retrieval_encoder import SETS, flat

QUESTIONS = 150  # of an encyclopaedia
ENCYCLOPAEDIC_SHARE = 0.25
WEIGHTS_OF_VECTORS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
CANDIDATES, RERANKED = 50, 30
Ranked = Sequence[Hit]


@dataclass(frozen=True)
class Searched:
    source: str
    is_kept: bool
    rankings: Mapping[str, Ranked]  # by leg
    features: Mapping[UUID, Features]  # by chunk; without its standing
    across: frozenset[UUID]  # chunks in another language
    right: frozenset[UUID]

    def fuse(self, weight: float) -> Ranked:
        weights = {"fulltext": 1 - weight, "vector": weight}
        return weighted_sum(self.rankings, weights=weights, depth=CANDIDATES)

    def describe(self, weight: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return hits × features and which of them answer, in the order of the fusion."""
        hits = self.fuse(weight)[:RERANKED]
        scores = np.array([hit.score for hit in hits])
        standing = (scores - scores.min()) / max(float(np.ptp(scores)), 1e-9)
        rows = [
            (*astuple(replace(self.features[hit.chunk.id], retrieval=float(place))), float(hit.chunk.id in self.across))
            for hit, place in zip(hits, standing, strict=True)
        ]
        return np.array(rows), np.array([hit.chunk.id in self.right for hit in hits])


async def search(job: Job, queries: Sequence[DatasetQuery], *, services: Services) -> list[Searched]:
    seen: list[tuple[Mapping[str, Ranked], str]] = []
    fuse = hybrid.fuse

    def keep(rankings: Mapping[str, Ranked], query: Query) -> list[Hit]:
        seen.append((rankings, query.transformed.language))
        return fuse(rankings, query)

    hybrid.fuse = keep
    found = []
    try:
        async with loaded(
            job.dataset, services=services, name=job.name, embedding_model=None, keep=False, advance=lambda _: None
        ) as load:
            pipeline = services.retrieval.measured()
            for query in queries:
                seen.clear()
                record = job.records.get(query.id)
                before = (record.get("previous") or ())[-1:] if record else ()
                text = " ".join([*before, query.text])
                overrides = {"strategy": "hybrid", "candidates_per_leg": CANDIDATES, "rerank": False}
                request = SearchRequest(text, (load.collection.name,), overrides)
                await pipeline.find(request, services.owner)
                if seen:
                    found.append(_describe(job, query, record, *seen[0], text=text))
    finally:
        hybrid.fuse = fuse
    return found


def _describe(
    job: Job,
    query: DatasetQuery,
    record: Mapping[str, Any] | None,
    rankings: Mapping[str, Ranked],
    language: str,
    *,
    text: str,
) -> Searched:
    hits = with_text([*{hit.chunk.id: hit for ranking in rankings.values() for hit in ranking}.values()])
    if record:
        quotes = [(each["doc"], flat(each["quote"])) for each in (*record["evidence"], *record.get("also", ()))]
        right = [any(h.chunk.document.source == doc and q in flat(h.chunk.content) for doc, q in quotes) for h in hits]
        is_aside = job.dataset.name in KEPT
    else:
        right = [hit.chunk.document.source in query.relevance for hit in hits]
        is_aside = part(next(iter(query.relevance))) == 3
    return Searched(
        "worlds" if record else job.name,
        is_aside,
        rankings,
        {hit.chunk.id: each for hit, each in zip(hits, describe(text, hits, language=language), strict=True)},
        frozenset(hit.chunk.id for hit in hits if hit.chunk.document.language != language),
        frozenset(hit.chunk.id for hit, is_right in zip(hits, right, strict=True) if is_right),
    )


Tables = Sequence[tuple[NDArray[np.float64], NDArray[np.bool_]]]  # a question each


def read_jobs(data: Path) -> Iterator[Job]:
    for job in read_worlds():
        if job.dataset.name in (*KEPT, *FITTED):
            yield job
    for name in SETS:
        yield Job(name, *read(data / name))
    yield next(read_misleading(data / "squad-es-v2-dev", "squad-es-v2"))


def choose(job: Job, every: int) -> list[DatasetQuery]:
    if job.records:
        return [each for each in job.dataset.queries if job.records[each.id]["answerable"]][::every]
    kept = [each for each in job.dataset.queries if each.id in job.answers and is_kept(next(iter(each.relevance)))]
    return spread(kept, QUESTIONS)[::every]


def fit(tables: Tables, shares: Sequence[float]) -> NDArray[np.float64]:
    """Return weights of the features with which what answers is likeliest first; they sum to 1 but for the last."""

    def loss(weights: NDArray[np.float64]) -> float:
        losses = []
        for (features, right), share in zip(tables, shares, strict=True):
            scores = features @ weights
            most = scores.max()
            losses.append(-share * (np.logaddexp.reduce(scores[right] - most) - np.logaddexp.reduce(scores - most)))
        return float(np.sum(losses) + 1e-4 * weights @ weights)

    found = minimize(loss, np.ones(tables[0][0].shape[1]), method="L-BFGS-B").x
    return np.asarray(found / found[:-1].sum())


def measure(tables: Tables, weights: NDArray[np.float64], *, is_penalised: bool = False) -> str:
    """Return for what share of the questions what answers stands first, among three, and among ten."""
    told = []
    for features, right in tables:
        scores = features @ weights
        if is_penalised:
            scores *= np.where(features[:, -1], ACROSS, 1.0)
        order = right[np.argsort(-scores, kind="stable")]
        told.append([order[:most].any() for most in (1, 3, 10)])
    return " ".join(f"{share:.3f}" for share in np.mean(told, axis=0))


def report(searched: Sequence[Searched]) -> None:
    names = sorted({each.source for each in searched})
    print("right first, among 3, among 10; by the fusion alone")
    for weight in WEIGHTS_OF_VECTORS:
        for is_aside in (False, True):
            own = {name: [s for s in searched if s.source == name and s.is_kept is is_aside] for name in names}
            alone = np.array([1.0, *[0.0] * len(fields(Features))])
            told = "; ".join(
                f"{name} {measure([s.describe(weight) for s in each], alone)}" for name, each in own.items()
            )
            print(f"{weight} {'kept' if is_aside else 'fitted'}: {told}", flush=True)
    landed = np.array([*astuple(WEIGHTS), 0.0])
    for weight in WEIGHTS_OF_VECTORS:
        tables = {
            (name, is_aside): [s.describe(weight) for s in searched if s.source == name and s.is_kept is is_aside]
            for name in names
            for is_aside in (False, True)
        }
        fitted = [
            (name, each) for (name, is_aside), of in tables.items() if not is_aside for each in of if each[1].any()
        ]
        count = {name: sum(other == name for other, _ in fitted) for name in names}
        shares = [
            (1 - ENCYCLOPAEDIC_SHARE) / count[name]
            if name == "worlds"
            else ENCYCLOPAEDIC_SHARE / (len(names) - 1) / count[name]
            for name, _ in fitted
        ]
        weights = fit([each for _, each in fitted], shares)
        told = ", ".join(f"{each.name} {value:.2f}" for each, value in zip(fields(Features), weights, strict=False))
        print(f"vectors {weight}, reranker {told}, across {weights[-1]:.2f}")
        for (name, is_aside), of in tables.items():
            before = measure(of, landed, is_penalised=True)
            print(
                f"  {name} {'kept' if is_aside else 'fitted'} {len(of)}: {before} → {measure(of, weights)}", flush=True
            )


async def run(arguments: argparse.Namespace) -> None:
    searched: list[Searched] = []
    with tempfile.TemporaryDirectory(prefix="cw-") as home:
        services = open_services(Settings.from_environment(home=Path(home)))
        await services.open()
        for job in read_jobs(arguments.data):
            searched += await search(job, choose(job, arguments.every), services=services)
        await services.close()
    report(searched)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--every", type=int, default=1, help="ask every so many questions")
    configure_logging("ERROR")
    asyncio.run(run(parser.parse_args()))
