"""`causeway graph`, in a process of its own."""

import json
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4
from xml.etree import ElementTree

import pytest

from graphrag.models import LOCAL_OWNER, Span
from graphrag.models.graph import CausalRelation, ChunkGraph, Polarity, RelationType
from graphrag.models.ingestion import IndexedDocument
from graphrag.services import Services
from tests.api.commands import causeway, one_line
from tests.conftest import with_services
from tests.factories import make_chunk, make_document
from tests.model_server import ModelServer, Reply

TEXT = "La helada arruinó la cosecha. La mala cosecha subió el precio de la almendra. La huelga no retrasó el camión."


def relation(cause: str, effect: str, quote: str, polarity: Polarity = Polarity.FACT) -> CausalRelation:
    spans = [Span(TEXT.index(part), TEXT.index(part) + len(part)) for part in (cause, effect, quote)]
    return CausalRelation(spans[0], spans[1], spans[2], RelationType.CAUSES, polarity, 0.9)


RELATIONS = (
    relation("La helada", "la cosecha", "La helada arruinó la cosecha."),
    relation("La mala cosecha", "el precio de la almendra", "La mala cosecha subió el precio de la almendra."),
    relation("La huelga", "el camión", "La huelga no retrasó el camión.", Polarity.NEGATED),
)


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    """One collection with three relations, and one with none."""
    url = make_database()

    async def fill(services: Services) -> None:
        await services.collections.create(LOCAL_OWNER, "empty")
        collection = await services.collections.create(LOCAL_OWNER, "almendra")
        document = make_document(id=uuid4(), collection_id=collection.id, filename="correo [1].txt", title="Correo")
        chunk = make_chunk(TEXT, document=document)
        vector = [1.0] * services.embeddings.get(collection.embedding_model).dimensions
        graph = [ChunkGraph(relations=RELATIONS)]
        await services.store.put_documents(collection, [IndexedDocument(document, [chunk], [vector], graph=graph)])

    with_services(url, fill)
    return url


def show(database: str, *arguments: str) -> str:
    run = causeway("graph", "show", *arguments, DATABASE_URL=database)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_causes_are_listed_with_their_effects(database: str) -> None:
    """R7.1 Each with the document that says so; what a document denies is marked."""
    lines = show(database, "--collection", "almendra").splitlines()
    assert lines[lines.index("La helada") + 1] == "└── → la cosecha  correo [1].txt"
    assert lines[lines.index("La huelga") + 1] == "└── → el camión denied  correo [1].txt"
    assert len([line for line in lines if "→" in line]) == 3


@pytest.mark.slow
def test_only_what_is_near_a_thing_is_listed(database: str) -> None:
    """R7.1"""
    listed = show(database, "camión", "--collection", "almendra")
    assert "La huelga" in listed
    assert "helada" not in listed
    assert "Nothing is said of “zarzaparrilla”." in show(database, "zarzaparrilla", "--collection", "almendra")


def test_the_picture_is_written(database: str, tmp_path: Path) -> None:
    """R7.1"""
    file = tmp_path / "graph.svg"
    assert f"{file}: 3 relations" in show(database, "--svg", str(file), "--collection", "almendra")
    picture = ElementTree.fromstring(file.read_text(encoding="utf-8"))
    labels = {text.text for text in picture.iter("{http://www.w3.org/2000/svg}tspan")}
    assert {"La helada", "la cosecha", "La huelga"} <= labels


def test_a_picture_that_cannot_be_written_is_one_line(database: str, tmp_path: Path) -> None:
    """R11 No traceback."""
    file = tmp_path / "missing" / "graph.svg"
    run = causeway("graph", "show", "--svg", str(file), "--collection", "almendra", DATABASE_URL=database)
    assert run.returncode == 1
    assert one_line(run) == f"Error: {file} can't be written (No such file or directory)."


