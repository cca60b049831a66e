"""HTTP status and message of every error, in Spanish, French and English."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from api.middleware.observability import identity_headers
from graphrag.errors import CausewayError, FileUnavailable
from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.rules import read_texts
from graphrag.observability.request_context import note
from graphrag.observability.telemetry import log

UNSTATED_LANGUAGE = "en"  # of who sends no Accept-Language: programs do so
MOST_ERRORS, MOST_ERROR_CHARS = 20, 500  # of a request that are told: an answer is not longer than its question
STATUS = {
    "invalid_question": 400,
    "invalid_filter": 400,
    "invalid_request": 422,
    "not_found": 404,
    "method_not_allowed": 405,
    "collection_not_found": 404,
    "conflicting_collections": 400,
    "document_not_found": 404,
    "page_not_found": 404,
    "view_unavailable": 409,
    "table_unavailable": 409,
    "export_unavailable": 409,
    "conversation_not_found": 404,
    "message_not_found": 404,
    "share_not_found": 404,
    "stream_not_found": 404,
    "model_not_found": 404,
    "response_not_found": 404,
    "unsupported_parameter": 400,
    "invalid_schema": 400,
    "json_unavailable": 409,
    "json_answer_failed": 502,
    "golden_case_not_found": 404,
    "proposal_not_found": 404,
    "evaluation_not_found": 404,
    "golden_version_not_found": 404,
    "schedule_not_found": 404,
    "golden_case_exists": 409,
    "proposal_decided": 409,
    "no_golden_cases": 409,
    "evaluation_unfinished": 409,
    "judge_unavailable": 409,
    "collection_exists": 409,
    "invalid_golden_case": 400,
    "invalid_schedule": 400,
    "invalid_collection_name": 400,
    "invalid_embedding_model": 400,
    "embedding_model_fixed": 409,
    "collection_changed": 409,
    "invalid_documents": 400,
    "invalid_cursor": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "precondition_failed": 412,
    "request_too_large": 413,
    "request_timeout": 408,
    "foreign_origin": 403,
    "idempotency_conflict": 409,
    "rate_limited": 429,
    "too_many_streams": 429,
    "timeout": 504,
    "out_of_time": 504,
    "overloaded": 503,
    "quota_exceeded": 409,
    "unreadable_document": 400,
    "invalid_settings": 400,
    "file_unavailable": 503,
    "embedding_model_unavailable": 503,
    "authentication_unavailable": 503,
    "database_unavailable": 503,
    "indexing_unavailable": 503,
    "index_unavailable": 503,
    "database_full": 503,
    "retrieval_unavailable": 503,
    "model_address_refused": 400,
    "model_choice_forbidden": 403,
    "model_unavailable": 502,
    "model_trial_failed": 502,
    "model_interrupted": 502,
    "stream_interrupted": 502,
}
OF_STATUS = {404: "not_found", 405: "method_not_allowed"}  # codes of the framework's own refusals
# Codes whose message depends on `details["reason"]`.
BY_REASON = {
    "unauthorized",
    "collection_not_found",
    "invalid_question",
    "invalid_filter",
    "idempotency_conflict",
    "foreign_origin",
    "quota_exceeded",
    "invalid_schedule",
    "invalid_embedding_model",
    "invalid_documents",
    "unreadable_document",
    "file_unavailable",
    "table_unavailable",
    "model_trial_failed",
}

# Messages by code or reason, then by language.
MESSAGES: dict[str, dict[str, str]] = read_texts("api", "errors")

CHALLENGE = {"WWW-Authenticate": "Bearer"}


def request_language(request: Request) -> str:
    """Return the preferred supported language of Accept-Language; Spanish where none of it is supported."""
    header = request.headers.get("accept-language", UNSTATED_LANGUAGE)
    weighted = sorted((_quality(entry) for entry in header.split(",") if entry.strip()), key=lambda pair: -pair[0])
    preferred = [re.split("[-_]", tag)[0].lower() for quality, tag in weighted if quality > 0]
    return next((language for language in preferred if language in ANSWER_LANGUAGES), ANSWER_LANGUAGES[0])


def _quality(entry: str) -> tuple[float, str]:
    tag, _, parameter = entry.strip().partition(";")
    try:
        return float(parameter.strip().removeprefix("q=")) if parameter else 1.0, tag.strip()
    except ValueError:
        return 0.0, tag.strip()


def describe_error(exc: Exception, request: Request) -> tuple[int, dict[str, Any]]:
    """Return the HTTP status and body of an error. Details come from our own errors only: others may hold secrets."""
    if isinstance(exc, CausewayError) and exc.code in STATUS:
        return STATUS[exc.code], _body(exc.code, dict(exc.details), request)
    log.error("request failed", exc_info=exc)
    return 500, _body("internal_error", {}, request)


def error_response(exc: CausewayError, request: Request) -> JSONResponse:
    """Return the response for an error of a route or a middleware."""
    status, body = describe_error(exc, request)
    wait = exc.details.get("retry_after")
    headers = {"Retry-After": str(wait)} if wait else CHALLENGE if status == 401 else None
    return JSONResponse(body, status, headers=headers)


def localize(code: str, details: Mapping[str, Any], language: str, *, default: str | None = None) -> str:
    """Return the message of a code in a language; that of `default` for an unknown code, else raise KeyError."""
    key = details.get("reason", code) if code in BY_REASON else code
    texts = MESSAGES[key] if default is None else MESSAGES.get(key, MESSAGES[default])
    return texts[language].format(**details)


def _body(code: str, details: dict[str, Any], request: Request) -> dict[str, Any]:
    note(error=code)
    request_id = request.state.request_id
    message = localize(code, {**details, "request_id": request_id}, request_language(request))
    return {"error": {"code": code, "message": message, "details": details, "request_id": request_id}}


def invalid_fields(errors: Sequence[Mapping[str, Any]], *, skipped: int) -> tuple[str, list[dict[str, str]]]:
    """Return the first validation errors as one line, which tells how many there are more, and as a list by field.

    The first `skipped` parts of each location are omitted.
    """
    told = errors[:MOST_ERRORS]
    found = dict.fromkeys(_field_and_message(error, skipped) for error in told)  # each union member reports the same
    lines = [f"{field}: {message}".removeprefix(": ") for field, message in found]
    if more := len(errors) - len(told):
        lines.append(f"and {more:,} more")
    return "; ".join(lines), [{"field": field, "message": message} for field, message in found]


def _field_and_message(error: Mapping[str, Any], skipped: int) -> tuple[str, str]:
    path = () if error["type"] == "json_invalid" else error["loc"][skipped:]  # there it is an offset in the text
    named = [str(part) for part in path if "[" not in str(part)]  # pydantic's names of union members have brackets
    return _shortened(".".join(named)), _shortened(error["msg"])


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_ERROR_CHARS else f"{text[: MOST_ERROR_CHARS - 1]}…"


def install(app: FastAPI) -> None:
    @app.exception_handler(CausewayError)
    async def causeway_error(request: Request, exc: CausewayError) -> JSONResponse:
        return error_response(exc, request)

    @app.exception_handler(RequestValidationError)
    async def invalid_request(request: Request, exc: RequestValidationError) -> JSONResponse:
        reason, fields = invalid_fields(exc.errors(), skipped=1)
        details = {"reason": reason, "errors": fields}
        return JSONResponse(_body("invalid_request", details, request), 422)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, exc: HTTPException) -> JSONResponse:
        if isinstance(exc.__cause__, OSError):  # large uploads are spooled to a temporary file
            full = FileUnavailable("No disk space is left in the folder of temporary files.", reason="disk_full")
            return error_response(full, request)
        code = OF_STATUS.get(exc.status_code, "invalid_request")
        details = {"method": request.method} if code == "method_not_allowed" else {"reason": str(exc.detail)}
        return JSONResponse(_body(code, details, request), exc.status_code, headers=exc.headers)

    @app.exception_handler(ClientDisconnect)
    async def client_left(request: Request, exc: ClientDisconnect) -> Response:
        return Response(status_code=499)  # for the log only

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, exc: Exception) -> JSONResponse:
        status, body = describe_error(exc, request)
        # This handler runs outside of all middleware and the error is raised again, so the server closes the
        # connection: the header keeps clients from reusing it.
        headers = identity_headers(request.state.request_id) | {"Connection": "close"}
        return JSONResponse(body, status, headers=headers)
