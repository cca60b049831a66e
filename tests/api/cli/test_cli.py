"""The command line, each command in a process of its own."""

import json
import os
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from api.errors import MESSAGES
from graphrag.config.settings import Settings
from graphrag.models import LOCAL_OWNER
from graphrag.services import open_services
from tests.api.commands import NOWHERE, Run, causeway, one_line, rows
from tests.api.expectations import check_citations
from tests.api.scripted import asking
from tests.api.streams import read_events
from tests.model_server import ModelServer, Reply
from tests.processes import started

QUESTION = "¿Cuándo se limpia el horno pequeño?"
FACT = "El horno pequeño se limpia los viernes."
MARKED = "The cold room [/b] is :x: closed on Mondays [red]."  # what a terminal library takes for colours and emoji


@dataclass(frozen=True)
class Library:
    """A folder with good and bad files, indexed by the command line into a database of its own."""

    database: str
    ingest: Run

    def run(self, *arguments: str) -> Run:
        return causeway(*arguments, DATABASE_URL=self.database)


@pytest.fixture(scope="module")
def library(make_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("library")
    (folder / "inner").mkdir()
    (folder / "inner" / "horno.txt").write_text(f"{FACT}\n")
    (folder / "pan.md").write_text("# Pan\n\nEl pan de centeno se hornea de noche.\n")
    (folder / "cold [b].txt").write_text(f"{MARKED}\n")
    (folder / "photo.bin").write_bytes(b"\x89PNG\0\0")
    (folder / "nul.txt").write_bytes(b"text\0text")
    (folder / "empty.txt").touch()
    (folder / ".hidden.txt").write_text("El zarzaparrillófono está en el sótano.\n")
    dangling = folder / "gone.txt"
    dangling.symlink_to(folder / "nothing-here")
    unreadable = folder / "locked.txt"
    if os.geteuid() == 0:
        unreadable.symlink_to("/proc/self/mem")  # root reads everything else
    else:
        unreadable.write_text("secret")
        unreadable.chmod(0)
    database = make_database()
    ingest = causeway("ingest", str(folder), str(dangling), "--collection", "taller", DATABASE_URL=database)
    return Library(database, ingest)


def test_ingest_lists_every_file_with_what_became_of_it(library: Library) -> None:
    """R1.2, R1.7 Good files are indexed, each bad one has its cause; one stops no other, and the exit code says so."""
    assert library.ingest.returncode == 1, library.ingest.stderr
    found = rows(library.ingest.stdout)
    for name in ("horno.txt", "pan.md", "cold [b].txt"):
        assert found[name] == ["indexed", "1", ""]
    causes = {
        "photo.bin": MESSAGES["indexing_unsupported"]["en"],
        "nul.txt": MESSAGES["indexing_unsupported"]["en"],
        "empty.txt": MESSAGES["indexing_empty"]["en"],
        "gone.txt": "The file can't be read: No such file or directory",
    }
    for name, cause in causes.items():
        assert found[name] == ["error", "", cause]
    assert found["locked.txt"][0] == "error"
    assert found["locked.txt"][2].startswith("The file can't be read: ")
    assert ".hidden.txt" not in found
    assert "Traceback" not in library.ingest.stderr


def test_what_was_indexed_is_found(library: Library) -> None:
    """R4.7 The shape of a hit; without --collection the only one is searched; a hidden file is not in it."""
    run = library.run("search", "zarzaparrillófono horno pequeño", "--json", "--limit", "2", "--strategy", "hybrid")
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert set(found) == {"hits", "degraded", "strategy", "warnings"}
    assert (found["degraded"], found["warnings"]) == ([], [])
    assert len(found["hits"]) == 2
    assert "zarzaparrillófono" not in run.stdout
    hit = found["hits"][0]
    assert set(hit) == {
        "chunk_id",
        "document_id",
        "chunk_index",
        "content",
        "score",
        "scores",
        "created_at",
        "metadata",
    }
    assert hit["content"].strip() == FACT
    assert hit["metadata"]["filename"] == "horno.txt"
    assert hit["metadata"]["language"] == "es"
    assert {"fulltext", "vector", "fusion", "rerank"} <= set(hit["scores"])
    assert found["hits"][0]["score"] >= found["hits"][1]["score"]


def test_a_search_is_told_how_and_where(library: Library) -> None:
    """R4.4, R4.5, R4.7, R4.10 strategy, filters, offset, min_score and reranking by option."""
    where = ("--filter", "language=es", "--filter", "filename=HORNO.TXT", "--filter", "filename=pan.md")
    how = ("--json", "--no-rerank", "--strategy", "fulltext", *where)
    run = library.run("search", QUESTION, *how)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert (found["strategy"], found["degraded"]) == ("fulltext", [])
    assert [hit["metadata"]["filename"] for hit in found["hits"]] == ["horno.txt"]
    assert set(found["hits"][0]["scores"]) == {"fulltext"}
    for page in (("--offset", "1"), ("--min-score", "1")):
        assert json.loads(library.run("search", QUESTION, *how, *page).stdout)["hits"] == []


def test_a_file_that_is_not_there_is_told_on_the_terminal(library: Library) -> None:
    """R4.5"""
    run = library.run("search", "¿Qué dice nóminas.pdf del horno?")
    assert run.returncode == 0
    assert run.stderr == "No hay ningún archivo 'nóminas.pdf': no se ha buscado en él.\n"


def test_documents_are_shown_as_they_are_written(library: Library) -> None:
    """Security 14: text of a document is no markup for the terminal."""
    run = library.run("search", "cold room closed", "--limit", "1")
    assert run.returncode == 0, run.stderr
    cells = next(iter(row for row in rows(run.stdout).values() if MARKED in row))
    assert cells[0] == "cold [b].txt"


def test_ask_prints_the_answer_then_its_citations(library: Library) -> None:
    """R8.3 What a person sees."""
    run = library.run("ask", QUESTION)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [f"{FACT} [1]", f"[1] horno.txt, supported: {FACT}"]
    assert run.stderr == ""


def test_ask_as_json_is_the_api_s_answer(library: Library) -> None:
    """R9.1 The same fields as POST chat; nothing but JSON on standard output."""
    run = library.run("ask", QUESTION, "--json", "--collection", "taller")
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert {"answer", "citations", "sources", "degraded", "timings_ms", "found", "language"} <= set(answer)
    assert answer["answer"] == f"{FACT} [1]"
    assert answer["degraded"] == []
    assert answer["timings_ms"]["total"] > 0
    check_citations(answer)


def test_ingesting_again_touches_only_what_changed(make_database: Callable[[], str], tmp_path: Path) -> None:
    """R1.6 The same bytes change nothing; a changed file replaces its old text."""
    database = make_database()
    (tmp_path / "same.txt").write_text("El pan de centeno se hornea de noche.\n")
    changing = tmp_path / "changing.txt"
    changing.write_text("La clave del almacén es quetzalcóatl.\n")
    first = causeway("ingest", str(tmp_path), DATABASE_URL=database)
    assert [row[0] for row in rows(first.stdout).values()] == ["indexed", "indexed"]
    changing.write_text("La clave del almacén es popocatépetl.\n")
    second = causeway("ingest", str(tmp_path), DATABASE_URL=database)
    assert second.returncode == 0
    assert rows(second.stdout) == {"changing.txt": ["indexed", "1", ""], "same.txt": ["unchanged", "", ""]}
    how = ("--json", "--strategy", "hybrid")
    found = json.loads(causeway("search", "clave almacén quetzalcóatl", *how, DATABASE_URL=database).stdout)
    texts = [hit["content"] for hit in found["hits"]]
    assert len(texts) == 2
    assert "popocatépetl" in texts[0]
    assert "quetzalcóatl" not in str(texts)


async def test_among_several_collections_one_must_be_named(make_database: Callable[[], str]) -> None:
    """R9.3 None is called «default»: the error lists them."""
    database = make_database()
    services = open_services(Settings.from_environment(database_url=SecretStr(database)))
    for name in ("recetas", "contratos"):
        await services.collections.create(LOCAL_OWNER, name)
    await services.close()
    run = causeway("ask", QUESTION, DATABASE_URL=database)
    assert run.returncode == 1
    assert one_line(run) == (
        "Error: The collection “default” does not exist. Existing ones: contratos, recetas. "
        "To create one: causeway ingest PATH --collection NAME"
    )


@dataclass(frozen=True)
class Misuse:
    """{…} in arguments and environment stands for what the fixture `places` makes."""

    arguments: tuple[str, ...]
    told: tuple[str, ...]  # parts of the one line on standard error
    environment: Mapping[str, str] = field(default_factory=dict)


MISUSES = {
    "busy port": Misuse(("serve", "--port", "{port}"), ("{port}", "already in use", "causeway serve --port"), NOWHERE),
    "beyond loopback": Misuse(
        ("serve", "--host", "0.0.0.0"), ("no authentication", "RAG_AUTH=api_key", "--host 127.0.0.1"), NOWHERE
    ),
    "home is no folder": Misuse(
        ("ask", "hola"), ("CAUSEWAY_HOME {file}/home", "can't be written", "Set CAUSEWAY_HOME"),
        {"CAUSEWAY_HOME": "{file}/home"},
    ),
    "not a number": Misuse(("ask", "hola"), ("RAG_CHAT_TOP_K", "integer", "'many'"), {"RAG_CHAT_TOP_K": "many"}),
    "refusing database": Misuse(("ask", "hola"), ("PostgreSQL", "Connection refused", "DATABASE_URL"), NOWHERE),
    "no connection string": Misuse(("migrate",), ("PostgreSQL", "DATABASE_URL"), {"DATABASE_URL": "nonsense"}),
    "model without a key": Misuse(
        ("ask", "hola"), ("RAG_CHAT_MODEL=openai:x: ", "OPENAI_API_KEY"),
        {"RAG_CHAT_MODEL": "openai:x", "DATABASE_URL": "{database}"},
    ),
    "model without its package": Misuse(
        ("ask", "hola"), ("RAG_CHAT_MODEL=ollama:x", "make install WITH=ollama"),
        {"RAG_CHAT_MODEL": "ollama:x", "DATABASE_URL": "{database}", "PYTHONPATH": "{without_extras}"},
    ),
    "splitter without its package": Misuse(
        ("ingest", "{empty}", "--chunking", "llama_index_sentence"), ("make install WITH=splitters",),
        {"DATABASE_URL": "{database}", "PYTHONPATH": "{without_extras}"},
    ),
    "nothing to index": Misuse(
        ("ingest", "{file}-nowhere", "{empty}"), ("{file}-nowhere", "{empty}"), {"DATABASE_URL": "{database}"}
    ),
    "no collection": Misuse(
        ("search", "hola", "--collection", "taller"), ("“taller”", "causeway ingest"), {"DATABASE_URL": "{database}"}
    ),
    "unknown filter": Misuse(
        ("search", "hola", "--filter", "owner_id=x"), ("“owner_id”", "document_type, language"),
        {"DATABASE_URL": "{database}"},
    ),
}  # fmt: skip
CONFIGS = {
    "not YAML": ("embeddings: [", "while parsing"),
    "empty list": ("embeddings: []", "at least 1 item"),
    "duplicate id": ("embeddings: [{id: a, provider: bundled}, {id: a, provider: bundled}]", "id ['a'] stands twice"),
    "unknown provider": ("embeddings: [{id: a, provider: magic}]", "embeddings.0.provider"),
    "does not load": ("embeddings: [{id: far, provider: openai, model: m}]", "Embedding model 'far'"),
}
GOOD_CONFIG = "embeddings:\n  - {id: one, provider: bundled}\n  - {id: two, provider: bundled}\n"


@pytest.fixture(scope="module")
def places(make_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("places")
    (folder / "file").touch()
    (folder / "empty").mkdir()
    (folder / "without_extras").mkdir()  # whether their packages are installed or not
    (folder / "without_extras" / "llama_index").mkdir()
    (folder / "without_extras" / "llama_index" / "__init__.py").touch()
    (folder / "without_extras" / "langchain_ollama.py").write_text("raise ImportError('hidden, on purpose')")
    with socket.create_server(("127.0.0.1", 0)) as busy:
        yield {
            "port": str(busy.getsockname()[1]),
            "file": str(folder / "file"),
            "empty": str(folder / "empty"),
            "without_extras": str(folder / "without_extras"),
            "database": make_database(),
        }


def misuse(name: str, places: dict[str, str]) -> Run:
    arguments = [argument.format_map(places) for argument in MISUSES[name].arguments]
    return causeway(*arguments, **{key: value.format_map(places) for key, value in MISUSES[name].environment.items()})


@pytest.mark.parametrize("name", MISUSES)
def test_misuse_is_told_in_one_line_with_the_way_out(places: dict[str, str], name: str) -> None:
    """R9 Exit code 1, one line on standard error, no secret in it."""
    run = misuse(name, places)
    assert run.returncode == 1
    line = one_line(run)
    assert line.startswith("Error: ")
    for part in MISUSES[name].told:
        assert part.format_map(places) in line
    assert "geheim" not in line


@pytest.mark.parametrize("name", CONFIGS)
def test_a_broken_list_of_embedding_models_stops_the_start(places: dict[str, str], tmp_path: Path, name: str) -> None:
    """R3.1 Exit code ≠ 0 with the file, the cause and an example of a right one."""
    path = tmp_path / f"{name}.yml"
    path.write_text(CONFIGS[name][0])
    arguments = ("serve", "--port", "0", "--embeddings-config", str(path))
    run = causeway(*arguments, DATABASE_URL=places["database"], OPENAI_API_KEY="")
    assert run.returncode == 1
    assert run.stdout == ""
    assert CONFIGS[name][1] in run.stderr
    assert f"{name}.yml" in run.stderr
    assert run.stderr.endswith("Example:\nembeddings:\n  - id: bundled\n    provider: bundled\n")
    assert "Traceback" not in run.stderr


def test_models_are_loaded_and_listed_without_a_database(tmp_path: Path) -> None:
    """R3.2 `--download-models`: all of them, then exit 0; R3.1 EMBEDDINGS_CONFIG names the file."""
    (tmp_path / "good.yml").write_text(GOOD_CONFIG)
    run = causeway("serve", "--download-models", **NOWHERE, EMBEDDINGS_CONFIG=str(tmp_path / "good.yml"))
    assert run.returncode == 0, run.stderr
    assert run.stdout == "one: loaded, 256 dimensions\ntwo: loaded, 256 dimensions\n"


def test_help_lists_the_commands() -> None:
    """R9 …each with what it does."""
    run = causeway("--help", COLUMNS="80")
    assert run.returncode == 0
    for command in ("serve", "ingest", "search", "ask", "migrate"):
        assert any(line.split()[1:2] == [command] and len(line.split()) > 4 for line in run.stdout.splitlines()), (
            command
        )


def test_a_mistyped_path_makes_no_collection(places: dict[str, str]) -> None:
    """R9.3 …which would be asked from then on in place of the only real one."""
    assert misuse("nothing to index", places).returncode == 1
    with psycopg.connect(places["database"]) as connection:
        assert connection.execute("SELECT count(*) FROM causeway.collections").fetchone() == (0,)


def test_migrating_twice_changes_nothing(postgres: str) -> None:
    """R11 An administrator may run it at every start."""
    for _ in range(2):
        run = causeway("migrate", DATABASE_URL=postgres)
        assert (run.returncode, run.stdout, run.stderr) == (0, "The database is ready.\n", "")


@pytest.mark.parametrize("stop", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_server_is_stopped_in_mid_answer(library: Library, stop: signal.Signals) -> None:
    """R11 Ctrl-C or a supervisor's signal: exit code 0 within seconds, no traceback, the model call is ended too."""
    with ModelServer(default=Reply("word " * 600, delay_seconds_per_token=0.05)) as model:
        environment = asking(model, DATABASE_URL=library.database)
        with started("serve", "--port", "0", **environment) as server:
            url = server.read_line("Causeway answers at http://localhost:").split()[3]
            with httpx.stream("POST", f"{url}/api/chat/stream", json={"message": QUESTION}, timeout=30) as response:
                tokens = (event for event in read_events(response.iter_lines()) if event.name == "token")
                assert next(tokens)
                assert server.stop(stop) == 0
            assert "Traceback" not in server.log()
        assert model.disconnects == 1
