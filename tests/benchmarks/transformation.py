"""Measure how long the rules take for a question.

python -m tests.benchmarks.transformation [--rounds 5]
"""

import argparse
import json
import statistics
import time
from pathlib import Path

from graphrag.linguistics import language
from graphrag.observability.telemetry import configure_logging
from graphrag.query_transformation.follow_ups import Exchange
from graphrag.query_transformation.transformation import transform

QUESTIONS = Path(__file__).parents[1] / "graphrag" / "query_transformation" / "questions"
WANTED_P95_MS = 15


def read_questions() -> list[str]:
    lines = [line for path in sorted(QUESTIONS.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    return [json.loads(line)["question"] for line in lines]


def measure(questions: list[str], earlier: list[Exchange]) -> list[float]:
    times = []
    for question in questions:
        started = time.perf_counter()
        transform(question, earlier)
        times.append((time.perf_counter() - started) * 1000)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    configure_logging("WARNING")
    language.load()
    questions = read_questions()
    conversation = [Exchange(question) for question in questions[:4]]
    long = [" ".join(questions)[:4_000]]
    measure(questions, [])
    print(f"{len(questions)} questions, {rounds} rounds; milliseconds")
    for name, asked, earlier in (
        ("alone", questions, []),
        ("in a conversation", questions, conversation),
        ("4,000 characters", long * 20, conversation),
    ):
        times = [value for _ in range(rounds) for value in measure(asked, earlier)]
        p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        print(f"{name:20} p50 {p50:6.2f}  p95 {p95:6.2f}  most {max(times):6.2f}   (wanted: p95 < {WANTED_P95_MS})")


if __name__ == "__main__":
    main()
