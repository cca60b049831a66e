"""Questions over several collections of one owner: over HTTP, and on the command line."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from graphrag.services import Services
from tests.agent.two_collections import BOTH, fill
from tests.api.commands import Run, causeway
from tests.api.expectations import check_citations, check_error
from tests.api.identities import Keys, make_keys, shown
from tests.api.streams import read_events
from tests.conftest import run_server_here, with_services

QUESTION = "¿Por qué se cerró el puente de Arenal y cuánto costó la reparación del puente de Arenal?"
COST = "¿Cuánto costó la reparación del puente de Arenal?"
CITED = {("works", "puente.md"), ("accounts", "facturas.md")}
ASKED = ["/api/v1/chat", "/api/v1/chat/stream", "/api/v1/retrieve", "/api/v1/conversations"]
NOT_BOTH = {
    "es": "«collection» y «collections» no pueden ir juntos. Indique solo uno de los dos.",
    "fr": "« collection » et « collections » ne vont pas ensemble. N'indiquez que l'un des deux.",
    "en": "“collection” and “collections” can't be combined. Give only one of them.",
}


@dataclass(frozen=True, slots=True)
class Owned:
    client: httpx.Client  # of an owner of two collections
    stranger: httpx.Client  # of one who has a collection beside them
    database: str
    keys: Keys


@pytest.fixture(scope="module")
def owned(make_database: Callable[[], str]) -> Iterator[Owned]:
    database = make_database()

    async def prepare(services: Services) -> Keys:
        keys = await make_keys(services)
        await fill(services, keys.owner_a)
        await services.store.create_collection(keys.owner_b, "others", embedding_model="bundled")
        return keys

    keys = with_services(database, prepare)
    with (
        run_server_here(DATABASE_URL=database, RAG_AUTH="api_key") as address,
        httpx.Client(base_url=address, headers=shown(keys.a), timeout=60) as client,
        httpx.Client(base_url=address, headers=shown(keys.b), timeout=60) as stranger,
    ):
        yield Owned(client, stranger, database, keys)


def body_of(path: str, **fields: Any) -> dict[str, Any]:
    asked = {"retrieve": {"query": QUESTION}, "conversations": {}}.get(path.rpartition("/")[2], {"message": QUESTION})
    return asked | fields


def ask(client: httpx.Client, **body: Any) -> dict[str, Any]:
    response = client.post("/api/v1/chat", json=body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def cited(citations: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(citation["collection"], citation["filename"]) for citation in citations}


def test_an_answer_needs_a_document_of_each(owned: Owned) -> None:
    """R8.7, R9.1 Whole and streamed: the cause is in one, the cost in the other, and each citation says in which."""
    answer = ask(owned.client, message=QUESTION, collections=BOTH)
    assert "dañó dos pilares" in answer["answer"]
    assert "9.240 euros" in answer["answer"]
    assert cited(answer["citations"]) == CITED
    check_citations(answer)
    body = {"message": QUESTION, "collections": BOTH}
    with owned.client.stream("POST", "/api/v1/chat/stream", json=body) as response:
        events = list(read_events(response.iter_lines()))
    assert cited([event.data for event in events if event.name == "citation"]) == CITED
    (sources,) = [event.data["sources"] for event in events if event.name == "sources"]
    assert {source["collection"] for source in sources} == set(BOTH)
    assert events[-1].data["answer"] == answer["answer"]


def test_a_search_names_the_collection_of_each_result(owned: Owned) -> None:
    """R9.2 And, where the stages are shown, of each leg."""
    body = {"query": COST, "collections": BOTH, "debug": True}
    found = owned.client.post("/api/v1/retrieve", json=body).json()
    assert {result["metadata"]["collection"] for result in found["results"]} == set(BOTH)
    assert found["results"][0]["metadata"]["filename"] == "facturas.md"
    legs = {(leg["collection"], leg["leg"]) for leg in found["debug"]["legs"]}
    assert legs == {(name, leg) for name in BOTH for leg in ("fulltext", "vector")}
    assert (found["degraded"], found["warnings"]) == ([], [])


@pytest.mark.parametrize("path", ASKED)
def test_another_owners_collection_is_unknown(owned: Owned, path: str) -> None:
    """Security 7 Among one's own, in the words of one that is asked for alone."""
    among = owned.client.post(path, json=body_of(path, collections=["works", "others"]))
    alone = owned.client.post(path, json=body_of(path, collection="others"))
    errors = [check_error(response, 404, "collection_not_found") for response in (among, alone)]
    assert errors[0]["details"] == errors[1]["details"] == {"name": "others", "known": sorted(BOTH)}
    assert errors[0]["message"] == errors[1]["message"]


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize("language", NOT_BOTH)
def test_one_and_several_at_once_is_an_error(owned: Owned, path: str, language: str) -> None:
    """R9 Which of them is meant can't be known."""
    body = body_of(path, collection="works", collections=BOTH)
    response = owned.client.post(path, json=body, headers={"Accept-Language": language})
    assert check_error(response, 400, "conflicting_collections")["message"] == NOT_BOTH[language]


