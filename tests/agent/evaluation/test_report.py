"""A run as a page: what stands in it, in whose language, and that it needs nothing else."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr
from selectolax.lexbor import LexborHTMLParser, LexborNode

from agent.evaluation.golden_run import Evaluator, order_run
from agent.evaluation.report import (
    RunReport,
    distribute,
    find_latest,
    find_worst,
    group_cases,
    order_metrics,
    read_report,
)
from agent.evaluation.report_page import WORDS, write_page
from graphrag.config.settings import Settings
from graphrag.errors import EvaluationNotFound, EvaluationUnfinished
from graphrag.models.evaluation import CaseResult, CaseStatus, EvaluationRun
from graphrag.services import Services, open_services
from tests.golden_library import HORNO, PUENTE, TINS, Shelf, draft, open_shelf

HOSTILE = '<script>alert(1)</script> "y" & <img src=x onerror=alert(1)>'
ADDRESS = re.compile(r"https?:|//[a-z]|url\(|@import|\bsrc=|\bhref=", re.IGNORECASE)


def result(position: int, *, rank: int | None = 1, **fields: Any) -> CaseResult:
    metrics = {"ndcg@10": 1 / rank if rank else 0.0, "hit@10": float(bool(rank))}
    case = CaseResult(
        position, uuid4(), f"¿Qué pasó {position}?", "factual", "easy", (uuid4(),), CaseStatus.MEASURED,
        rank=rank, metrics=metrics, milliseconds=10.0 + position,
    )  # fmt: skip
    return replace(case, **fields)


async def evaluate(shelf: Shelf, **choices: Any) -> EvaluationRun:
    run = await order_run(shelf.collection, services=shelf.services, answers=False, **choices)
    await Evaluator(shelf.services).evaluate(run.owner_id, run.collection_id, run.id)
    return await shelf.services.evaluations.find(run.owner_id, run.id)


def read(page: str) -> tuple[LexborHTMLParser, dict[str, str]]:
    """The page, and its sections' text by their heading's id."""
    tree = LexborHTMLParser(page)
    return tree, {str(node.attributes["aria-labelledby"]): text_of(node) for node in tree.css("section")}


def text_of(node: LexborNode) -> str:
    return " ".join(node.text(separator=" ").split())


async def fill(services: Services, owner: str) -> Shelf:
    shelf = await open_shelf(services, owner)
    await shelf.add(
        draft(HORNO, "horno.md", category="causal", difficulty="hard"),
        draft(PUENTE, "entrepot.md", "puente.md", category="temporal"),
        draft(TINS, "stock.md", difficulty="easy"),
        draft(HOSTILE, "entrepot.md"),
    )
    return shelf


@pytest.fixture(scope="module")
async def report(postgres: str) -> RunReport:
    """Of the second of two runs, whose name is markup; a document of it has been deleted since."""
    services = open_services(Settings.from_environment(database_url=SecretStr(postgres)))
    try:
        shelf = await fill(services, f"owner-{uuid4().hex}")
        await shelf.add(draft("¿Quién ganó la regata de 2031?"))
        await evaluate(shelf, name="primera")
        run = await evaluate(shelf, name=HOSTILE, overrides={"strategy": "fulltext"})
        assert (await find_latest(services, run.owner_id, shelf.collection.name)).id == run.id
        await shelf.drop("entrepot.md")
        return await read_report(services, run.owner_id, run.id)
    finally:
        await services.close()


def test_a_page_tells_of_a_run(report: RunReport) -> None:
    """R10.4, 001.9.7–8 what was measured, the figures, the run before, the trend, the worst questions."""
    run = report.run
    page = write_page(report, "en")
    tree, sections = read(page)
    assert set(sections) == {
        "figures", "latency", "comparison", "trend", "worst", "degraded", "configuration", "meaning"
    }  # fmt: skip
    for word in (run.config_hash, run.golden_hash, "fulltext"):
        assert word in sections["configuration"]
    assert run.summary is not None
    assert f"ndcg@10 {run.summary['metrics']['ndcg@10']:.3f}" in sections["figures"]
    assert "Against the run primera" in sections["comparison"]
    assert "strategy auto fulltext" in sections["comparison"]
    assert "too few questions" in sections["comparison"]
    assert HOSTILE in sections["trend"]
    assert "primera 5 yes" in sections["trend"]  # as many questions as the figures tell of
    assert "ndcg@10" in sections["trend"].partition("primera")[2]  # against the run before
    assert f"{PUENTE} Temporal · Medium" in sections["worst"]
    assert "puente.md ✓" in sections["worst"]
    assert "deleted document" in sections["worst"]
    assert [str(chart.attributes["aria-label"]) for chart in tree.css("svg[role=img]")] == [
        WORDS[key]["en"] for key in ("by_group", "histogram", "trend")
    ]


def test_a_page_needs_nothing_and_runs_nothing(report: RunReport) -> None:
    """R10.4, security 9 no script, no address; what a person wrote is text, in the charts too."""
    page = write_page(report, "es")
    tree, _ = read(page)
    assert not tree.css("script, img, link, iframe, object")
    assert not [node for node in tree.css("*") if any(name.startswith("on") for name in node.attributes)]
    markup = re.sub(r">[^<]*<", "><", page.partition("</style>")[2])
    assert not ADDRESS.search(markup)
    assert not ADDRESS.search("".join(node.text() for node in tree.css("style")))
    assert HOSTILE in tree.css("h1")[0].text()
    headers = [node for node in tree.css("th") if node.attributes.get("scope") not in ("col", "row", "rowgroup")]
    assert not headers
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(ids) == len(set(ids))
    assert {node.attributes["aria-labelledby"] for node in tree.css("[aria-labelledby]")} <= set(ids)


def test_a_page_speaks_three_languages(report: RunReport) -> None:
    """R10.4, 001.9.8 headings and numbers are the reader's; what is an estimate is called so and explained."""
    estimated = {"faithfulness_estimate": 0.5}
    results = [replace(of, metrics={**of.metrics, **estimated}, unjudged=("faithfulness",)) for of in report.results]
    for language, number in {"es": "0,500", "fr": "0,500", "en": "0.500"}.items():
        tree, sections = read(write_page(replace(report, results=results), language))
        assert tree.css("html")[0].attributes["lang"] == language
        assert f"faithfulness_estimate {number}" in sections["figures"]
        assert f"{number[:2]}8" in {text_of(node) for node in tree.css("svg text")}  # on an axis
        assert WORDS["estimate_note"][language] in sections["figures"]
        assert WORDS["about_faithfulness_estimate"][language] in sections["meaning"]
        assert WORDS["unjudged"][language].format(name="faithfulness", count=5) in sections["figures"]


