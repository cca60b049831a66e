"""The examination of an installation, over faults that are real."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from graphrag.db.embedded_postgres import create_database
from graphrag.db.migrate import APPLICATION_ROLE
from graphrag.diagnosis.examination import examine
from graphrag.diagnosis.findings import Finding, Level
from tests.chunkenizer_server import run_chunkenizer
from tests.conftest import with_services
from tests.graphrag.linguistics.installed_pipelines import install_pipeline
from tests.logins import create_login
from tests.model_server import Fail, ModelServer, Reply

PATCH = pytest.MonkeyPatch


def found(*, host: str = "127.0.0.1", port: int = 0, calls: bool = False) -> dict[str, Finding]:
    """By their codes."""

    async def look() -> dict[str, Finding]:
        return {finding.code: finding async for finding in examine(os.environ, host=host, port=port, calls=calls)}

    return asyncio.run(look())


@pytest.fixture
def url(make_database: Callable[[], str], monkeypatch: PATCH) -> str:
    made = make_database()
    monkeypatch.setenv("DATABASE_URL", made)
    return made


def execute(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True, options="-c search_path=causeway,public") as connection:
        for statement in statements:
            connection.execute(statement.encode())


def test_a_sound_installation_has_no_error(url: str) -> None:
    """R11.2"""
    findings = found()
    assert {finding.level for finding in findings.values()} == {Level.OK, Level.WARNING}
    assert {"installed", "settings", "home", "database", "migrations", "isolation", "queue", "embeddings"} <= set(
        findings
    )
    assert [code for code, finding in findings.items() if finding.level is Level.WARNING] == ["role_bypasses"]
    assert findings["queue"].details == {"waiting": 0, "workers": 0}


def test_nothing_is_changed(url: str, tmp_path: Path, monkeypatch: PATCH) -> None:
    """R11.2 Neither a folder nor a row is left behind; a folder of files that is there is written to and cleared."""
    monkeypatch.setenv("CAUSEWAY_HOME", str(tmp_path / "new"))
    assert {"home_new", "files_new"} <= set(found())
    assert not list(tmp_path.iterdir())
    (tmp_path / "new" / "files").mkdir(parents=True)
    assert {"home", "files"} <= set(found())
    assert not list((tmp_path / "new" / "files").iterdir())
    execute(url, "DELETE FROM migrations WHERE name = '0019_codes.sql'")
    assert found()["migrations_missing"].details == {"count": 1}
    assert found()["migrations_missing"].level is Level.ERROR


def test_an_embedded_database_is_not_started(tmp_path: Path, monkeypatch: PATCH) -> None:
    """R11.2"""
    monkeypatch.setenv("CAUSEWAY_HOME", str(tmp_path))
    assert "embedded_stopped" in found()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("INSERT INTO migrations VALUES ('9999_later.sql', now())", "migrations_newer"),
        ("ALTER TABLE golden_proposals NO FORCE ROW LEVEL SECURITY", "isolation_broken"),
        ("DROP POLICY owner ON api_keys; DROP POLICY authentication ON api_keys", "isolation_broken"),
        ("DROP EXTENSION vector CASCADE", "pgvector_missing"),
    ],
)
def test_a_database_that_is_not_as_it_should_be_is_told(url: str, statement: str, code: str) -> None:
    """R4.8, R11.2"""
    execute(url, statement)
    assert found()[code].level is Level.ERROR


def test_an_empty_database_wants_migrations(postgres: str, monkeypatch: PATCH) -> None:
    """R11.2 … and the extension, which they make."""
    with psycopg.connect(postgres, dbname="postgres", autocommit=True) as connection:
        create_database(connection, "nothing_in_it")
    monkeypatch.setenv("DATABASE_URL", make_conninfo(postgres, dbname="nothing_in_it"))
    findings = found()
    assert {"pgvector_missing", "migrations_missing"} <= set(findings)
    assert "isolation" not in findings


@pytest.fixture
def stranger(url: str) -> Iterator[str]:
    """A role that may log in, and nothing else."""
    yield create_login(url, "stranger")
    execute(url, "DROP OWNED BY stranger", "DROP ROLE stranger")


def test_a_role_without_rights_is_told_what_to_grant(url: str, stranger: str, monkeypatch: PATCH) -> None:
    """R4.8 First that it may not look, then that it is not the application's, at last that it may prove any owner."""
    monkeypatch.setenv("DATABASE_URL", stranger)
    assert found()["role_refused"].details["application"] == APPLICATION_ROLE
    execute(url, "GRANT USAGE ON SCHEMA causeway TO stranger", "GRANT SELECT ON migrations TO stranger")
    assert found()["role_lacks"].details["role"] == "stranger"
    execute(url, f"GRANT {APPLICATION_ROLE} TO stranger")
    assert found()["key_refused"].details["role"] == "stranger"
    execute(url, "GRANT SELECT ON identity_key TO stranger")
    findings = found()
    assert findings["role_proves"].level is Level.WARNING
    assert Level.ERROR not in {finding.level for finding in findings.values()}
    assert "role_bypasses" not in findings