@pytest.mark.parametrize("names", [["works"] * 9, [""], [5], "works"])
def test_a_list_of_collections_is_checked(owned: Owned, names: Any) -> None:
    """R9 At most eight names."""
    response = owned.client.post("/api/v1/chat", json={"message": QUESTION, "collections": names})
    assert check_error(response, 422, "invalid_request")["details"]["errors"][0]["field"].startswith("collections")


def test_a_conversation_remembers_its_collections(owned: Owned) -> None:
    """R9.1 A further question names none; a collection that is renamed stays the conversation's."""
    begun = ask(owned.client, message="¿Por qué se cerró el puente de Arenal?", collections=BOTH)
    conversation = begun["conversation_id"]
    path = f"/api/v1/conversations/{conversation}"
    asked = owned.client.get(path).json()
    assert (asked["collection"], asked["collections"]) == ("works", list(BOTH))
    assert cited(ask(owned.client, message=COST, conversation_id=conversation)["citations"]) == {
        ("accounts", "facturas.md")
    }
    assert owned.client.patch("/api/v1/collections/accounts", json={"name": "books"}).is_success
    assert owned.client.get(path).json()["collections"] == ["works", "books"]
    assert cited(ask(owned.client, message=COST, conversation_id=conversation)["citations"]) == {
        ("books", "facturas.md")
    }
    assert owned.client.patch("/api/v1/collections/books", json={"name": "accounts"}).is_success
    one = owned.client.patch(path, json={"collection": "works"}).json()
    assert (one["collection"], one["collections"]) == ("works", ["works"])
    both = owned.client.patch(path, json={"collections": BOTH[::-1]}).json()
    assert (both["collection"], both["collections"]) == ("accounts", list(BOTH[::-1]))
    none = owned.client.patch(path, json={"collections": []}).json()
    assert (none["collection"], none["collections"]) == (None, [])


def test_an_export_names_the_collection_of_each_source(owned: Owned) -> None:
    """R9.2 Where there are several of them."""
    answer = ask(owned.client, message=QUESTION, collections=BOTH)
    exported = owned.client.get(f"/api/v1/conversations/{answer['conversation_id']}/export").raise_for_status()
    assert "(works, puente.md)" in exported.text
    assert "(accounts, facturas.md)" in exported.text


def test_a_table_of_one_of_them_is_downloaded(owned: Owned) -> None:
    """R8.3 The rows of the collection that was not named first."""
    answer = ask(owned.client, message="¿Cuál es el importe total de Grúas Leal?", collections=BOTH)
    assert cited(answer["citations"]) == {("accounts", "pagos.csv")}
    of_answer = f"/api/v1/conversations/{answer['conversation_id']}/messages/{answer['message_id']}"
    table = owned.client.get(f"{of_answer}/table.csv")
    assert table.text.count("Grúas Leal") == 2


def test_the_stranger_has_nothing_of_them(owned: Owned) -> None:
    """Security 7 The same names, asked by somebody else."""
    response = owned.stranger.post("/api/v1/chat", json={"message": QUESTION, "collections": BOTH})
    assert check_error(response, 404, "collection_not_found")["details"]["known"] == ["others"]


def on_both(owned: Owned, command: str, *options: str) -> Run:
    named = [option for name in BOTH for option in ("--collection", name)]
    return causeway(command, QUESTION, *named, *options, DATABASE_URL=owned.database, RAG_OWNER=owned.keys.owner_a)


def test_the_command_line_asks_several(owned: Owned) -> None:
    """R8.7 `--collection` again for each; citations and results name theirs."""
    asked = on_both(owned, "ask")
    assert asked.returncode == 0, asked.stderr
    assert "9.240 euros" in asked.stdout
    assert "works: puente.md" in asked.stdout
    assert "accounts: facturas.md" in asked.stdout
    found = on_both(owned, "search")
    assert found.returncode == 0, found.stderr
    assert {"Collection", *BOTH} <= set(found.stdout.replace("┃", "│").replace("│", " ").split())
