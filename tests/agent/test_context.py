"""What LangGraph Studio shows of a run: six settings to choose, and messages to send."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from langgraph.runtime import BaseUser, Runtime, ServerInfo
from pydantic import TypeAdapter, ValidationError

from agent.context import Context, owner_of
from agent.graph import graph
from graphrag.errors import InvalidSettings, Unauthorized
from graphrag.services import Services, open_services
from tests.factories import COLLECTION_ID


def test_studio_shows_what_may_be_chosen_with_its_meaning() -> None:
    """R8.10 Exactly what a person may choose, each described."""
    schema = TypeAdapter(Context).json_schema()
    assert set(schema["properties"]) == {
        "collection", "collections", "rag_enabled", "filters", "retrieval", "rerank", "top_k", "chat_model",
        "instructions",
    }  # fmt: skip
    assert all(field["description"] for field in schema["properties"].values())
    assert schema.get("required", []) == []


def test_studio_shows_neither_identity_nor_services() -> None:
    """R4.8 Who asks is decided by the doors; the schema does not even name it."""
    schema = str(graph.get_context_jsonschema())
    assert "owner" not in schema
    assert "services" not in schema


def test_the_graph_describes_its_input() -> None:
    """Studio builds its form from it: messages, and nothing of the stages."""
    assert set(graph.get_input_jsonschema()["properties"]) == {"messages"}


@pytest.mark.parametrize("top_k", [0, -1, 51])
def test_top_k_out_of_range_is_refused(top_k: int) -> None:
    """R4.10 Checked where the form is read."""
    with pytest.raises(InvalidSettings, match="top_k"):
        Context(top_k=top_k)


FOREIGN: dict[str, dict[str, Any]] = {
    "the owner": {"owner_id": "victim"},
    "a collection of the owner's": {
        "opened": {"id": str(COLLECTION_ID), "owner_id": "victim", "name": "notes", "embedding_model": "bundled"}
    },
    "services of one's own": {"services": {"settings": {}}},
    "the owner, with services of one's own": {"owner_id": "victim", "services": {"settings": {}}},
}


@pytest.mark.parametrize("named", FOREIGN)
def test_no_client_says_who_asks(named: str) -> None:
    """Security 7: what LangGraph's server makes a context of, should it ever let these through."""
    with pytest.raises((ValidationError, InvalidSettings)):
        Context(**FOREIGN[named])


def test_a_door_says_who_asks(services: Services) -> None:
    """And where it does not, it is the owner of the settings."""
    assert Context(services=services, owner_id="ana").owner_id == "ana"
    mine = open_services(services.settings.changed(owner="bea"))
    assert owner_of(Runtime(context=Context(services=mine))) == "bea"


def run_of(services: Services, user: BaseUser | None) -> Runtime[Context]:
    return Runtime(context=Context(services=services), server_info=ServerInfo("assistant", "causeway", user))


def test_whom_langgraphs_server_has_identified_asks(services: Services) -> None:
    """Security 7."""
    assert owner_of(run_of(services, cast(BaseUser, SimpleNamespace(identity="ana")))) == "ana"
    assert owner_of(run_of(services, None)) == services.owner


def test_a_server_that_was_told_to_ask_nobody_answers_nobody(services: Services) -> None:
    """Security 7: with `auth` taken out of langgraph.json, RAG_AUTH still holds."""
    closed = open_services(services.settings.changed(auth="api_key"))
    with pytest.raises(Unauthorized):
        owner_of(run_of(closed, None))
