"""A collection: its schema, and documents that obey it."""

import time
from collections.abc import Mapping
from typing import Any

from tests.typesense_server.contract import Refusal, Values, check_names, require

SCHEMA = {"name", "fields", "default_sorting_field", "enable_nested_fields", "metadata"}
FIELD = {"name", "type", "facet", "optional", "index", "num_dim", "vec_dist", "sort", "store"}
NUMBERS = {"int32": 1 << 31, "int64": 1 << 63, "float": None}
TYPES = {"string", "string[]", "bool", "object", "object[]", "float[]", *NUMBERS}
NAMES = {"string": "a string", "int32": "an int32", "int64": "an int64", "float": "a float", "bool": "a bool"}


class Collection:
    def __init__(self, schema: Values) -> None:
        check_names(schema, SCHEMA)
        for name in ("name", "fields"):
            require(schema.get(name), 400, f"Parameter `{name}` is required.")
        are_objects = isinstance(schema["fields"], list) and all(isinstance(one, dict) for one in schema["fields"])
        require(are_objects, 400, "The `fields` value should be an array of objects.")
        self._schema = {"default_sorting_field": "", "enable_nested_fields": False, "metadata": {}} | schema
        require(isinstance(self._schema["metadata"], dict), 400, "The `metadata` value should be an object.")
        self.fields: dict[str, Values] = {}
        self.documents: dict[str, Values] = {}
        self._created_at = int(time.time())
        for field in schema["fields"]:
            self.fields[field["name"]] = self._checked(field)
        self._check_sorting(self.sorting_field)

    @property
    def sorting_field(self) -> str:
        return str(self._schema["default_sorting_field"])

    def _checked(self, field: Values) -> Values:
        check_names(field, FIELD)
        name, kind = field.get("name"), field.get("type")
        require(
            isinstance(name, str) and name, 400, "Wrong format for `fields`. It should be an array of field objects."
        )
        require(kind in TYPES, 400, f"Field `{name}` has an invalid data type `{kind}`, see docs.")
        change = "To change this field, drop it first before adding it back to the schema."
        require(name not in self.fields, 400, f"Field `{name}` is already part of the schema: {change}")
        is_object = kind in ("object", "object[]")
        nested = "Type `object` or `object[]` can be used only when nested fields are enabled by setting"
        require(not is_object or self._schema["enable_nested_fields"], 400, f"{nested}` enable_nested_fields` to true.")
        is_indexed = field.get("index", True)
        require(
            is_indexed or field.get("optional"),
            400,
            f"Field `{name}` must be optional since it is marked as non-indexable.",
        )
        require(
            is_indexed or not field.get("facet"), 400, f"Field `{name}` cannot be a facet since it is non-indexable."
        )
        dimensions = field.get("num_dim", 0)
        require(isinstance(dimensions, int) and dimensions >= 0, 400, "Property `num_dim` must be a positive integer.")
        require(not dimensions or kind == "float[]", 400, "Property `num_dim` is only allowed on a float array field.")
        require(field.get("vec_dist", "cosine") in ("cosine", "ip"), 400, "Property `vec_dist` is invalid.")
        return {"facet": False, "optional": False, "index": True} | field

    def _check_sorting(self, name: str) -> None:
        if not name:
            return
        field = self.fields.get(name)
        if field is None:
            raise Refusal(400, f"Default sorting field is defined as `{name}` but is not found in the schema.")
        require(
            field["type"] in NUMBERS, 400, f"Default sorting field `{name}` must be a single valued numerical field."
        )
        require(not field["optional"], 400, f"Default sorting field `{name}` cannot be an optional field.")

    def told(self) -> Values:
        """As it is answered."""
        fields = list(self.fields.values())
        return self._schema | {
            "fields": fields,
            "num_documents": len(self.documents),
            "created_at": self._created_at,
        }

    def put(self, document: Values) -> None:
        """In place of the one with its id."""
        require(isinstance(document.get("id"), str), 400, "Document's `id` field should be a string.")
        sorting = self.sorting_field
        is_sorted = not sorting or sorting in document
        declared = f"Field `{sorting}` has been declared as a default sorting field, but is not found in the document."
        require(is_sorted, 400, declared)
        for field in self.fields.values():
            self._check_value(document, field)
        self.documents[document["id"]] = document

    def _check_value(self, document: Mapping[str, Any], field: Values) -> None:
        name, kind = field["name"], field["type"]
        if document.get(name) is None:
            is_fine = field["optional"] and name not in document
            missing = f"Field `{name}` has been declared in the schema, but is not found in the document."
            require(is_fine, 400, missing)
            return
        value = document[name]
        if kind.endswith("[]"):
            of = kind.removesuffix("[]")
            require(
                isinstance(value, list) and all(_is(item, of) for item in value),
                400,
                f"Field `{name}` must be an array of {of}.",
            )
        else:
            require(_is(value, kind), 400, f"Field `{name}` must be {NAMES.get(kind, 'an object')}.")
        dimensions = field.get("num_dim")
        if dimensions:
            require(len(value) == dimensions, 400, f"Field `{name}` must have {dimensions} dimensions.")


def _is(value: Any, kind: str) -> bool:
    if kind in NUMBERS:
        most = NUMBERS[kind]
        if most is None:
            return isinstance(value, int | float) and not isinstance(value, bool)
        return isinstance(value, int) and not isinstance(value, bool) and -most <= value < most
    return isinstance(value, {"string": str, "bool": bool, "object": dict}[kind])