def test_jobs_that_nobody_does_are_told(url: str) -> None:
    """R1.9, R11.2"""
    execute(url, "INSERT INTO procrastinate_jobs (task_name, queue_name) VALUES ('ingest', 'default')")
    assert found()["queue_unattended"].details == {"waiting": 1}
    execute(url, "INSERT INTO procrastinate_workers DEFAULT VALUES")
    assert found()["queue"].details == {"waiting": 1, "workers": 1}


def test_keys_are_counted_where_they_are_asked_for(url: str, monkeypatch: PATCH) -> None:
    """R11.2 The owner's that hold."""
    monkeypatch.setenv("RAG_AUTH", "api_key")
    assert found(host="0.0.0.0")["keys_missing"].details == {"owner": "local"}
    key, _ = with_services(url, lambda services: services.authentication.api_keys.create("local", "laptop"))
    with_services(url, lambda services: services.authentication.api_keys.create("another", "laptop"))
    assert found()["keys"].details == {"count": 1}
    with_services(url, lambda services: services.authentication.api_keys.revoke("local", key.id))
    assert "keys_missing" in found()


def test_who_is_asked_nothing_is_not_served_from_elsewhere(url: str, monkeypatch: PATCH) -> None:
    """R4.8"""
    assert found(host="0.0.0.0")["host_open"].level is Level.ERROR
    monkeypatch.setenv("RAG_ALLOWED_HOSTS", "causeway.example.org")
    assert found()["proxy_open"].level is Level.WARNING
    monkeypatch.setenv("RAG_AUTH", "jwt")
    assert "RAG_JWT" in str(found()["cannot_be_used"].details["cause"])


def test_a_port_that_another_program_has_is_told(url: str) -> None:
    """R11.2"""
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert (found(port=other.getsockname()[1]))["port_taken"].level is Level.ERROR


def test_a_home_that_is_no_folder_is_told(url: str, tmp_path: Path, monkeypatch: PATCH) -> None:
    """R11.2"""
    (tmp_path / "file").touch()
    monkeypatch.setenv("CAUSEWAY_HOME", str(tmp_path / "file" / "home"))
    assert found()["home_unwritable"].level is Level.ERROR


def test_a_disk_with_little_room_is_told(url: str, tmp_path: Path, monkeypatch: PATCH) -> None:
    """R11.1"""
    mounting = ["mount", "-t", "tmpfs", "-o", "size=20m", "none", str(tmp_path)]
    if os.geteuid() != 0 or subprocess.run(mounting, check=False).returncode:
        pytest.skip("only root may mount a file system of its own")
    monkeypatch.setenv("CAUSEWAY_HOME", str(tmp_path))
    findings = found()
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)
    assert (findings["space_gone"].level, findings["space_gone"].details["megabytes"]) == (Level.ERROR, 20)


