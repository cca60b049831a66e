"""Every error leaves in one format, worded for a person in Spanish, French or English."""

from typing import Any

from babel import Locale, negotiate_locale
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from api.error_messages import MESSAGES, REASONED, STATUS
from api.observability import identity_headers
from graphrag.errors import CausewayError
from graphrag.language import ANSWER_LANGUAGES
from graphrag.telemetry import log

WHAT_TO_SHOW = {"WWW-Authenticate": "Bearer"}


def request_language(request: Request) -> str:
    """The first of Accept-Language that we speak; es by default."""
    header = request.headers.get("accept-language", "")
    weighted = sorted((_quality(entry) for entry in header.split(",") if entry.strip()), key=lambda pair: -pair[0])
    preferred = [tag.split("-")[0].lower() for quality, tag in weighted if quality > 0]
    chosen = negotiate_locale(preferred, list(ANSWER_LANGUAGES))
    return Locale.parse(chosen).language if chosen else ANSWER_LANGUAGES[0]


def _quality(entry: str) -> tuple[float, str]:
    tag, _, parameter = entry.strip().partition(";")
    try:
        return float(parameter.strip().removeprefix("q=")) if parameter else 1.0, tag.strip()
    except ValueError:
        return 0.0, tag.strip()


def describe_error(exc: Exception, request: Request) -> tuple[int, dict[str, Any]]:
    """HTTP status and body. Details are those of our own errors: a stranger's error may hold anything."""
    request_id = request.state.request_id
    if isinstance(exc, CausewayError):
        code, details = exc.code, dict(exc.details)
        if code not in STATUS:
            code, details = "internal_error", {}
    else:
        code, details = "internal_error", {}
    if code == "internal_error":
        log.error("request failed", error=repr(exc), exc_info=exc)
    return STATUS.get(code, 500), _body(code, details, request, request_id)


def _body(code: str, details: dict[str, Any], request: Request, request_id: str) -> dict[str, Any]:
    key = details.get("reason", code) if code in REASONED else code
    message = MESSAGES[key][request_language(request)].format(**{**details, "request_id": request_id})
    return {"error": {"code": code, "message": message, "details": details, "request_id": request_id}}


def _field_and_message(error: dict[str, Any]) -> tuple[str, str]:
    path = () if error["type"] == "json_invalid" else error["loc"][1:]  # there it is a position in the text
    return ".".join(str(part) for part in path), error["msg"]


def respond(exc: CausewayError, request: Request) -> JSONResponse:
    status, body = describe_error(exc, request)
    return JSONResponse(body, status, headers=WHAT_TO_SHOW if status == 401 else None)


def install(app: FastAPI) -> None:
    @app.exception_handler(CausewayError)
    async def causeway_error(request: Request, exc: CausewayError) -> JSONResponse:
        return respond(exc, request)

    @app.exception_handler(RequestValidationError)
    async def invalid_request(request: Request, exc: RequestValidationError) -> JSONResponse:
        found = dict.fromkeys(
            _field_and_message(error) for error in exc.errors()
        )  # every reader of the body reports it
        reason = "; ".join(f"{field}: {message}".removeprefix(": ") for field, message in found)
        details = {"reason": reason, "errors": [{"field": field, "message": message} for field, message in found]}
        return JSONResponse(_body("invalid_request", details, request, request.state.request_id), 422)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, exc: HTTPException) -> JSONResponse:
        code = "not_found" if exc.status_code == 404 else "invalid_request"
        body = _body(code, {"reason": str(exc.detail)}, request, request.state.request_id)
        return JSONResponse(body, exc.status_code, headers=exc.headers)

    @app.exception_handler(ClientDisconnect)
    async def client_left(request: Request, exc: ClientDisconnect) -> Response:
        return Response(status_code=499)  # for the log only: nobody reads it

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, exc: Exception) -> JSONResponse:
        status, body = describe_error(exc, request)
        # Answered outside of all middleware, and raised again: the server then cuts the connection, and a client
        # that was not told would send its next question into it.
        headers = identity_headers(request.state.request_id) | {"Connection": "close"}
        return JSONResponse(body, status, headers=headers)
