"""What people at work ask over their documents, in three worlds on which nothing is fitted; no model is there."""

from collections.abc import Callable

import httpx
import pytest

from tests.api.commands import causeway
from tests.benchmarks.worlds import KEPT, WORLDS, Asked, ask_and_judge, read_questions, summarise
from tests.conftest import run_server_here

ASKED, EVERY = ("mairie", "notaria", "payroll"), 3
# Of 72 questions; measured were .04, .18, .58 and .83.
MOST_WRONG, LEAST_ANSWERED, LEAST_SHOWN, LEAST_REFUSED = 0.07, 0.15, 0.54, 0.6


@pytest.fixture(scope="module")
def asked(make_database: Callable[[], str]) -> list[Asked]:
    database = make_database()
    for world in ASKED:
        run = causeway("ingest", str(WORLDS / world / "docs"), "--collection", world, DATABASE_URL=database)
        assert run.returncode == 0, run.stderr
    with run_server_here(DATABASE_URL=database) as url, httpx.Client(base_url=url, timeout=120) as client:
        return [
            ask_and_judge(client, question, world)
            for world in ASKED
            for question in read_questions(WORLDS / world)[::EVERY]
        ]


def test_answers_are_right_or_modest(asked: list[Asked]) -> None:
    """R8.1, R8.5 Few are wrong; of the others most are answered, or shown among the passages that come closest."""
    assert set(ASKED) <= set(KEPT)
    shares = summarise(asked)
    assert shares["wrong"] <= MOST_WRONG, shares
    assert shares["good"] + shares["acceptable"] >= LEAST_ANSWERED, shares
    assert shares["good"] + shares["acceptable"] + shares["closest"] >= LEAST_SHOWN, shares
    assert shares["refused"] >= LEAST_REFUSED, shares