def test_chat_models_are_called_where_that_is_wanted(url: str, model_server: ModelServer, monkeypatch: PATCH) -> None:
    """R8.8 Each is told by its name; a call costs, so none is made unasked."""
    monkeypatch.setenv("RAG_CHAT_MODEL", "openai:first")
    monkeypatch.setenv("RAG_CHAT_FALLBACKS", "nobody:second")
    monkeypatch.setenv("RAG_CHAT_MAX_RETRIES", "0")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    findings = found()
    assert findings["chat_model"].details == {"model": "openai:first"}
    assert findings["cannot_be_used"].details["what"] == "RAG_CHAT_FALLBACKS"
    assert not model_server.requests
    monkeypatch.setenv("RAG_CHAT_FALLBACKS", "")
    model_server.script(Reply("ready"))
    assert found(calls=True)["chat_model_answers"].details["model"] == "openai:first"
    model_server.script(Fail(401))
    assert found(calls=True)["cannot_be_used"].details["what"] == "RAG_CHAT_MODEL"


def test_a_spacy_pipeline_that_is_of_no_use_is_told(url: str, tmp_path: Path, monkeypatch: PATCH) -> None:
    """R7.1, R11.2 What is named must work; what is merely installed is done without."""
    monkeypatch.setitem(sys.modules, "spacy", None)
    install_pipeline(tmp_path, "es_core_news_sm")
    monkeypatch.syspath_prepend(tmp_path)
    unused = found()["spacy_pipeline_unused"]
    assert (unused.level, unused.details["pipeline"]) == (Level.WARNING, "es_core_news_sm")
    monkeypatch.setenv("RAG_SPACY_PIPELINES", "none")
    assert not {"spacy_pipeline_unused", "cannot_be_used"} & set(found())
    monkeypatch.setenv("RAG_SPACY_PIPELINES", "es_core_news_sm")
    unused = found()["cannot_be_used"]
    assert (unused.level, unused.details["what"]) == (Level.ERROR, "RAG_SPACY_PIPELINES")
    assert "make install WITH=linguistics" in str(unused.details["cause"])


@pytest.mark.slow
def test_a_spacy_pipeline_is_told_with_its_version(url: str, tmp_path: Path, monkeypatch: PATCH) -> None:
    """R7.1, R11.2"""
    from tests.graphrag.linguistics.tiny_pipelines import save_ruled

    folder = save_ruled(tmp_path / "es", "es", rosa="PER")
    monkeypatch.setenv("RAG_SPACY_PIPELINES", str(folder))
    assert found()["spacy_pipeline"].details == {"pipeline": "es_tiny 1.2.3"}
    install_pipeline(tmp_path / "site", "es_core_news_sm", data=folder)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.delenv("RAG_SPACY_PIPELINES")
    assert found()["spacy_pipeline"].level is Level.OK


def test_services_that_are_away_are_told_without_their_passwords(url: str, monkeypatch: PATCH) -> None:
    """R11.1 The cache and the collector are at addresses where nobody is."""
    monkeypatch.setenv("REDIS_URL", "redis://:geheim@127.0.0.1:1/0")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:geheim@127.0.0.1:1")
    findings = found()
    assert findings["cannot_be_used"].details["what"] == "REDIS_URL"
    assert findings["collector_away"].level is Level.WARNING
    assert "geheim" not in str(findings)


def test_another_document_service_is_asked_something(url: str, monkeypatch: PATCH) -> None:
    """R13.3"""
    with run_chunkenizer() as service:
        monkeypatch.setenv("CHUNKENIZER_API_URL", service.url)
        assert "chunkenizer" in found()
        service.status = 401
        assert found()["cannot_be_used"].details["what"] == "CHUNKENIZER_API_URL"


def test_variables_that_nobody_reads_are_told(url: str, monkeypatch: PATCH) -> None:
    """R4.10"""
    monkeypatch.setenv("RAG_CHAT_MODLE", "openai:x")
    monkeypatch.setenv("RAG_ZZZ", "1")
    findings = found()
    assert findings["variable_mistyped"].details == {"name": "RAG_CHAT_MODLE", "near": "RAG_CHAT_MODEL"}
    assert findings["variable_unknown"].details == {"name": "RAG_ZZZ"}
    monkeypatch.setenv("RAG_CHAT_TOP_K", "many")
    findings = found()
    assert list(findings)[-1] == "settings_invalid"
