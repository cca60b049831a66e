"""`causeway eval experiment`: begun, listed, shown, stopped, deleted."""

import json
from collections.abc import Callable
from uuid import uuid4

import pytest
from typer.testing import CliRunner, Result

from api.cli.evaluation import app
from graphrag.errors import ExperimentNotFound, ExperimentRunning, InvalidSettings
from graphrag.models import LOCAL_OWNER
from graphrag.models.experiments import AnswerRecord
from graphrag.services import Services
from tests.api.commands import rows
from tests.conftest import with_services

Command = Callable[..., Result]


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    url = make_database()

    async def fill(services: Services) -> None:
        await services.collections.create(LOCAL_OWNER, "fábrica")

    with_services(url, fill)
    return url


@pytest.fixture
def command(database: str) -> Command:
    return lambda *arguments: CliRunner().invoke(app, ["experiment", *arguments], env={"DATABASE_URL": database})


def read(done: Result) -> str:
    assert done.exit_code == 0, done.output
    return done.stdout


async def answer(services: Services) -> None:
    """Twelve times by A and by B, which finds what A does not."""
    (running,) = await services.experiments.list_all(LOCAL_OWNER)
    for index in range(24):
        variant, answer_id = "AB"[index % 2], uuid4()
        await services.experiments.begin_answer(running, answer_id, variant, conversation_id=None)  # type: ignore[arg-type]  # a letter of the two
        record = AnswerRecord("complete", found=variant == "B", degraded=False, first_token_ms=50, total_ms=100 + index)
        await services.experiments.finish_answer(running, answer_id, record)


def test_an_experiment_is_begun_shown_stopped_and_deleted(command: Command, database: str) -> None:
    """R10.4 the same as over HTTP; a value goes where it belongs, to the search or to the answer."""
    values = ("--set", "rerank=false", "--set", "chat_model=extractive")
    options = ("--collection", "fábrica", "--name", "sin reordenar", "--share", "0.5", *values)
    made = json.loads(read(command("create", *options, "--json")))
    assert (made["retrieval"], made["generation"]) == ({"rerank": False}, {"chat_model": "extractive"})
    assert isinstance(command("create", *options).exception, ExperimentRunning)
    with_services(database, answer)
    listed = rows(read(command("list", "--collection", "fábrica")))[made["id"]]
    assert listed == ["sin reordenar", "fábrica", "running", "0.5", "rerank False, chat_model extractive"]
    shown = read(command("show", made["id"]))
    table = rows(shown)
    assert table["conversations"] == ["12", "12"]
    assert table["total_p50_ms"] == ["111.0", "112.0"]
    assert table["found"][:3] == ["0.000", "1.000", "+1.000"]
    assert table["found"][5] == "better"
    assert "for one look" in shown
    assert "needs 3140 conversations in all" in shown
    told = json.loads(read(command("show", made["id"], "--json")))
    assert told["metrics"]["found"]["verdict"] == "better"
    assert "stopped" in read(command("stop", made["id"]))
    read(command("delete", made["id"]))
    assert isinstance(command("show", made["id"]).exception, ExperimentNotFound)


def test_what_is_not_valid_is_refused(command: Command) -> None:
    """R10.4, R4.10"""
    for option in ("rrf_k=-1", "nada=1", "chat_model=openai:nada"):
        assert isinstance(command("create", "--collection", "fábrica", "--set", option).exception, InvalidSettings)
    assert "NAME=VALUE" in command("create", "--set", "rerank").output
    assert "--share" in command("create", "--share", "2").output