@pytest.mark.slow
def test_a_model_s_work_is_estimated_paid_for_and_resumed(
    make_database: Callable[[], str], model_server: ModelServer, tmp_path: Path
) -> None:
    """R7.1 Nothing is asked for an estimate; a run keeps to its budget; what it has found is not asked for again."""
    for name, thing in (("one.txt", "La helada"), ("two.txt", "El granizo")):
        (tmp_path / name).write_text(f"{thing} de marzo fue el fin de toda la cosecha de almendra.\n", encoding="utf-8")
    (tmp_path / "photo.bin").write_bytes(b"\x89PNG\0\0")
    model_server.default = Reply(
        lambda body: json.dumps(
            {
                "relations": [
                    {
                        "cause": f"{thing} de marzo",
                        "effect": "la cosecha de almendra",
                        "quote": f"{thing} de marzo fue el fin de toda la cosecha de almendra.",
                        "type": "CAUSES",
                        "polarity": "fact",
                    }
                    for thing in ("La helada", "El granizo")
                ]
            }
        )
    )
    environment = {
        "DATABASE_URL": make_database(),
        "RAG_CHAT_MODEL": "openai:scripted",
        "OPENAI_API_KEY": "no-key",
        "OPENAI_BASE_URL": model_server.base_url,
    }

    def run(*arguments: str, returncode: int = 0, **more: str) -> str:
        done = causeway(*arguments, **environment, **more)
        assert done.returncode == returncode, done.stderr
        return done.stdout

    assert run("graph", "estimate", str(tmp_path)).startswith("2 calls of the chat model, about ")
    assert model_server.requests == []
    run("ingest", str(tmp_path), returncode=1, RAG_GRAPH_MAX_CALLS="1")  # the picture can't be read
    assert len(model_server.requests) == 1
    assert run("graph", "show").count("→ la cosecha de almendra") == 1
    left = run("graph", "estimate", str(tmp_path), RAG_GRAPH_MAX_CALLS="9").splitlines()
    assert left[0].startswith("1 calls of the chat model")
    assert left[1].startswith("RAG_GRAPH_MAX_CALLS=9 allows 1 of them")
    run("rechunk", "--all", RAG_GRAPH_MAX_CALLS="9")
    assert len(model_server.requests) == 2
    assert run("graph", "show").count("→ la cosecha de almendra") == 2


@pytest.mark.slow
def test_an_answer_shows_its_chain(make_database: Callable[[], str], tmp_path: Path) -> None:
    """R7.2 Below the answer, each link with its citation; and as structured metadata."""
    text = "La válvula del horno falló debido a la falta de presión. El horno se limpia los lunes.\n"
    (tmp_path / "horno.txt").write_text(text, encoding="utf-8")
    database = make_database()
    assert causeway("ingest", str(tmp_path), DATABASE_URL=database).returncode == 0
    question = "¿Por qué falló la válvula del horno?"
    lines = causeway("ask", question, DATABASE_URL=database).stdout.splitlines()
    assert lines[0].startswith("**Falta de presión** — La válvula del horno falló debido a la falta de presión. [1]")
    assert lines[1] == "la falta de presión → La válvula del horno falló [1]"
    (path,) = json.loads(causeway("ask", question, "--json", DATABASE_URL=database).stdout)["paths"]
    assert path["entities"] == ["la falta de presión", "La válvula del horno falló"]
    assert path["edges"][0]["source"] == 1
    assert text[path["edges"][0]["start_char"] : path["edges"][0]["end_char"]] == path["edges"][0]["quote"]


def test_an_estimate_needs_a_model(database: str, tmp_path: Path) -> None:
    """R11 One line that says what to set."""
    (tmp_path / "one.txt").write_text("Una frase.")
    run = causeway("graph", "estimate", str(tmp_path), DATABASE_URL=database)
    assert run.returncode == 1
    assert one_line(run) == "Error: An estimate needs RAG_CHAT_MODEL: the model that would find relations."


def test_an_empty_graph_says_so(database: str, tmp_path: Path) -> None:
    """R7.1 Nothing is written either."""
    file = tmp_path / "graph.svg"
    assert "No document says what caused what." in show(database, "--svg", str(file), "--collection", "empty")
    assert not file.exists()
