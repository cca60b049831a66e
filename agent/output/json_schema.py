"""JSON schemas that callers send: bounded, without references, and values checked against them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from graphrag.errors import InvalidSchema

MOST_CHARS = 32_000
MOST_NODES = 1_000  # after each reference is replaced with what it names
MOST_LEVELS = 24
# Regular expressions can take exponential time, and hold the interpreter meanwhile; the others point elsewhere.
REFUSED = ("pattern", "patternProperties", "$dynamicRef", "$recursiveRef", "$id")
DEFINITIONS = ("$defs", "definitions", "$schema")
MAPS = ("properties", "dependentSchemas")  # from names, which are no keywords, to schemas
DATA = ("enum", "const", "default", "examples", "required", "type", "title", "description")

Method = Literal["json_schema", "json_mode"]


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    schema: dict[str, Any]
    method: Method  # of LangChain's structured output

    @classmethod
    def any_object(cls) -> Self:
        return cls({"title": "answer", "description": "The answer", "type": "object"}, "json_mode")

    @classmethod
    def read(cls, name: str, given: dict[str, Any]) -> Self:
        """Return a caller's schema without references. Raise InvalidSchema."""
        try:
            is_large = len(json.dumps(given, ensure_ascii=False)) > MOST_CHARS
        except RecursionError as exc:
            raise _invalid(f"it has more than {MOST_LEVELS} levels") from exc
        if is_large:
            raise _invalid(f"it has more than {MOST_CHARS:,} characters")
        schema = _Expansion(given).expand(given, 0)
        if schema.get("type") != "object":
            raise _invalid('its "type" must be "object"')
        from jsonschema import Draft202012Validator, SchemaError  # every command would wait for it

        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as exc:
            raise _invalid(f"{exc.json_path}: {exc.message}"[:500]) from exc
        return cls({"description": name, **schema, "title": name}, "json_schema")

    def find_fault(self, value: Any) -> str:
        """Return the path of a part of the value that is not of this schema; empty if it is."""
        from jsonschema import Draft202012Validator, ValidationError

        try:
            Draft202012Validator(self.schema).validate(value)
        except ValidationError as exc:
            return str(exc.json_path)
        return ""


class _Expansion:
    """Replaces references with the definitions that they name, within bounds."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def expand(self, node: Any, level: int) -> Any:
        self._nodes += 1
        if level > MOST_LEVELS or self._nodes > MOST_NODES:
            raise _invalid(f"it has more than {MOST_LEVELS} levels or {MOST_NODES:,} parts, or refers to itself")
        if isinstance(node, list):
            return [self.expand(each, level + 1) for each in node]
        if not isinstance(node, dict):
            return node
        for name in REFUSED:
            if name in node:
                raise _invalid(f"{name} is not supported")
        if "$ref" in node:
            beside = {key: value for key, value in node.items() if key != "$ref"}
            return self.expand({**self._resolve(node["$ref"]), **beside}, level + 1)
        return {key: self._expand_value(key, each, level + 1) for key, each in node.items() if key not in DEFINITIONS}

    def _expand_value(self, key: str, value: Any, level: int) -> Any:
        if key in DATA:
            return value
        if key in MAPS and isinstance(value, dict):
            return {name: self.expand(each, level) for name, each in value.items()}
        return self.expand(value, level)

    def _resolve(self, reference: Any) -> Mapping[str, Any]:
        found: Any = self._root
        start, *steps = str(reference).split("/")
        for step in steps:
            found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        if start != "#" or not isinstance(found, dict):
            raise _invalid(f"{str(reference)[:100]!r} refers to nothing in it")
        return found


def _invalid(reason: str) -> InvalidSchema:
    return InvalidSchema(f"The JSON schema can't be used: {reason}.", reason=reason)
