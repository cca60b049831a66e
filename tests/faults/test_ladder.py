"""The ladder of fallbacks: a fault in a running service, and what who asks it gets; then it is whole again."""

from collections.abc import Callable, Iterator

import pytest

from tests.faults.cases import CASES
from tests.faults.world import World, run_world

MOST_SILENCE_MS = 5_000


@pytest.fixture(scope="module")
def world(make_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with run_world(make_database(), tmp_path_factory.mktemp("faults")) as running:
        yield running


@pytest.mark.parametrize("name", CASES)
def test_a_fault_leaves_an_answer_or_words(world: World, name: str) -> None:
    """R11.1, 001.16 Each fault: what was left out is told in words, nothing is silent for five seconds, and what
    follows is answered as if it had not been.
    """
    case = CASES[name]
    with case.inject(world):
        outcome = case.act(world)
    assert outcome.longest_silence_ms < MOST_SILENCE_MS
    assert (outcome.code, set(outcome.degraded)) == (case.code, set(case.degraded)), outcome
    assert len(outcome.told) == len(outcome.degraded)
    assert all(outcome.told)
    assert outcome.said
    assert case.sign in " ".join(outcome.signs)
    after = world.ask()
    assert (after.code, after.degraded) == ("", ()), after
