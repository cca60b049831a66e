"""The operations of the OpenAPI document, and requests to them made from its own examples."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx

from api.app import create_app
from graphrag.config.settings import Settings
from graphrag.services import open_services

OWN_ID = r"\b[0-9a-f]{32}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
OWN = re.compile(OWN_ID + r"|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)")
METHODS = ("get", "post", "put", "patch", "delete")
FILE = ("informe.txt", "El silo norte se vació el 3 de mayo.".encode(), "text/plain")


@cache
def document() -> dict[str, Any]:
    return create_app(open_services(Settings.from_environment())).openapi()


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    described: Mapping[str, Any] = field(repr=False, compare=False, hash=False)

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def scopes(self) -> list[str]:
        """Empty: open to everybody."""
        needed = self.described.get("security", ())
        return [scope for ways in needed for scopes in ways.values() for scope in scopes]

    @property
    def parameters(self) -> list[dict[str, Any]]:
        return [each for each in self.described.get("parameters", ()) if each["in"] in ("path", "query")]

    @property
    def is_harmful(self) -> bool:
        """What it is called for is gone afterwards."""
        replaces = self.method == "put" and self.path.endswith("{document_id}")
        return replaces or self.method == "delete" or any(word in self.path for word in ("delete", "cancel"))

    def request(self, given: Mapping[str, Any], *, key: str | None) -> dict[str, Any]:
        """For httpx. What is `given` stands wherever a value of that name is taken; the rest is the example."""
        path = self.path
        query: dict[str, Any] = {}
        for parameter in self.parameters:
            name = parameter["name"]
            if parameter["in"] == "path":
                path = path.replace(f"{{{name}}}", str(given[name]))
            elif name in given:
                query[name] = given[name]
        headers = {"Accept-Language": "en"} | ({"Authorization": f"Bearer {key}"} if key else {})
        return {"method": self.method, "url": path, "params": query, "headers": headers} | self._body(given)

    def _body(self, given: Mapping[str, Any]) -> dict[str, Any]:
        kind, schema = self._body_schema()
        if not kind:
            return {}
        named = {name: value for name, value in given.items() if name in schema["properties"]}
        if kind == "multipart/form-data":
            files = [name for name in schema["properties"] if name in ("file", "files")]
            return {"files": [(name, FILE) for name in files], "data": named}
        example = (schema.get("examples") or [None])[0]
        assert example is not None, f"{self}: the body has no example"
        return {"json": example | named}

    def _body_schema(self) -> tuple[str, dict[str, Any]]:
        content = self.described.get("requestBody", {}).get("content", {})
        for kind, described in content.items():
            schema = described["schema"]
            name = schema.get("$ref", "").rpartition("/")[2]
            return kind, document()["components"]["schemas"][name] if name else schema
        return "", {}


def operations() -> Iterator[Operation]:
    for path, item in document()["paths"].items():
        for method in METHODS:
            if method in item:
                yield Operation(method, path, item[method])


def answer(client: httpx.Client, request: Mapping[str, Any]) -> tuple[int, str]:
    """Status and body; of a stream, its beginning."""
    with client.stream(**request) as response:
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            return response.status_code, next(response.iter_text(), "")
        return response.status_code, response.read().decode(errors="replace")


def without(text: str, ids: Mapping[str, Any]) -> str:
    """As it would be at any time, whatever was asked for: without the given ids, ids of its own, and dates."""
    given = {str(one) for value in ids.values() for one in (value if isinstance(value, list) else [value])}
    for name in sorted(given, key=len, reverse=True):
        if len(name) > 8:
            text = text.replace(name, "…")
    return OWN.sub("…", text)
