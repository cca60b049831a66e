"""A neighbour's waits while another owner floods an operation: benchmarks/fairness.py, at a small size."""

from collections.abc import Callable, Iterator

import pytest

from tests.benchmarks.fairness import Neighbours, floodable, neighbours

pytestmark = pytest.mark.slow
MOST_TIMES_AT_REST = 3
SECONDS = 3
WORST = (  # of all operations, while an owner had sixteen requests at a time
    "GET /api/v1/retrieval-options",
    "GET /api/v1/documents/{document_id}/file",
    "POST /api/v1/retrieve",
)


@pytest.fixture(scope="module")
def both(make_database: Callable[[], str]) -> Iterator[Neighbours]:
    with neighbours(make_database()) as running:
        running.wait(2)
        yield running


@pytest.mark.parametrize("name", WORST)
def test_a_flood_of_one_owner_is_no_outage_of_others(both: Neighbours, name: str) -> None:
    """Security 16: nothing of a neighbour's fails, and what it reads and searches for comes within three times the
    time at rest; the best of three tries, as the machine has other work.
    """
    (operation,) = [each for each in floodable() if str(each) == name]
    tries: list[float] = []
    while len(tries) < 3 and (not tries or min(tries) > MOST_TIMES_AT_REST):
        rest = both.wait(SECONDS).p95()
        with both.flood(operation):
            both.wait(1)  # the flood had all to itself before
            waits = both.wait(SECONDS)
        assert not +waits.failed
        tries.append(max(flooded / calm for flooded, calm in zip(waits.p95(), rest, strict=True)))
    assert min(tries) <= MOST_TIMES_AT_REST, tries