def test_every_word_is_there_in_three_languages() -> None:
    """R10.4 with the same gaps to fill in."""
    gaps = {key: {tuple(sorted(re.findall(r"{(\w+)}", text))) for text in of.values()} for key, of in WORDS.items()}
    assert {key for key, of in WORDS.items() if set(of) != {"es", "fr", "en"}} == set()
    assert {key for key, found in gaps.items() if len(found) != 1} == set()


async def test_what_has_no_report_is_told(services: Services, owner: str) -> None:
    """R10.4 a run that is not done, an unknown one, another owner's, a collection without one."""
    shelf = await fill(services, owner)
    with pytest.raises(EvaluationNotFound, match="eval run"):
        await find_latest(services, owner, shelf.collection.name)
    waiting = await order_run(shelf.collection, services=services)
    with pytest.raises(EvaluationUnfinished):
        await read_report(services, owner, waiting.id)
    for name in ("horno.md", "puente.md", "entrepot.md", "stock.md"):
        await shelf.drop(name)
    run = await evaluate(shelf)
    with pytest.raises(EvaluationUnfinished):
        await read_report(services, owner, run.id, baseline_id=waiting.id)
    for unknown in ({"run_id": uuid4()}, {"run_id": run.id, "baseline_id": uuid4()}):
        with pytest.raises(EvaluationNotFound):
            await read_report(services, owner, **unknown)
    with pytest.raises(EvaluationNotFound):
        await read_report(services, f"other-{owner}", run.id)
    empty = await read_report(services, owner, run.id)  # every case was skipped
    _, sections = read(write_page(empty, "en"))
    assert set(sections) == {"warnings", "worst", "skipped", "degraded", "configuration"}
    assert HORNO in sections["skipped"]
    assert empty.baseline is None


def test_figures_are_of_those_that_have_them() -> None:
    """R10.2 a mean is of the cases with the metric, and says of how many; others of ours come in their order."""
    unanswerable = result(2, relevant_document_ids=(), metrics={"refused_rightly": 0.0}, difficulty="hard")
    everything, *groups = group_cases([result(0), result(1, rank=2), unanswerable])
    assert (everything.cases, everything.figures["ndcg@10"].mean, everything.figures["ndcg@10"].n) == (3, 0.75, 2)
    assert {group.name: group.cases for group in groups} == {"factual": 3, "easy": 2, "hard": 1}
    assert "ndcg@10" not in groups[-1].figures
    assert order_metrics(["x", "refused_rightly", "mrr@10", "hit@1", "a"]) == {
        "retrieval": ["hit@1", "mrr@10"], "answers": ["refused_rightly"], "others": ["a", "x"]
    }  # fmt: skip
    assert group_cases([])[0].figures == {}


def test_the_worst_come_first_and_the_perfect_not_at_all() -> None:
    """R10.4, 001.9.8 by the least of what a case is judged by: also a question that is wrongly refused."""
    metrics: Mapping[str, float] = {"ndcg@10": 1.0, "answered": 0.0}
    refused = result(3, metrics=metrics)
    cases = [result(0), result(1, rank=2), result(2, rank=4), refused, result(4, metrics={}), result(5, rank=None)]
    assert [case.position for case in find_worst(cases, limit=9)] == [3, 5, 2, 1]
    assert [case.position for case in find_worst(cases, limit=2)] == [3, 5]


@pytest.mark.parametrize("values", [[], [5.0], [5.0, 5.0], [1.0] * 50 + [9_000.0], [float(n % 37) for n in range(500)]])
def test_every_time_is_in_a_bin(values: list[float]) -> None:
    """R10.2 of no value there is none."""
    bins = distribute(values)
    assert sum(of.count for of in bins) == len(values)
    assert len(bins) <= 15
    assert all(one.high == pytest.approx(other.low) for one, other in pairwise(bins))
