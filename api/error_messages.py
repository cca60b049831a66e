"""The HTTP status of every error, and its wording for a person in Spanish, French and English."""

from importlib.resources import files

import yaml

STATUS = {
    "invalid_question": 400,
    "invalid_filter": 400,
    "invalid_request": 422,
    "not_found": 404,
    "collection_not_found": 404,
    "document_not_found": 404,
    "conversation_not_found": 404,
    "message_not_found": 404,
    "stream_not_found": 404,
    "model_not_found": 404,
    "unsupported_parameter": 400,
    "golden_case_not_found": 404,
    "evaluation_not_found": 404,
    "experiment_not_found": 404,
    "experiment_running": 409,
    "golden_version_not_found": 404,
    "golden_case_exists": 409,
    "no_golden_cases": 409,
    "evaluation_unfinished": 409,
    "collection_exists": 409,
    "invalid_golden_case": 400,
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
    "quota_exceeded": 409,
    "unreadable_document": 400,
    "invalid_settings": 400,
    "file_unavailable": 503,
    "embedding_model_unavailable": 503,
    "authentication_unavailable": 503,
    "database_unavailable": 503,
    "retrieval_unavailable": 503,
    "model_unavailable": 502,
    "model_interrupted": 502,
    "stream_interrupted": 502,
}
# Worded by code, or by `details["reason"]` where REASONED says so.
REASONED = {
    "invalid_question",
    "invalid_filter",
    "idempotency_conflict",
    "foreign_origin",
    "quota_exceeded",
    "invalid_embedding_model",
    "invalid_documents",
}

# By code or reason, then by language.
MESSAGES: dict[str, dict[str, str]] = yaml.safe_load(files("api").joinpath("error_messages.yml").read_text("utf-8"))
