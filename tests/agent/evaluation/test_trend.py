"""A collection's runs in a row, in PostgreSQL: which of them is worse than the one before it."""

from agent.evaluation.golden_run import Evaluator, order_run
from agent.evaluation.trend import read_trend
from graphrag.models.evaluation import EvaluationRun
from graphrag.services import Services
from tests.golden_library import Shelf, draft, open_shelf

QUESTIONS = [f"¿Por qué falló el horno H2 el día {number}?" for number in range(6)]
SIMPLE = {"strategy": "fulltext", "rerank": False, "graph": False}


async def evaluate(shelf: Shelf) -> EvaluationRun:
    run = await order_run(shelf.collection, services=shelf.services, answers=False, overrides=SIMPLE)
    await Evaluator(shelf.services).evaluate(run.owner_id, run.collection_id, run.id)
    return await shelf.services.evaluations.find(run.owner_id, run.id)


async def test_a_decline_is_told_when_it_is_measured(services: Services, owner: str) -> None:
    """R10.4, 001.9.9 a run that is worse than the one before it has a warning; one that is like it, or better, none."""
    shelf = await open_shelf(services, owner)
    await shelf.add(*(draft(question, "horno.md") for question in QUESTIONS))
    first = await evaluate(shelf)
    same = await evaluate(shelf)
    wrong = [draft(question, "entrepot.md") for question in QUESTIONS]
    await services.golden.add(shelf.collection, wrong, existing="replace")
    worse = await evaluate(shelf)
    right = [draft(question, "horno.md") for question in QUESTIONS]
    await services.golden.add(shelf.collection, right, existing="replace")
    better = await evaluate(shelf)
    assert first.warnings == same.warnings == better.warnings == ()
    (warning,) = worse.warnings
    assert f"ndcg@10 is worse than in the run before, {same.id}: -" in warning
    assert "over 6 questions, p = 0.031" in warning
    trend = await read_trend(services.evaluations, owner, shelf.collection.id, limit=9)
    assert [point.run.id for point in trend] == [better.id, worse.id, same.id, first.id]
    assert [[change.verdict for change in point.changes] for point in trend] == [
        ["better"], ["worse"], ["too_few_questions"], []
    ]  # fmt: skip
    assert [point.is_worse for point in trend] == [False, True, False, False]
    assert [point.has_same_cases for point in trend] == [True, False, True, True]
    until = await read_trend(services.evaluations, owner, shelf.collection.id, limit=2, until=worse)
    assert [point.run.id for point in until] == [worse.id, same.id]


async def test_other_questions_are_not_compared(services: Services, owner: str) -> None:
    """R10.4 what the run before has not asked says nothing of a decline; nor does another collection's run."""
    shelf = await open_shelf(services, owner)
    (case,) = await shelf.add(draft(QUESTIONS[0], "horno.md"))
    await evaluate(shelf)
    await services.golden.delete(owner, case)
    await shelf.add(draft(QUESTIONS[1], "entrepot.md"))
    await evaluate(shelf)
    other = await open_shelf(services, owner, "otra")
    await other.add(draft(QUESTIONS[0], "entrepot.md"))
    await evaluate(other)
    for of, count in ((shelf, 2), (other, 1)):
        trend = await read_trend(services.evaluations, owner, of.collection.id, limit=9)
        assert [point.changes for point in trend] == [()] * count
