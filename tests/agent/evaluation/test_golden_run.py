"""Runs over golden cases in PostgreSQL: what is measured, once each, and what ends a run."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import SecretStr

from agent.evaluation.comparison import compare_runs
from agent.evaluation.golden_run import Evaluator, order_run
from graphrag.config.settings import Settings
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import (
    CausewayError,
    CollectionChanged,
    EvaluationNotFound,
    EvaluationUnfinished,
    GoldenVersionNotFound,
    NoGoldenCases,
)
from graphrag.linguistics.spacy_pipelines import open_recognizer
from graphrag.models.evaluation import CaseResult, CaseStatus, EvaluationRun, RunPlan, RunStatus
from graphrag.services import Services, open_services
from tests.agent.library import with_parts
from tests.golden_library import HORNO, PUENTE, TINS, Shelf, draft, open_shelf
from tests.graphrag.embeddings.stubborn import failing
from tests.graphrag.linguistics.installed_pipelines import install_pipeline

NO_ANSWER = "¿Quién ganó la liga en 1987?"


@pytest.fixture
async def shelf(services: Services, owner: str) -> Shelf:
    shelf = await open_shelf(services, owner)
    await shelf.add(
        draft(HORNO, "horno.md", category="causal", difficulty="hard"),
        draft(PUENTE, "puente.md", category="temporal"),
        draft(TINS, "stock.md", difficulty="easy"),
        draft(NO_ANSWER),
    )
    return shelf


async def order(shelf: Shelf, **choices: Any) -> EvaluationRun:
    """Of the search alone: the answers have tests of their own."""
    return await order_run(shelf.collection, services=shelf.services, answers=False, **choices)


async def evaluate(shelf: Shelf, run: EvaluationRun) -> EvaluationRun:
    await Evaluator(shelf.services).evaluate(run.owner_id, run.collection_id, run.id)
    return await shelf.services.evaluations.find(run.owner_id, run.id)


async def results(shelf: Shelf, run: EvaluationRun) -> list[CaseResult]:
    return await shelf.services.evaluations.read_results(run)


async def test_a_run_keeps_what_it_found(shelf: Shelf) -> None:
    """R10.2, R10.4 figures, dates, configuration and the ids that each case found; no document's text."""
    ordered = await order(shelf, name="primera")
    assert (ordered.status, ordered.done, ordered.total, ordered.summary) == (RunStatus.WAITING, 0, 4, None)
    run = await evaluate(shelf, ordered)
    assert (run.status, run.done, run.name, run.version) == (RunStatus.DONE, 4, "primera", None)
    assert run.summary is not None
    assert (run.summary["cases"], run.summary["unanswerable"], run.summary["skipped"]) == (3, 1, 0)
    assert run.summary["metrics"]["hit@1"] == run.summary["metrics"]["mrr@10"] == 1
    assert set(run.summary["by_category"]) == {"causal", "factual", "temporal"}
    assert run.summary["latency_ms"]["p99"] > 0
    assert run.started_at is not None
    assert run.finished_at is not None
    assert run.created_at <= run.started_at <= run.finished_at
    assert run.config["rerank"] is True
    found = await results(shelf, run)
    assert [(case.query, case.rank, case.status) for case in found] == [
        (HORNO, 1, CaseStatus.MEASURED),
        (PUENTE, 1, CaseStatus.MEASURED),
        (TINS, 1, CaseStatus.MEASURED),
        (NO_ANSWER, None, CaseStatus.MEASURED),
    ]
    assert found[0].retrieved_document_ids[0] == shelf.id("horno.md")
    assert found[3].metrics == {}
    assert all(case.milliseconds for case in found)


async def test_what_is_overridden_is_what_is_measured(shelf: Shelf) -> None:
    """R4.10, R10.4 after the collection's own values; what is not valid is passed over with a warning."""
    configured = await shelf.services.store.configure_collection(shelf.collection, {"strategy": "fulltext"})
    run = await order_run(
        configured,
        services=shelf.services,
        overrides={"rerank": False, "rrf_k": "x", "nonsense": 1},
        k=25,
        answers=False,
    )
    assert (run.config["strategy"], run.config["rerank"], run.config["rrf_k"]) == ("fulltext", False, 60)
    assert run.config["top_k"] == 25
    assert [warning.split()[0] for warning in run.warnings] == ["rrf_k='x'", "'nonsense'=1"]
    assert (await evaluate(shelf, run)).status is RunStatus.DONE


