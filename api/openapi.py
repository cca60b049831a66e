"""The OpenAPI document, and refusing query parameters that it does not have."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

# One event, as a reader of the stream sees it.
EVENT_STREAM: dict[str, Any] = {
    "text/event-stream": {
        "schema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "For Last-Event-ID"},
                "event": {"type": "string"},
                "data": {"type": "string", "contentMediaType": "application/json"},
                "retry": {"type": "integer", "description": "Milliseconds after which a client resumes"},
            },
        }
    }
}


def install(app: FastAPI) -> None:
    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = get_openapi(
                title=app.title, version=app.version, summary=app.summary, routes=app.routes
            )
            for schema in _written_as_text(app.openapi_schema):
                _drop_null(schema)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]  # FastAPI's own way to change it


def _written_as_text(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the schemas of parameters and forms, where an absent value is left out: none of them can hold a null."""
    for path in document["paths"].values():
        for operation in path.values():
            yield from (parameter["schema"] for parameter in operation.get("parameters", ()))
            for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
                if media_type != "application/json":
                    name = content["schema"].get("$ref", "").rpartition("/")[2]
                    yield from document["components"]["schemas"].get(name, {}).get("properties", {}).values()


def _drop_null(schema: dict[str, Any]) -> None:
    alternatives = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(alternatives) == 1:
        del schema["anyOf"]
        schema |= {**alternatives[0], **schema}
    elif alternatives:
        schema["anyOf"] = alternatives


async def refuse_unknown_parameters(request: Request) -> None:
    """Raises RequestValidationError, which names those that there are."""
    route: APIRoute = request.scope["route"]
    known = _names(route.dependant)
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        told = f"There is no such parameter. Known: {', '.join(sorted(known)) or 'none'}"
        raise RequestValidationError(
            [{"type": "extra_forbidden", "loc": ("query", name), "msg": told} for name in unknown]
        )


def _names(dependant: Dependant) -> set[str]:
    return {field.alias for field in dependant.query_params}.union(*map(_names, dependant.dependencies))
