"""Runs that answer: over PostgreSQL, with the extractive model and with a scripted one, which judges as well."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from prometheus_client import REGISTRY
from pydantic import SecretStr

from agent.evaluation.answer_run import open_judge
from agent.evaluation.golden_run import Evaluator, order_run
from agent.evaluation.judges import PROMPTS, PROMPTS_HASH
from graphrag.config.settings import Settings
from graphrag.errors import CausewayError, CollectionChanged, JudgeUnavailable
from graphrag.models.evaluation import CaseResult, EvaluationRun
from graphrag.services import Services, open_services
from tests.golden_library import HORNO, PUENTE, Shelf, draft, open_shelf
from tests.model_server import CutStream, Garbage, ModelServer, Reply

NO_ANSWER = "¿Quién ganó la liga en 1987?"
ANSWER = Reply("El horno H2 falló porque se rompió el retén de la puerta [1].")
SUPPORTED = Reply(json.dumps({"verdicts": [{"statement": 1, "verdict": "supported"}]}))
BEST = Reply(json.dumps({"grade": 4}))
Open = Callable[..., Services]


@pytest.fixture
async def shelf(services: Services, owner: str) -> Shelf:
    shelf = await open_shelf(services, owner)
    await shelf.add(
        draft(HORNO, "horno.md", category="causal", expected_answer="Se rompió el retén de la puerta."),
        draft(PUENTE, "puente.md"),
        draft(NO_ANSWER),
    )
    return shelf


@pytest.fixture
async def with_model(postgres: str, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Open]:
    """Opens services whose chat model is the scripted one."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    opened: list[Services] = []

    def open_scripted(**settings: Any) -> Services:
        common: dict[str, Any] = {"chat_model": "openai:writer", "query_refinement": False, "chat_max_retries": 0}
        opened.append(open_services(Settings.from_environment(database_url=SecretStr(postgres), **common | settings)))
        return opened[-1]

    yield open_scripted
    for services in opened:
        await services.close()


async def measured(shelf: Shelf, **choices: Any) -> tuple[EvaluationRun, list[CaseResult]]:
    run = await order_run(shelf.collection, services=shelf.services, **choices)
    await Evaluator(shelf.services).evaluate(run.owner_id, run.collection_id, run.id)
    done = await shelf.services.evaluations.find(run.owner_id, run.id)
    assert done.status.value == "done", done.cause
    return done, await shelf.services.evaluations.read_results(done)


async def asking(services: Services, owner: str) -> Shelf:
    shelf = await open_shelf(services, owner)
    await shelf.add(draft(HORNO, "horno.md", expected_answer="El retén."))
    return shelf


def counted() -> dict[tuple[str, ...], float]:
    """Every metric of the service, but for the calls of models: those cost what people's do."""
    samples = [sample for metric in REGISTRY.collect() for sample in metric.samples]
    named = [each for each in samples if each.name.startswith("causeway_") and "_model_" not in each.name]
    return {(each.name, *each.labels.values()): each.value for each in named}


async def test_each_question_is_answered_as_a_persons_would_be(shelf: Shelf) -> None:
    """R10.3, R10.4 search and answer in one mapping of figures, latencies apart, no word of the answer kept."""
    run, (oven, bridge, nothing) = await measured(shelf, k=3)
    for case in (oven, bridge):
        assert {"ndcg@10", "faithfulness_estimate", "answer_relevance_estimate", "citation_recall"} <= set(case.metrics)
        assert (case.metrics["cited_relevant"], case.metrics["answered"]) == (1, 1)
        assert case.metrics["faithfulness_estimate"] == case.metrics["citation_precision"] == 1
        assert (case.chat_model, case.answer_failed, case.unjudged) == ("extractive", (), ())
        assert sum(case.statements.values()) >= 1
        assert case.milliseconds is not None
        assert case.answer_milliseconds is not None
        assert case.first_token_milliseconds is not None
        assert 0 < case.first_token_milliseconds <= case.answer_milliseconds
    assert dict(nothing.metrics) == {"refused_rightly": 1}
    assert oven.expected_answer == "Se rompió el retén de la puerta."
    assert run.summary is not None
    assert run.summary["answers"]["answered"] == run.summary["defined"]["refused_rightly"] + 2 == 3
    assert set(run.summary["answers"]["latency_ms"]) == set(run.summary["latency_ms"])
    config = {name: run.config[name] for name in ("answers", "judge", "judge_model", "chat_model", "answer_top_k")}
    assert config == {
        "answers": True, "judge": "estimate", "judge_model": None, "chat_model": "extractive", "answer_top_k": 3,
    }  # fmt: skip
    async with shelf.services.database.transaction(run.owner_id) as connection:
        rows = await (await connection.execute("SELECT to_jsonb(r)::text FROM evaluation_results r")).fetchall()
    assert not [row for row in rows if "falló porque" in str(row)]


async def test_a_run_counts_as_nobodys_questions(shelf: Shelf) -> None:
    """R10.4, R11.2 not in the rate of misses, nor in any other that alerts watch; and nothing is asked of a cache."""
    before = counted()
    await measured(shelf)
    assert counted() == before


