"""Commands speak the terminal's language: errors, results, and that a model is away."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from api import cli
from api.cli.terminal import terminal_language
from api.errors import MESSAGES
from graphrag.ingestion import pipeline
from graphrag.linguistics.rules import read_texts
from graphrag.models.evaluation import RunStatus
from tests.api.commands import NOWHERE, Run, causeway, one_line
from tests.model_server import Fail, ModelServer

TEXTS = read_texts("api.cli", "terminal")
SOURCE = "".join(path.read_text("utf-8") for path in Path(cli.__path__[0]).glob("*.py"))
STAGES = re.findall(r'in_stage\("(\w+)"', Path(pipeline.__file__).read_text("utf-8"))
FIELD = re.compile(r"\{(\w+)")
LOCALES = {"es": {"LC_MESSAGES": "", "LANG": "es_ES.UTF-8"}, "fr": {"LC_ALL": "fr_FR.UTF-8"}}
ERROR = {"es": "Error: ", "fr": "Erreur : "}
UNKNOWN = "00000000-0000-4000-8000-000000000000"
QUESTION = "¿Cuándo se limpia el horno pequeño?"


@dataclass(frozen=True)
class Failure:
    """A command that fails, the key of the sentence that says so, and what fills it in."""

    arguments: tuple[str, ...]
    key: str
    values: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)


FAILURES = {
    "ask": Failure(("ask", "¿?", "--collection", "nada"), "collection_not_found", {"name": "nada", "known": "taller"}),
    "search": Failure(("search", "hola", "--filter", "mal=x"), "unknown_filter", {"key": "mal"}),
    "ingest": Failure(("ingest", "/nowhere/a.pdf"), "no_file", {"paths": "/nowhere/a.pdf"}),
    "graph": Failure(("graph", "estimate", "."), "estimate_without_model", {}),
    "keys": Failure(("keys", "revoke", "abc"), "api_key_not_found", {"key": "abc"}),
    "reembed": Failure(("reembed", "taller"), "destination_missing", {}),
    "rechunk": Failure(("rechunk", "--collection", "no"), "collection_not_found", {"name": "no", "known": "taller"}),
    "eval show": Failure(("eval", "show", UNKNOWN), "evaluation_not_found", {"run": UNKNOWN}),
    "eval run": Failure(("eval", "run"), "no_golden_cases", {"collection": "taller"}),
    "eval schedule": Failure(("eval", "schedule", "remove", UNKNOWN), "schedule_not_found", {"schedule": UNKNOWN}),
    "eval golden": Failure(("eval", "golden", "accept", UNKNOWN), "proposal_not_found", {"proposal": UNKNOWN}),
    "models": Failure(("models", "--compare", "bundled"), "no_golden_cases", {"collection": "taller"}),
    "serve": Failure(("serve", "--host", "0.0.0.0"), "unauthenticated_host", {"host": "0.0.0.0"}),
    "migrate": Failure(("migrate",), "database_unavailable", {}, NOWHERE),
    "backup": Failure(("backup", "/nowhere/b.tar"), "backup_failed", {}, NOWHERE),
    "restore": Failure(("restore", "/nowhere/b.tar"), "file_unreadable", {"path": "/nowhere/b.tar"}),
    "setting": Failure(("ask", "hola"), "invalid_settings", {}, {"RAG_CHAT_TOP_K": "many"}),
}  # fmt: skip


def test_every_text_is_there_in_three_languages() -> None:
    """R9 With the same fields in each; every key that is said has a text."""
    said = set(re.findall(r'say\(\s*"(\w+)"', SOURCE)) | {f"run_{status}" for status in RunStatus}
    said |= {f"outcome_{status}" for status in ("indexed", "unchanged", "error")}
    said |= {f"stage_{stage}" for stage in ("", "parse", *STAGES)}
    assert said - set(TEXTS) == set()
    for key, by_language in TEXTS.items():
        assert set(by_language) == {"es", "fr", "en"}, key
        fields = {language: set(FIELD.findall(text)) for language, text in by_language.items()}
        assert fields["es"] == fields["fr"], key
        assert fields["en"] in (fields["es"], {"message"}), key


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "fr_CA.UTF-8"}, "fr"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "es_MX", "LANG": "fr_FR"}, "es"),
        ({"LC_ALL": "C", "LANG": "es_ES.UTF-8"}, "en"),
    ],
)
def test_the_language_is_the_locale_s(environment: dict[str, str], language: str) -> None:
    """R9 In POSIX' order; English where it is none of ours."""
    assert terminal_language(environment) == language


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    folder, database = tmp_path_factory.mktemp("taller"), make_database()
    (folder / "horno.txt").write_text("El horno pequeño se limpia los viernes.\n")
    (folder / "foto.bin").write_bytes(b"\x89PNG\0\0")
    run = causeway("ingest", str(folder), "--collection", "taller", DATABASE_URL=database, **LOCALES["es"])
    assert "Documentos: 2 (1 error, 1 indexado); fragmentos: 1" in run.stdout
    assert MESSAGES["indexing_unsupported"]["es"] in run.stdout
    return database


@pytest.mark.parametrize("language", LOCALES)
@pytest.mark.parametrize("name", FAILURES)
def test_a_command_that_fails_says_why_in_the_terminal_s_language(database: str, name: str, language: str) -> None:
    """R9 One sentence, exit code 1; what is said beside it is what the other side said."""
    failure = FAILURES[name]
    run = causeway(*failure.arguments, **{"DATABASE_URL": database, **LOCALES[language], **failure.environment})
    opening, *_ = TEXTS[failure.key][language].partition("{message}")[0].partition("{cause}")
    known = {"known": "document_type"} if name == "search" else {}
    told = opening.format(**failure.values, **known)
    assert run.returncode == 1
    assert one_line(run).startswith(ERROR[language] + told)
    assert "geheim" not in run.stderr


@pytest.mark.parametrize(
    ("language", "told"),
    [("es", "No se ha encontrado nada.\n"), ("fr", "Aucun résultat.\n")],
)
def test_nothing_found_is_said_in_the_terminal_s_language(database: str, language: str, told: str) -> None:
    """R9"""
    run = causeway("search", "horno", "--filter", "language=en", DATABASE_URL=database, **LOCALES[language])
    assert (run.returncode, run.stdout, run.stderr) == (0, told, "")


def test_a_model_that_is_away_is_one_sentence(database: str) -> None:
    """R8.5 The answer quotes the documents, and one line says why; the log's lines are there for who asks for them."""

    def ask(**environment: str) -> Run:
        with ModelServer(default=Fail(503)) as model:
            away = {"RAG_CHAT_MODEL": "openai:away", "OPENAI_API_KEY": "no-key", "OPENAI_BASE_URL": model.base_url}
            return causeway("ask", QUESTION, DATABASE_URL=database, **away, **environment)

    run = ask()
    assert (run.returncode, "se limpia los viernes. [1]" in run.stdout) == (0, True)
    assert one_line(Run([], 0, "", run.stderr)) == (
        "El modelo de lenguaje no respondió: la respuesta cita frases de los documentos."
    )
    assert "model does not answer" in ask(RAG_LOG_LEVEL="WARNING").stderr
