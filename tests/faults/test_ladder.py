"""The ladder of fallbacks: a fault in a running service, and what who asks it gets; then it is whole again."""

from collections.abc import Callable, Iterator

import pytest

from tests.faults.cases import CASES
from tests.faults.world import World, run_world

MOST_SILENCE_MS = 5_000
LATER = {  # kinds of a fault that another case has, too
    "embeddings: 429",
    "full text: its table locked",
    "graph: its table gone",
    "question: the model that refines hangs",
    "question: the model refines with garbage",
    "reranker: the model that grades hangs",
    "model: 500, the next one answers",
    "model: garbage, the next one answers",
    "model: the stream stalls",
    "files: no folder, a question",
    "files: disk full, a large upload",
    "files: disk full, a question",
}


@pytest.fixture(scope="module")
def world(make_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with run_world(make_database(), tmp_path_factory.mktemp("faults")) as running:
        yield running


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LATER else []) for name in CASES]
)
def test_a_fault_leaves_an_answer_or_words(world: World, name: str) -> None:
    """R11.1, 001.16 Each fault: what was left out is told in words, nothing is silent for five seconds, and what
    follows is answered as if it had not been.
    """
    case = CASES[name]
    with case.inject(world):
        outcome = case.act(world)
    assert outcome.longest_silence_ms < MOST_SILENCE_MS
    left_out = set(outcome.degraded) - {"time"}  # which a busy machine lacks, too
    assert (outcome.code, left_out) == (case.code, set(case.degraded) - {"time"}), outcome
    assert len(outcome.told) == len(outcome.degraded)
    assert all(outcome.told)
    assert outcome.said
    assert case.sign in " ".join(outcome.signs)
    after = world.ask()
    assert (after.code, set(after.degraded) <= {"time"}) == ("", True), after


def test_the_cases_that_run_later_are_cases() -> None:
    """R11.1 None is left out by its name."""
    assert set(CASES) > LATER
