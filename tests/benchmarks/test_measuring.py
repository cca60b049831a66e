"""What the benchmark reports of a search: its places, its speed, its failures."""

import asyncio
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.benchmarks import measuring
from tests.benchmarks.datasets import Question, load_beir, load_demo
from tests.benchmarks.measuring import ask, overlap, quality
from tests.benchmarks.report import Result, Results, print_table
from tests.benchmarks.retrieval import SYSTEMS, expected_seconds, measure, prepare

QUESTIONS = [
    Question("one", frozenset({"a"})),
    Question("two", frozenset({"b", "c"})),
    Question("three", frozenset("d")),
]


def test_document_stands_where_its_best_passage_does() -> None:
    """R10.2 Hit@k and MRR are of documents, whichever of their passages were found."""
    documents = ["a", "x", "x", "b", "c"]  # of the rows
    found = quality({0: [0, 1], 1: [1, 2, 3, 4], 2: [1, 2]}, QUESTIONS, documents)
    assert found == {"hit@1": pytest.approx(1 / 3), "hit@10": pytest.approx(2 / 3), "mrr@10": pytest.approx(0.5)}


def test_overlap_is_the_share_of_the_exact_hits() -> None:
    """R12 What a candidate budget loses is shown."""
    assert overlap({0: [1, 2, 3, 4], 1: [], 2: [5, 6]}, {0: [4, 3, 2, 9], 1: [7], 2: [5, 6]}) == pytest.approx(0.875)


async def test_every_question_is_asked_by_so_many_clients() -> None:
    """R12 Throughput is measured with the clients that the report names."""
    under_way = []
    most = 0

    async def search(question: str, k: int) -> Sequence[int]:
        nonlocal most
        under_way.append(question)
        most = max(most, len(under_way))
        await asyncio.sleep(0)
        under_way.remove(question)
        return [0]

    answers = await ask(search, QUESTIONS, clients=4, limit_seconds=30)
    assert most == 4
    assert set(answers.rankings) == {0, 1, 2}
    assert answers.in_time
    assert len(answers.milliseconds) >= measuring.MEASURED


async def test_search_that_takes_too_long_is_left() -> None:
    """R12 A slow system is reported with what it did, and the others are still measured."""

    async def search(question: str, k: int) -> Sequence[int]:
        if question == "two":
            await asyncio.Event().wait()
        return [0]

    answers = await ask(search, QUESTIONS, clients=1, limit_seconds=0.2)
    assert not answers.in_time
    assert set(answers.rankings) == {0}


async def test_system_that_fails_is_a_line_of_the_report(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R12 A peer that can't be installed or started doesn't end the benchmark, and isn't left out."""
    monkeypatch.setitem(SYSTEMS, "absent", "no_such_module.System")
    console = Console(file=io.StringIO(), width=200)
    corpus = prepare(load_demo().sample(1), 150, tmp_path, console)
    result = await measure(corpus, Result("demo", "absent", 150, 1, (1,), 60), postgres, console)
    print_table([result], shown := Console(file=io.StringIO(), width=200))
    assert "absent: ModuleNotFoundError: No module named" in shown.file.getvalue()  # type: ignore[attr-defined]


def test_finished_results_are_kept_and_failed_ones_are_tried_again(tmp_path: Path) -> None:
    """R12 A run of hours goes on where it ended."""
    wanted = Result("demo", "causeway", 2_000, 30, (1, 8), limit_seconds=60)
    done = replace(wanted, seconds=60, searches={"hybrid": {"hit@1": 0.5}})
    failed = replace(wanted, system="chroma", error="OSError: no space left")
    slow = replace(wanted, system="ensemble", searches={"": {"hit@1": 0.5, "error": "> 60 s for 9 of 30 questions"}})
    first = Results(tmp_path / "retrieval.json", {}, resume=False)
    for result in (done, failed, slow):
        first.keep(result)
    again = Results(tmp_path / "retrieval.json", {}, resume=True)
    assert again.find(wanted) == done
    assert again.find(replace(wanted, questions=31)) is None
    assert again.find(replace(wanted, system="chroma")) is None
    assert again.find(replace(wanted, system="ensemble")) == slow
    assert again.find(replace(wanted, system="ensemble", limit_seconds=600)) is None
    assert expected_seconds([done], replace(wanted, size=50_000)) == pytest.approx(1_500)


def test_long_document_is_several_passages_of_one_document(tmp_path: Path) -> None:
    """R10.6 A dataset's documents are chunked once, and every system gets the same passages."""
    story = " ".join(f"In year {year} the oven of line four was repaired by another technician." for year in range(90))
    rows = [{"_id": "d1", "title": "Ovens", "text": story}, {"_id": "d2", "text": "Le four a été réparé en mai."}]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "When?"}\n{"_id": "q2", "text": "Who?"}')
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0")
    dataset = load_beir(tmp_path)
    assert "".join(passage.text for passage in dataset.passages[:-1]) == story
    assert [passage.document for passage in dataset.passages] == ["d1"] * (len(dataset.passages) - 1) + ["d2"]
    assert len(dataset.passages) > 2
    assert [passage.language for passage in dataset.passages[-2:]] == ["en", "fr"]
    assert dataset.questions == [Question("When?", frozenset({"d1"}))]
