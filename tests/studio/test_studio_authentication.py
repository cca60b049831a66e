"""LangGraph's own server where it asks who is there: the same keys, and the same answer, as over our HTTP API."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from graphrag.ingestion.bulk import Loading
from graphrag.ingestion.sources import find_files
from graphrag.services import Services
from tests.api.identities import Keys, make_keys, shown
from tests.conftest import DEMO, with_services
from tests.studio.test_langgraph_dev import LANGGRAPH, running, searched

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not LANGGRAPH, reason="needs the extra studio")]
NOTES = DEMO / "label-error-soleada.md"
QUESTION = "Which label was wrong?"


@pytest.fixture(scope="module")
def database(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="module")
def keys(database: str) -> Keys:
    """A has a collection with a document, B has an empty one of the same name."""

    async def make(services: Services) -> Keys:
        made = await make_keys(services)
        await services.collections.create(made.owner_b, "demo")
        collection = await services.collections.create(made.owner_a, "demo")
        async with services.documents.queue.working(services.jobs):
            async for _ in Loading(services.documents, collection).load(find_files([NOTES])):
                pass
        return made

    return with_services(database, make)


@pytest.fixture(scope="module")
def studio(database: str) -> Iterator[httpx.Client]:
    with running(DATABASE_URL=database, RAG_AUTH="api_key") as client:
        yield client


def run(studio: httpx.Client, key: str, path: str = "/runs/wait", **body: Any) -> httpx.Response:
    asked = {"assistant_id": "causeway", "input": {"messages": [{"role": "user", "content": QUESTION}]}}
    return studio.post(path, json=asked | body, headers=shown(key))


def make_thread(studio: httpx.Client, key: str) -> str:
    """The path of a new one."""
    return f"/threads/{studio.post('/threads', json={}, headers=shown(key)).raise_for_status().json()['thread_id']}"


def test_each_key_finds_its_owners_documents(studio: httpx.Client, keys: Keys) -> None:
    """Security 7: Studio passes the same function."""
    of_a, of_b = make_thread(studio, keys.a), make_thread(studio, keys.b)
    assert run(studio, keys.a, f"{of_a}/runs/wait").raise_for_status().json()["passages"]
    assert not run(studio, keys.b, f"{of_b}/runs/wait").raise_for_status().json()["passages"]
    assert searched(studio, of_a, shown(keys.a))["owner_id"] == keys.owner_a
    assert searched(studio, of_b, shown(keys.b))["owner_id"] == keys.owner_b


@pytest.mark.parametrize("what", ["owner_id", "opened", "services"])
def test_the_context_names_no_other_owner(studio: httpx.Client, keys: Keys, what: str) -> None:
    """Security 7: whatever B says in it, B's own documents are searched."""
    values: dict[str, Any] = {
        "owner_id": keys.owner_a,
        "opened": {"owner_id": keys.owner_a},
        "services": {"settings": {}},
    }
    named = {what: values[what]}
    for given in ({"context": named}, {"config": {"configurable": named}}):
        place = make_thread(studio, keys.b)
        run(studio, keys.b, f"{place}/runs/wait", **given)
        assert searched(studio, place, shown(keys.b))["owner_id"] == keys.owner_b


@pytest.mark.parametrize("kind", ["revoked", "expired", "unknown", "malformed"])
def test_what_is_refused_over_http_is_refused_here(studio: httpx.Client, keys: Keys, kind: str) -> None:
    """Security 7: revoking hits all ways in."""
    assert run(studio, keys.refused[kind]).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Basic YTpi"},
        {"x-auth-scheme": "langsmith"},
        {"x-auth-scheme": "langsmith", "x-api-key": "anything"},
        {"x-api-key": "anything"},
    ],
)
@pytest.mark.parametrize("path", ["/runs/wait", "/threads/search", "/assistants/search", "/store/items/search"])
def test_nobody_gets_in_without_a_key(studio: httpx.Client, headers: dict[str, str], path: str) -> None:
    """Security 7: not by saying that one is Studio either."""
    assert studio.post(path, json={}, headers=headers).status_code == 401


def test_a_key_is_revoked_while_the_server_runs(studio: httpx.Client, keys: Keys, database: str) -> None:
    """Security 7"""

    kept, key = with_services(database, lambda of: of.authentication.api_keys.create(keys.owner_a, "short"))
    assert run(studio, key).status_code == 200
    with_services(database, lambda of: of.authentication.api_keys.revoke(keys.owner_a, kept.id))
    assert run(studio, key).status_code == 401