async def test_what_has_a_say_in_the_figures_has_one_in_the_hash(shelf: Shelf) -> None:
    """R10.4 whether it answers, and how answers are made."""
    collection, services = shelf.collection, shelf.services
    runs = [await order_run(collection, services=services, answers=answers) for answers in (True, False)]
    told = await services.store.configure_collection(collection, generation_config={"system_prompt": "Sé breve."})
    runs.append(await order_run(told, services=services))
    assert len({run.config_hash for run in runs}) == 3
    assert "judge" not in runs[1].config
    assert "Sé breve." not in str(runs[2].config)


async def test_a_model_judges_where_there_is_one(with_model: Open, owner: str, model_server: ModelServer) -> None:
    """R10.3 under the names without estimate; model and prompts are part of the configuration."""
    shelf = await asking(with_model(judge_model="openai:judge"), owner)
    model_server.script(ANSWER, SUPPORTED, BEST)
    run, (case,) = await measured(shelf)
    assert {name: case.metrics[name] for name in ("faithfulness", "answer_relevance")} == {
        "faithfulness": 1, "answer_relevance": 1,
    }  # fmt: skip
    assert not [name for name in case.metrics if name.endswith("_estimate")]
    assert case.chat_model == "openai:writer"
    assert (run.config["judge_model"], run.config["judge_prompts"]) == ("openai:judge", PROMPTS_HASH)
    asked = [request.body for request in model_server.requests]
    assert [body["model"] for body in asked] == ["writer", "judge", "judge"]
    assert [body["messages"][0]["content"] for body in asked[1:]] == list(PROMPTS.values())
    for _ in range(2):
        open_judge("openai:judge", shelf.collection, shelf.services)
    watched = [breaker.name for breaker in shelf.services.breakers()]
    assert [name for name in watched if "judging" in name] == ["openai:judge (in the background) (judging)"]
    estimated = await order_run(shelf.collection, services=shelf.services, judge="estimate")
    assert estimated.config_hash != run.config_hash


async def test_a_judges_garbage_is_counted_and_told(with_model: Open, owner: str, model_server: ModelServer) -> None:
    """R10.3 unjudged is no zero: neither in the case nor in the mean."""
    shelf = await asking(with_model(), owner)
    model_server.script(ANSWER, Reply("I think so!"), BEST)
    run, (case,) = await measured(shelf)
    assert (case.unjudged, "faithfulness" in case.metrics) == (("faithfulness",), False)
    assert run.summary is not None
    assert run.summary["answers"]["unjudged"] == {"faithfulness": 1}
    assert run.warnings == ("1 answers are unjudged, in whole or in part: the judge gave no verdict",)
    assert run.summary["metrics"]["answer_relevance"] == 1


async def test_an_answer_that_breaks_off_is_none(with_model: Open, owner: str, model_server: ModelServer) -> None:
    """R11.1, R10.4 the run goes on; the search's figures stand; where the model says nothing at all, quotations do."""
    shelf = await asking(with_model(), owner)
    await shelf.add(draft(PUENTE, "puente.md"))
    model_server.script(CutStream(2, "El horno H2 falló."), Garbage(), SUPPORTED, BEST)
    run, (broken, quoted) = await measured(shelf)
    assert (broken.answer_failed, broken.answer_milliseconds, broken.metrics["hit@1"]) == (("generate",), None, 1)
    assert "answered" not in broken.metrics
    assert (quoted.answer_failed, quoted.chat_model) == (("generate",), "extractive")
    assert run.summary is not None
    assert (run.summary["answers"]["answered"], run.summary["answers"]["degraded"]) == (1, {"generate": 2})
    assert run.warnings == (
        "1 questions have no answer: no chat model gave one",
        "1 answers are by another model, or quotations: the one that was asked for failed",
    )


async def test_documents_are_judged_by_no_model_that_may_not_read_them(
    with_model: Open, owner: str, model_server: ModelServer
) -> None:
    """R10.3, security 7: a collection with a chat model of its own is not sent to another one to be judged."""
    shelf = await asking(with_model(), owner)
    own = await shelf.services.store.configure_collection(
        shelf.collection, generation_config={"chat_model": "extractive"}
    )
    with pytest.raises(JudgeUnavailable):
        await order_run(own, services=shelf.services, judge="model")
    run, (case,) = await measured(Shelf(shelf.services, own))
    assert (run.config["judge"], "faithfulness_estimate" in case.metrics) == ("estimate", True)
    assert model_server.requests == []


async def test_a_judge_or_a_writer_that_is_gone_is_told(
    with_model: Open, owner: str, model_server: ModelServer
) -> None:
    """R10.3, R10.4 the figures of two are not mixed: a worker with another one does not take its place."""
    shelf = await asking(with_model(), owner)
    run = await order_run(shelf.collection, services=shelf.services)
    gone: list[tuple[dict[str, Any], type[CausewayError]]] = [
        ({"judge_model": "openai:other"}, JudgeUnavailable),
        ({"chat_model": "openai:other", "judge_model": "openai:writer"}, CollectionChanged),
        ({"chat_fallbacks": ["openai:other"]}, CollectionChanged),
    ]
    for settings, error in gone:
        with pytest.raises(error):
            await Evaluator(with_model(**settings)).evaluate(run.owner_id, run.collection_id, run.id)
    assert model_server.requests == []
