"""The whole API, with requests made from its OpenAPI document: what fits it, what just doesn't, and what has nothing in
common with it.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.api.identities import make_keys_in
from tests.conftest import Server, run_server
from tests.security.resources import make_resources

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_900)]
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
LEAST_CASES = 2_000
MOST_SECONDS = 1_800  # far more than it takes where nothing else runs
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
# With one of these set, Hypothesis loads its profile "ci", which outranks the configuration: health checks are back.
CI_VARIABLES = {"CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "CIRCLECI", "TF_BUILD", "TEAMCITY_VERSION"}
REPEATED = re.compile(r"(.)\1{99,}")


@pytest.fixture(scope="module")
def asked(make_database: Callable[[], str]) -> Iterator[tuple[Server, str]]:
    """A service that asks who is there, with something to be found in it, and a key to it."""
    database = make_database()
    key = make_keys_in(database).a
    unlimited = dict.fromkeys(["RAG_RATE_PER_MINUTE", "RAG_ANSWERS_PER_MINUTE", "RAG_REFUSALS_PER_MINUTE"], "0")
    with run_server(DATABASE_URL=database, RAG_AUTH="api_key", **unlimited) as server:
        make_resources(server, key)
        yield server, key


# In processes: in threads, Python 3.11's parser of its own syntax, which Hypothesis uses, fails now and then.
SHARES = ("^/api/v1/(c|d|s)", "^/api/v1/(?!c|d|s)|^/(?!api/)")


def test_every_request_gets_what_the_document_says(asked: tuple[Server, str], tmp_path: Path) -> None:
    """R9, security 10 No server error, and no status, header or body that is not described, by schemathesis' checks."""
    server, key = asked
    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda share: run_share(server, key, share, tmp_path), SHARES))
    for code, told in runs:
        assert code == 0, told[-20_000:]
    generated = [re.search(r"([\d,]+) generated", told) for _, told in runs]
    assert sum(int(found[1].replace(",", "")) for found in generated if found) >= LEAST_CASES


def run_share(server: Server, key: str, paths: str, folder: Path) -> tuple[int, str]:
    """Fuzz the operations whose path matches; return the exit code and what was printed."""
    command = [str(SCHEMATHESIS), "--config-file", str(CONFIGURATION), "run", f"{server.url}/openapi.json"]
    options = ["--header", f"Authorization: Bearer {key}", "--include-path-regex", paths]
    environment = {name: value for name, value in os.environ.items() if name not in CI_VARIABLES}
    run = subprocess.run(
        [*command, *options], cwd=folder, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS
    )
    return run.returncode, REPEATED.sub(r"\1…", ESCAPES.sub("", run.stdout + run.stderr))
