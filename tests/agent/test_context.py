"""What LangGraph Studio shows of a run: six settings to choose, and messages to send."""

import pytest
from pydantic import TypeAdapter, ValidationError

from agent.context import Context
from agent.graph import graph


def test_studio_shows_six_fields_with_their_meaning() -> None:
    """R8.10 Exactly what a person may choose, each described."""
    schema = TypeAdapter(Context).json_schema()
    assert set(schema["properties"]) == {"collection", "rag_enabled", "rerank", "top_k", "retrieval", "filters"}
    assert all(field["description"] for field in schema["properties"].values())
    assert schema.get("required", []) == []


def test_studio_shows_neither_identity_nor_services() -> None:
    """R4.8 Who asks is decided by the doors; the schema does not even name it."""
    schema = str(graph.get_context_jsonschema())
    assert "owner" not in schema
    assert "services" not in schema.replace("identity and services come from the doors", "")


def test_the_graph_describes_its_input() -> None:
    """Studio builds its form from it: messages, and nothing of the stages."""
    assert set(graph.get_input_jsonschema()["properties"]) == {"messages"}


@pytest.mark.parametrize("top_k", [0, -1, 51])
def test_top_k_out_of_range_is_refused(top_k: int) -> None:
    """R4.10 Checked where the form is read."""
    with pytest.raises(ValidationError, match="top_k"):
        Context(top_k=top_k)
