"""Schemas from outside: what is accepted, and what is refused before it costs anything."""

import time
from typing import Any

import pytest

from agent.output.json_schema import AnswerSchema
from graphrag.errors import InvalidSchema

NESTED: dict[str, Any] = {"type": "object"}
for _ in range(40):
    NESTED = {"type": "object", "properties": {"x": NESTED}}
ENDLESS: dict[str, Any] = {"type": "object"}
for _ in range(100_000):
    ENDLESS = {"type": "object", "properties": {"x": ENDLESS}}
LAUGHS: dict[str, Any] = {
    "type": "object",
    "properties": {"x": {"$ref": "#/$defs/a0"}},
    "$defs": {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 4} for n in range(10)} | {"a10": {"type": "string"}},
}


def test_references_are_replaced_and_names_are_no_keywords() -> None:
    """R9 A property may be called pattern; its schema is found by $ref."""
    given = {
        "type": "object",
        "properties": {"pattern": {"$ref": "#/$defs/note"}, "$ref": {"type": "integer"}},
        "required": ["pattern"],
        "$defs": {"note": {"type": "string", "maxLength": 5}},
    }
    read = AnswerSchema.read("note", given)
    assert read.schema["properties"] == {"pattern": {"type": "string", "maxLength": 5}, "$ref": {"type": "integer"}}
    assert read.schema["title"] == "note"
    assert read.find_fault({"pattern": "abc"}) == ""
    assert read.find_fault({"pattern": "abcdef"}) == "$.pattern"
    assert read.find_fault(None) == "$"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"type": "array"}, '"type" must be "object"'),
        ({"type": "object", "properties": {"x": {"type": "text"}}}, "$.properties.x.type"),
        ({"type": "object", "properties": 7}, "$.properties"),
        ({"type": "object", "patternProperties": {"(a+)+$": {}}}, "patternProperties"),
        ({"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}}, "refers to nothing"),
        ({"type": "object", "properties": {"x": {"$ref": ["#"]}}}, "refers to nothing"),
        ({"type": "object", "properties": {"x": {"$ref": "file:///etc/passwd"}}}, "refers to nothing"),
        ({"type": "object", "properties": {"x": {"$ref": "#"}}}, "refers to itself"),
        (NESTED, "levels"),
        (ENDLESS, "levels"),
        (LAUGHS, "parts"),
    ],
)
def test_a_hostile_schema_is_refused_at_once(given: dict[str, Any], reason: str) -> None:
    """Security 12: nothing is fetched, nothing grows, nothing takes long."""
    started = time.thread_time()
    with pytest.raises(InvalidSchema) as refused:
        AnswerSchema.read("x", given)
    assert reason in refused.value.details["reason"]
    assert time.thread_time() - started < 2
