"""`causeway doctor`: its words, languages and exit code; a role, a bucket and a service as production has them."""

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from api.cli.doctor import WORDS
from graphrag import diagnosis
from graphrag.diagnosis.findings import Level
from tests.api.commands import NOWHERE, causeway
from tests.conftest import run_server
from tests.processes import unused_port
from tests.production import run_production
from tests.s3_server import run_s3_server

CODES = {
    code
    for path in Path(diagnosis.__path__[0]).glob("*.py")
    for code in re.findall(r'\b(?:ok|warning|error)\(\s*"(\w+)"', path.read_text("utf-8"))
}
FIELD = re.compile(r"\{(\w+)\}")


def test_every_finding_has_its_words() -> None:
    """R9 In three languages with the same fields, and none is left over."""
    assert set(WORDS) == CODES | set(Level)
    for code, by_language in WORDS.items():
        assert set(by_language) == {"es", "fr", "en"}, code
        assert len({tuple(sorted(FIELD.findall(text))) for text in by_language.values()}) == 1, code


@pytest.mark.parametrize(
    ("locale", "told"),
    [("es_ES.UTF-8", "error No se puede usar PostgreSQL"), ("C", "error   PostgreSQL can't be used")],
)
def test_a_database_that_is_away_ends_with_one(locale: str, told: str) -> None:
    """R11.3 In the terminal's language, without the password."""
    run = causeway("doctor", "--port", str(unused_port()), LC_ALL=locale, **NOWHERE)
    assert (run.returncode, run.stderr) == (1, "")
    assert told in run.stdout
    assert "geheim" not in run.stdout


def test_programs_read_json(make_database: Callable[[], str]) -> None:
    """R11.2"""
    run = causeway("doctor", "--json", "--port", str(unused_port()), DATABASE_URL=make_database(), LC_ALL="fr_FR")
    told = json.loads(run.stdout)
    assert (run.returncode, told["ok"]) == (0, True)
    first = next(finding for finding in told["findings"] if finding["code"] == "settings")
    assert first == {"level": "ok", "code": "settings", "message": "Les réglages sont valides.", "details": {}}


@pytest.fixture(scope="module")
def production() -> Iterator[dict[str, str]]:
    with run_production() as environment:
        yield environment


@pytest.mark.slow
def test_productions_roles_need_nothing_more(production: dict[str, str]) -> None:
    """R4.8 No superuser: they migrate, serve and are examined without a warning; a wrong password is told."""
    port = unused_port()
    assert causeway("migrate", **production).returncode == 0
    with run_server(**production) as server:
        port = int(server.url.rsplit(":", 1)[1])
        told = json.loads(causeway("doctor", "--json", "--port", str(port), **production).stdout)
    codes = {finding["code"]: finding for finding in told["findings"]}
    assert [finding for finding in told["findings"] if finding["level"] != "ok"] == []
    assert codes["queue"]["details"] == {"waiting": 0, "workers": 1}
    assert "port_ours" in codes
    mistaken = {name: make_conninfo(url, password="another-secret") for name, url in production.items()}
    wrong = causeway("doctor", "--json", **mistaken)
    refused = next(finding for finding in json.loads(wrong.stdout)["findings"] if finding["code"] == "database_away")
    assert (wrong.returncode, "password authentication failed" in refused["message"]) == (1, True)
    assert "another-secret" not in wrong.stdout


@pytest.mark.slow
def test_a_bucket_is_tried(make_database: Callable[[], str]) -> None:
    """R1.4 One that is not there is told; one that is, is left as it was."""
    with run_s3_server() as address:
        keys = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_ENDPOINT_URL": address}
        environment = {"DATABASE_URL": make_database(), "RAG_FILES_URL": "s3://notes/files", **keys}
        missing = causeway("doctor", "--port", str(unused_port()), **environment)
        assert missing.returncode == 1
        assert "The bucket 'notes' can't be used" in missing.stdout
        urllib.request.urlopen(urllib.request.Request(f"{address}/notes", method="PUT")).close()
        found = causeway("doctor", "--port", str(unused_port()), **environment)
        assert found.returncode == 0, found.stdout
        assert "The file storage can be read and written: s3://notes/files" in found.stdout
        with urllib.request.urlopen(f"{address}/notes?list-type=2") as listed:
            assert b"<Key>" not in listed.read()