async def test_equal_runs_have_equal_hashes(shelf: Shelf) -> None:
    """R10.4 of configuration, embedding model and cases: whatever the run is called, by version or as they are."""
    version = await shelf.services.golden.add_version(shelf.collection)
    same = [await order(shelf), await order(shelf, name="otra"), await order(shelf, version=version.number)]
    assert len({run.config_hash for run in same}) == 1
    assert {run.golden_hash for run in same} == {version.content_hash}
    others = [await order(shelf, overrides={"rerank": False}), await order(shelf, k=11)]
    await shelf.add(draft("¿Otra pregunta?", "horno.md"))
    others.append(await order(shelf))
    assert len({run.config_hash for run in [same[0], *others]}) == 4


async def test_a_run_says_which_pipelines_names_are_found_by(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R10.4, R7.1"""
    install_pipeline(tmp_path, "es_core_news_sm")
    monkeypatch.syspath_prepend(tmp_path)
    shelf = replace(shelf, services=with_parts(shelf.services, name_recognizer=open_recognizer(None)))
    assert (await order(shelf)).config["name_pipelines"] == ["es_core_news_sm 3.8.0"]


async def test_a_run_names_the_version_that_it_measures(shelf: Shelf) -> None:
    """R10.1, R10.4 a version's cases, whatever has become of them since; an unknown one is told."""
    version = await shelf.services.golden.add_version(shelf.collection)
    for case in await shelf.services.golden.list_all(shelf.collection):
        await shelf.services.golden.delete(shelf.collection.owner_id, case.id)
    with pytest.raises(NoGoldenCases):
        await order(shelf)
    run = await evaluate(shelf, await order(shelf, version=version.number))
    assert (run.version, run.done) == (1, 4)
    with pytest.raises(GoldenVersionNotFound):
        await order(shelf, version=2)


async def test_what_changes_meanwhile_is_another_runs(shelf: Shelf) -> None:
    """R10.4 a run measures the cases of the moment when it was ordered."""
    ordered = await order(shelf)
    await shelf.add(draft("¿Otra pregunta?", "horno.md"))
    run = await evaluate(shelf, ordered)
    assert (run.done, run.total) == (4, 4)


async def test_broken_cases_are_skipped_with_a_warning(shelf: Shelf) -> None:
    """R10.1, R10.2 also where the document goes after the run was ordered."""
    ordered = await order(shelf)
    await shelf.drop("puente.md")
    run = await evaluate(shelf, ordered)
    assert run.summary is not None
    assert (run.status, run.done, run.summary["cases"], run.summary["skipped"]) == (RunStatus.DONE, 4, 2, 1)
    assert run.warnings == ("1 cases were skipped: documents that they name have been deleted",)
    skipped = (await results(shelf, run))[1]
    assert (skipped.status, skipped.missing_document_ids) == (CaseStatus.SKIPPED, (shelf.id("puente.md"),))
    assert (skipped.metrics, skipped.milliseconds, skipped.retrieved_document_ids) == ({}, None, ())


async def test_a_run_that_is_begun_again_goes_on(shelf: Shelf) -> None:
    """R10.4, security 17: what is measured is not measured again; a run that is over is not begun."""
    run = await order(shelf)
    store = shelf.services.evaluations
    begun = await store.begin(run.owner_id, run.collection_id, run.id)
    assert begun is not None
    (case, gone), *_ = await store.take(begun, limit=1)
    marked = replace(case, status=CaseStatus.MEASURED, rank=7, milliseconds=1.0, metrics={})
    assert gone == ()
    assert await store.save(begun, marked)
    done = await evaluate(shelf, run)  # another worker, after the first has died
    assert (done.status, done.done, done.started_at) == (RunStatus.DONE, 4, begun.started_at)
    first, *others = await results(shelf, done)
    assert (first.rank, first.milliseconds) == (7, 1.0)
    assert {case.rank for case in others} == {1, None}
    assert (await evaluate(shelf, run)).finished_at == done.finished_at


async def test_a_worker_that_was_thought_dead_writes_nothing(shelf: Shelf) -> None:
    """R10.4, security 17: no double work counts; the one who took the run up has it."""
    run = await order(shelf)
    store = shelf.services.evaluations
    slow = await store.begin(run.owner_id, run.collection_id, run.id)
    quick = await store.begin(run.owner_id, run.collection_id, run.id)
    assert slow is not None
    assert quick is not None
    ((case, _),) = await store.take(slow, limit=1)
    measured = replace(case, status=CaseStatus.MEASURED)
    assert not await store.save(slow, measured)
    await store.finish(slow, {}, warnings=[])
    now = await store.find(run.owner_id, run.id)
    assert (now.status, now.done) == (RunStatus.RUNNING, 0)
    assert await store.save(quick, measured)
    assert not await store.save(quick, measured)


async def test_two_workers_at_once_measure_each_case_once(shelf: Shelf) -> None:
    """R10.4, security 17."""
    run = await order(shelf)
    await asyncio.gather(*(evaluate(shelf, run) for _ in range(3)))
    done = await shelf.services.evaluations.find(run.owner_id, run.id)
    assert (done.status, done.done) == (RunStatus.DONE, 4)
    assert {case.status for case in await results(shelf, done)} == {CaseStatus.MEASURED}


async def test_a_cancelled_run_measures_nothing_more(shelf: Shelf) -> None:
    """R10.4 whether it waits or is under way; what is over stays as it is."""
    waiting, running = await order(shelf), await order(shelf)
    store = shelf.services.evaluations
    begun = await store.begin(running.owner_id, running.collection_id, running.id)
    assert begun is not None
    ((case, _),) = await store.take(begun, limit=1)
    for run in (waiting, running):
        assert (await store.cancel(run.owner_id, run.id)).status is RunStatus.CANCELLED
        assert (await evaluate(shelf, run)).done == 0
    assert not await store.save(begun, replace(case, status=CaseStatus.MEASURED))
    done = await evaluate(shelf, await order(shelf))
    assert (await store.cancel(done.owner_id, done.id)) == done
    with pytest.raises(EvaluationUnfinished) as told:
        await compare_runs(store, done.owner_id, done.id, waiting.id)
    assert told.value.details == {"run": str(waiting.id), "status": "cancelled"}


async def test_a_run_that_is_deleted_in_mid_work_ends(shelf: Shelf) -> None:
    """R9.5 and so does one whose collection is."""
    run = await order(shelf)
    store = shelf.services.evaluations
    begun = await store.begin(run.owner_id, run.collection_id, run.id)
    assert begun is not None
    await store.delete(run.owner_id, run.id)
    assert await store.take(begun, limit=9) == []
    await Evaluator(shelf.services).evaluate(run.owner_id, run.collection_id, run.id)
    other = await order(shelf)
    assert await shelf.services.store.delete_collection(shelf.collection)
    await Evaluator(shelf.services).evaluate(other.owner_id, other.collection_id, other.id)
    for gone in (run, other):
        with pytest.raises(EvaluationNotFound):
            await store.find(gone.owner_id, gone.id)


async def test_another_embedding_model_ends_the_run(shelf: Shelf) -> None:
    """R3.8, R10.4 the figures of two models are not mixed; the cause is kept."""
    run = await order(shelf)
    async with shelf.services.database.transaction(run.owner_id) as connection:
        await connection.execute("UPDATE collections SET embedding_model = 'other'")
    evaluator = Evaluator(shelf.services)
    with pytest.raises(CollectionChanged) as told:
        await evaluator.evaluate(run.owner_id, run.collection_id, run.id)
    await evaluator.give_up(run.owner_id, run.collection_id, run.id, told.value)
    failed = await shelf.services.evaluations.find(run.owner_id, run.id)
    assert (failed.status, failed.reason) == (RunStatus.FAILED, "collection_changed")
    assert "order the run anew" in failed.cause
    assert failed.finished_at is not None


async def test_who_was_thought_dead_ends_no_run_of_anothers(shelf: Shelf) -> None:
    """R10.4, security 17: its error is its own, where another one has taken the run up."""
    run = await order(shelf)
    store = shelf.services.evaluations
    slow, quick = [await store.begin(run.owner_id, run.collection_id, run.id) for _ in range(2)]
    for begun, status in ((slow, RunStatus.RUNNING), (quick, RunStatus.FAILED)):
        assert begun is not None
        evaluator = Evaluator(shelf.services, {run.id: begun.ticket})
        await evaluator.give_up(run.owner_id, run.collection_id, run.id, KeyError())
        assert (await store.find(run.owner_id, run.id)).status is status


async def test_an_error_of_ours_is_not_told_in_its_words(shelf: Shelf) -> None:
    """R11.1, security 20: it may hold anything."""
    run = await order(shelf)
    await Evaluator(shelf.services).give_up(run.owner_id, run.collection_id, run.id, KeyError("secret"))
    failed = await shelf.services.evaluations.find(run.owner_id, run.id)
    assert (failed.reason, "secret" in failed.cause) == ("internal_error", False)


async def test_what_was_done_without_is_counted(shelf: Shelf, registry: EmbeddingRegistry) -> None:
    """R11.1, R10.4 figures of full text alone are not taken for those of both."""
    run = await order(shelf, overrides={"strategy": "hybrid"})
    broken = EmbeddingRegistry([failing(registry.get(registry.default))])
    shelf = replace(shelf, services=with_parts(shelf.services, embeddings=broken))
    done = await evaluate(shelf, run)
    assert done.summary is not None
    assert done.summary["degraded"]["vector"] == 4
    assert (await results(shelf, done))[0].failed == ("vector",)


@pytest.fixture
async def services_of_small_chunks(postgres: str) -> AsyncIterator[Services]:
    opened = open_services(
        Settings.from_environment(database_url=SecretStr(postgres), chunk_tokens=12, chunk_overlap_tokens=0)
    )
    yield opened
    await opened.close()


async def test_a_document_ranks_by_its_best_chunk(services_of_small_chunks: Services, owner: str) -> None:
    """R10.2 many chunks take one place, and the document after them is looked for deeper."""
    pressure = " ".join(f"La presión del compresor C3 cayó el día {number} de marzo." for number in range(1, 41))
    short = "La mantequilla llegó tarde. Un compresor auxiliar la enfrió."
    shelf = await open_shelf(services_of_small_chunks, owner, **{"long.md": pressure, "short.md": short})
    await shelf.add(draft("¿Cuándo cayó la presión del compresor C3?", "short.md"))
    run = await evaluate(shelf, await order(shelf, overrides={"rerank": False}, k=5))
    (case,) = await results(shelf, run)
    assert (case.rank, case.metrics["mrr@10"]) == (2, 1 / 2)
    assert case.retrieved_document_ids == (shelf.id("long.md"), shelf.id("short.md"))


async def test_hybrid_finds_at_least_what_vectors_alone_find(shelf: Shelf) -> None:
    """R10.5 and the two runs are compared over the same cases."""
    semantic = await evaluate(shelf, await order(shelf, overrides={"strategy": "semantic"}))
    hybrid = await evaluate(shelf, await order(shelf, overrides={"strategy": "hybrid"}))
    found = await compare_runs(shelf.services.evaluations, hybrid.owner_id, semantic.id, hybrid.id)
    assert found.cases == 3
    assert found.metrics["hit@10"].difference >= 0
    assert found.config == {"strategy": ("semantic", "hybrid")}


async def test_another_owners_run_is_an_unknown_one(shelf: Shelf) -> None:
    """R4.8, security 3: in the same words; nothing of it is listed, stopped or deleted."""
    run = await evaluate(shelf, await order(shelf))
    store, stranger = shelf.services.evaluations, f"{run.owner_id}-x"
    for each in (run.id, uuid4()):
        for attempt in (
            store.find(stranger, each),
            store.cancel(stranger, each),
            store.delete(stranger, each),
            compare_runs(store, stranger, each, each),
        ):
            with pytest.raises(EvaluationNotFound) as told:
                await attempt
            assert str(told.value) == f"There is no evaluation {each}."
    assert await store.list_all(stranger) == []
    assert await store.read_results(replace(run, owner_id=stranger)) == []
    assert await store.begin(stranger, run.collection_id, run.id) is None
    assert await store.find(run.owner_id, run.id) == run


async def test_list_is_the_latest_first_and_paged(shelf: Shelf) -> None:
    """R9.5, R10.4"""
    runs = [await order(shelf, name=str(number)) for number in range(4)]
    await evaluate(shelf, runs[1])
    store, owner = shelf.services.evaluations, shelf.collection.owner_id
    every = await store.list_all(owner)
    assert [run.name for run in every] == ["3", "2", "1", "0"]
    first = await store.list_all(owner, limit=3)
    rest = await store.list_all(owner, limit=3, after=(first[-1].created_at, first[-1].id))
    assert first + rest == every
    assert [run.name for run in await store.list_all(owner, status=RunStatus.DONE)] == ["1"]
    assert await store.list_all(owner, collection_id=uuid4()) == []
    assert len(await store.list_all(owner, collection_id=shelf.collection.id)) == 4
    done = await results(shelf, every[2])
    assert await store.read_results(every[2], limit=3, after=0) == done[1:]


async def test_a_run_of_an_unloaded_model_is_not_ordered(shelf: Shelf) -> None:
    """R3.3 told at once, not by a job that fails."""
    with pytest.raises(CausewayError) as told:
        await order_run(replace(shelf.collection, embedding_model="magic"), services=shelf.services)
    assert told.value.code == "embedding_model_unavailable"


async def test_nothing_is_ordered_in_a_collection_that_is_gone(shelf: Shelf) -> None:
    """R9.5 not even a job."""
    cases = await shelf.services.golden.list_all(shelf.collection)
    run = await order(shelf)
    gone = replace(shelf.collection, id=UUID(int=7))
    jobs: list[UUID] = []

    async def defer(_: object, __: object, run_id: UUID) -> None:
        jobs.append(run_id)

    plan = RunPlan("", None, run.golden_hash, run.config, "bundled", ())
    with pytest.raises(CausewayError) as told:
        await shelf.services.evaluations.create(gone, plan, cases, defer=defer)
    assert (told.value.code, jobs) == ("collection_not_found", [])
