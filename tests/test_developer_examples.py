"""The Python of docs/developers.md, run as it stands beside a real server; what it prints is what the page shows."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import pytest

from tests.conftest import PATIENT, Server, run_server
from tests.model_server import Body, CallTool, Each, ModelServer, Reply
from tests.processes import ROOT

PAGE = (ROOT / "docs" / "developers.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n\n((?:^    [^\n]*\n|\n(?=    ))+)", re.MULTILINE | re.DOTALL)
EXTRAS = ("open_vector_store", "graphrag.llamaindex")  # what only the slow tests' environment has


def examples() -> Iterator[Any]:
    for code, shown in EXAMPLE.findall(PAGE):
        needs_extra = any(name in code for name in EXTRAS)
        heading = re.findall(r"^## (.+)$", PAGE.partition(code)[0], re.MULTILINE)[-1]
        yield pytest.param(code, shown, id=heading, marks=[pytest.mark.slow] if needs_extra else [])


def choose(body: Body) -> Reply | CallTool:
    """An agent's model: it calls the tool that it is given, then repeats what the tool says."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        return Reply(last["content"])
    return CallTool(body["tools"][0]["function"]["name"], {"question": last["content"]})


@pytest.fixture(scope="module")
def database(make_demo_database: Callable[[], str]) -> str:
    return make_demo_database()


@pytest.fixture(scope="module")
def extractive_server(database: str) -> Iterator[Server]:
    with run_server("--collection", "demo", RAG_WORKER="false", DATABASE_URL=database) as running:
        yield running


def test_every_example_is_run() -> None:
    """R9 None is without the output that it is compared with."""
    assert len(EXAMPLE.findall(PAGE)) == PAGE.count("```python") >= 10


@pytest.mark.parametrize(("code", "shown"), list(examples()))
async def test_example_prints_what_the_page_shows(
    code: str,
    shown: str,
    extractive_server: Server,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """R4.7, R9 … stands for words that are left out."""
    with ModelServer(default=Each(choose)) as models:
        given = {"DATABASE_URL": database, "OPENAI_BASE_URL": models.base_url, "OPENAI_API_KEY": "none", **PATIENT}
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(ROOT)
        program: CodeType = compile(
            code.replace("http://localhost:8000", extractive_server.url),
            "docs/developers.md",
            "exec",
            flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
        )
        running = eval(program, {})
        if inspect.isawaitable(running):
            await running
    printed = " ".join(capsys.readouterr().out.split())
    pattern = ".*".join(map(re.escape, " ".join(shown.split()).split("…")))
    assert re.fullmatch(pattern, printed), printed
