"""Questions put to a search: what it finds, how long each takes, how many a second."""

import asyncio
import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.benchmarks.datasets import Question
from tests.benchmarks.systems.protocol import Search

HITS = 10
WARM_UP = 20
MEASURED = 200  # at least so many searches, in whole rounds over the questions


@dataclass
class Answers:
    rankings: dict[int, Sequence[int]] = field(default_factory=dict)  # question → rows
    milliseconds: list[float] = field(default_factory=list)
    seconds: float = 0.0
    in_time: bool = True


def searches_of(questions: Sequence[Question]) -> int:
    return len(questions) * -(-MEASURED // len(questions))


async def ask(
    search: Search,
    questions: Sequence[Question],
    *,
    clients: int,
    limit_seconds: float,
    progress: Callable[[int], None] = lambda count: None,
) -> Answers:
    """Every question at least once, by so many clients at the same time; when the time is up, what is done till then.

    Raises TimeoutError where that is nothing.
    """
    answers = Answers()
    waiting = itertools.islice(itertools.cycle(enumerate(questions)), searches_of(questions))
    started = time.perf_counter()
    try:
        async with asyncio.timeout(limit_seconds):
            await asyncio.gather(*(_client(search, waiting, answers, progress) for _ in range(clients)))
    except TimeoutError:
        answers.in_time = False
        if not answers.milliseconds:
            raise
    answers.seconds = time.perf_counter() - started
    return answers


async def warm_up(search: Search, questions: Sequence[Question], *, limit_seconds: float) -> None:
    """Raises TimeoutError where not even these are answered in time."""
    async with asyncio.timeout(limit_seconds):
        for question in itertools.islice(itertools.cycle(questions), WARM_UP):
            await search(question.text, HITS)


async def _client(
    search: Search, waiting: Iterator[tuple[int, Question]], answers: Answers, progress: Callable[[int], None]
) -> None:
    for number, question in waiting:
        started = time.perf_counter()
        rows = await search(question.text, HITS)
        answers.milliseconds.append((time.perf_counter() - started) * 1000)
        answers.rankings[number] = rows
        progress(1)


def speed(answers: Answers) -> dict[str, float]:
    return {
        "p50_ms": percentile(answers.milliseconds, 0.5),
        "p95_ms": percentile(answers.milliseconds, 0.95),
        "per_second": len(answers.milliseconds) / answers.seconds,
    }


def quality(
    rankings: Mapping[int, Sequence[int]], questions: Sequence[Question], documents: Sequence[str]
) -> dict[str, float]:
    """`documents`: of each row. A document stands where its best passage does."""
    ranks = []
    for number, rows in rankings.items():
        found = list(dict.fromkeys(documents[row] for row in rows[:HITS]))
        places = [place for place, name in enumerate(found, start=1) if name in questions[number].relevant]
        ranks.append(min(places, default=0))
    return {
        "hit@1": statistics.fmean(rank == 1 for rank in ranks),
        "hit@10": statistics.fmean(rank > 0 for rank in ranks),
        "mrr@10": statistics.fmean(1 / rank if rank else 0.0 for rank in ranks),
    }


def overlap(exact: Mapping[int, Sequence[int]], found: Mapping[int, Sequence[int]]) -> float:
    """The share of the exact hits that were found."""
    shares = [len({*rows} & {*found[number]}) / len(rows) for number, rows in exact.items() if rows]
    return statistics.fmean(shares) if shares else 1.0


def percentile(values: Sequence[float], share: float) -> float:
    if len(values) < 2:
        return values[0]
    return statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]