def test_a_key_that_may_not_read_asks_nothing(studio: httpx.Client, keys: Keys) -> None:
    assert run(studio, keys.metrics_of_a).status_code == 403


def test_threads_are_their_owners(studio: httpx.Client, keys: Keys) -> None:
    """Security 4: B sees, asks, changes and deletes nothing of A's, in the words of an unknown id."""
    place = make_thread(studio, keys.a)
    thread, unknown = place.rpartition("/")[2], "/threads/00000000-0000-4000-8000-000000000001"
    assert run(studio, keys.a, f"{place}/runs/wait").is_success
    assert thread in {
        found["thread_id"] for found in studio.post("/threads/search", json={}, headers=shown(keys.a)).json()
    }
    of_b = studio.post("/threads/search", json={}, headers=shown(keys.b)).json()
    assert {found["metadata"]["owner"] for found in of_b} <= {keys.owner_b}
    for method, tail, body in (
        ("GET", "", None),
        ("GET", "/state", None),
        ("GET", "/history", None),
        ("GET", "/runs", None),
        ("PATCH", "", {"metadata": {"owner": keys.owner_b}}),
        ("POST", "/state", {"values": {}}),
        ("POST", "/runs/wait", {"assistant_id": "causeway", "input": {}}),
        ("POST", "/copy", {}),
        ("DELETE", "", None),
    ):
        foreign, missing = (
            studio.request(method, f"{start}{tail}", json=body, headers=shown(keys.b)) for start in (place, unknown)
        )
        assert (foreign.status_code, foreign.text.replace(thread, "")) == (
            missing.status_code,
            missing.text.replace(unknown.rpartition("/")[2], ""),
        ), (method, tail)
        assert not foreign.is_success or foreign.json() == [], (method, tail)
    assert studio.delete(place, headers=shown(keys.a)).is_success


def test_a_thread_is_not_edited_into_anothers_collection(studio: httpx.Client, keys: Keys) -> None:
    """Security 7: which collection is searched, and whose, is found out anew; nobody writes it into the state."""
    of_a, place = make_thread(studio, keys.a), make_thread(studio, keys.b)
    run(studio, keys.a, f"{of_a}/runs/wait")
    foreign = searched(studio, of_a, shown(keys.a))
    run(studio, keys.b, f"{place}/runs/wait", interrupt_before=["rerank"])
    values = {"collections": [foreign]}
    edited = studio.post(f"{place}/state", json={"values": values}, headers=shown(keys.b))
    assert not edited.is_success
    told = run(studio, keys.b, f"{place}/runs/wait", input=None, command={"update": values})
    assert "context's to say" in told.json()["__error__"]["message"]


def test_assistants_are_their_makers_and_the_servers(studio: httpx.Client, keys: Keys) -> None:
    """Security 4: everybody asks the server's own, and nobody changes it; B can't make one that A is shown."""
    made = studio.post(
        "/assistants",
        json={"graph_id": "causeway", "name": "mine", "metadata": {"created_by": "system"}},
        headers=shown(keys.b),
    ).raise_for_status()
    of_a, of_b = (studio.post("/assistants/search", json={}, headers=shown(key)).json() for key in (keys.a, keys.b))
    mine = made.json()["assistant_id"]
    assert mine not in {assistant["assistant_id"] for assistant in of_a}
    assert mine in {assistant["assistant_id"] for assistant in of_b}
    assert studio.get(f"/assistants/{mine}", headers=shown(keys.a)).status_code == 404
    (servers,) = of_a
    place = f"/assistants/{servers['assistant_id']}"
    assert studio.get(place, headers=shown(keys.a)).is_success
    assert not studio.patch(place, json={"context": {"collection": "x"}}, headers=shown(keys.b)).is_success
    assert not studio.delete(place, headers=shown(keys.b)).is_success
    # The server keeps what there is in a folder of the project's, for its next start.
    assert studio.delete(f"/assistants/{mine}", headers=shown(keys.b)).is_success


def test_the_store_and_the_clock_are_closed(studio: httpx.Client, keys: Keys) -> None:
    item = {"namespace": ["notes"], "key": "a", "value": {}}
    assert studio.put("/store/items", json=item, headers=shown(keys.a)).status_code == 403
    cron = {"assistant_id": "causeway", "schedule": "* * * * *", "input": {}}
    assert studio.post("/runs/crons", json=cron, headers=shown(keys.a)).status_code == 403
