"""The tree of errors. Every error has a code, and details for its message in the user's language."""

from pathlib import Path
from typing import Any, ClassVar, Self


class CausewayError(RuntimeError):
    """`str(error)` is one English sentence for a log or a terminal; `details` fills the doors' translated messages.

    A RuntimeError, since LangGraph's server repeats the messages of Python's own kinds of errors alone: any other is
    "An internal error occurred" to its clients.
    """

    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details


class InvalidSettings(CausewayError):
    code = "invalid_settings"

    @classmethod
    def of_port(cls, host: str, port: int, cause: OSError, other: str) -> Self:
        """Return the error of a port that can't be used; `other`: what chooses another."""
        told = f"Port {port} on {host} can't be used ({cause.strerror}). Choose another: {other}"
        return cls(told, reason="port_unavailable", host=host, port=port, cause=cause.strerror, other=other)


class MissingExtra(CausewayError):
    """`details`: what needs it; command, that installs it."""

    code = "missing_extra"

    @classmethod
    def of(cls, what: str, command: str) -> Self:
        return cls(f"{what} needs: {command}", what=what, command=command)


class ExportUnavailable(MissingExtra):
    """`details`: command, that installs what a format needs."""

    code = "export_unavailable"


def install_command(extra: str) -> str:
    """Return the command that installs an optional part: by make in a checkout, by pip elsewhere."""
    is_checkout = Path(__file__).parents[1].joinpath("Makefile").is_file()
    return f"make install WITH={extra}" if is_checkout else f"pip install 'causeway-rag[{extra}]'"


class InvalidQuestion(CausewayError):
    """`details["reason"]`: empty, too_long or control_characters."""

    code = "invalid_question"


class InvalidFilter(CausewayError):
    """`details["reason"]`: unknown_filter, filter_value or filter_date; `details["known"]`: the keys that there are."""

    code = "invalid_filter"


class Unauthorized(CausewayError):
    """The request has no credential, or one that is invalid, expired or revoked.

    `details["reason"]`: session_ended, where it is a session that has expired.
    """

    code = "unauthorized"


class AuthenticationUnavailable(CausewayError):
    """The caller can't be identified now: the keys of the tokens' issuer can't be read."""

    code = "authentication_unavailable"


class ApiKeyNotFound(CausewayError):
    """`details`: key."""

    code = "api_key_not_found"


class Forbidden(CausewayError):
    """`details`: scope, that is lacking."""

    code = "forbidden"


class RateLimited(CausewayError):
    """`details`: retry_after, in seconds."""

    code = "rate_limited"


class RequestTooLarge(CausewayError):
    """`details`: limit, in bytes."""

    code = "request_too_large"


class RequestTimeout(CausewayError):
    """The client sends its request too slowly. `details`: seconds."""

    code = "request_timeout"


class ForeignOrigin(CausewayError):
    """The request is for another host, or a page of another site made it. `details`: reason, host or origin; given."""

    code = "foreign_origin"


class UnsupportedParameter(CausewayError):
    """A parameter that other servers of the same API may support isn't supported here. `details`: param."""

    code = "unsupported_parameter"


class ResponseNotFound(CausewayError):
    """No stored response has this id, as clients of OpenAI name answers. `details`: response."""

    code = "response_not_found"


class ModelNotFound(CausewayError):
    """No collection and no embedding model, as clients of OpenAI name them. `details`: model, known."""

    code = "model_not_found"


class Overloaded(CausewayError):
    """Too many requests arrive at the same time. `details`: retry_after, in seconds."""

    code = "overloaded"


class OutOfTime(CausewayError):
    """The request's deadline has passed, or would pass during this stage. `details`: stage."""

    code = "out_of_time"


class SearchTimeout(CausewayError):
    """`details`: limit_ms, and what was found so far."""

    code = "timeout"


class InvalidCursor(CausewayError):
    """The cursor is not one of this list."""

    code = "invalid_cursor"


class PreconditionFailed(CausewayError):
    """The resource has changed since the version that the request names. `details`: etag."""

    code = "precondition_failed"


class IdempotencyConflict(CausewayError):
    """`details["reason"]`: reused, with another request; running, still."""

    code = "idempotency_conflict"


class CollectionNotFound(CausewayError):
    code = "collection_not_found"


class ConflictingCollections(CausewayError):
    code = "conflicting_collections"


class InvalidCollectionName(CausewayError):
    """`details`: name, limit."""

    code = "invalid_collection_name"


class CollectionExists(CausewayError):
    """`details`: name."""

    code = "collection_exists"


class CollectionChanged(CausewayError):
    """The collection's embedding model or answer settings changed during the request: send it again."""

    code = "collection_changed"


class EmbeddingModelUnavailable(CausewayError):
    """The collection names a model that is not loaded here."""

    code = "embedding_model_unavailable"


class InvalidEmbeddingModel(CausewayError):
    """A new collection's; `details["reason"]`: embedding_model_missing or embedding_model_unknown; known, available."""

    code = "invalid_embedding_model"


class EmbeddingModelFixed(CausewayError):
    """A collection that has chunks moves by `causeway reembed`. `details`: collection, model."""

    code = "embedding_model_fixed"


class DatabaseUnavailable(CausewayError):
    """`details`: retry_after, in seconds, where it is known to be away."""

    code = "database_unavailable"


class IndexingUnavailable(DatabaseUnavailable):
    """Documents can't be taken: what was sent is not kept."""

    code = "indexing_unavailable"


class DatabaseUnprepared(DatabaseUnavailable):
    """The database answers but lacks what is needed; waiting doesn't help."""


class DatabaseFull(DatabaseUnavailable):
    """The database has no space left; reading still works."""

    code = "database_full"


class RetrievalUnavailable(CausewayError):
    """Full text and vectors both failed."""

    code = "retrieval_unavailable"


class IndexUnavailable(CausewayError):
    """The search index beside the database (RAG_INDEX) can't be reached, or refuses what it is sent.

    `details`: index; chunks, the ids of those refused.
    """

    code = "index_unavailable"


class ProviderError(CausewayError):
    """A model provider failed or answered garbage; the vendor's error is the cause."""

    code = "model_unavailable"


class ModelTrialFailed(ProviderError):
    """A model that was tried isn't fit to answer.

    `details`: model, address, seconds; `reason`: model_unreachable, model_key_refused, model_unknown, model_slow,
    model_garbled or model_failing.
    """

    code = "model_trial_failed"


class ModelAddressRefused(CausewayError):
    """The service sends nothing to this address. `details`: address."""

    code = "model_address_refused"


class ModelChoiceForbidden(CausewayError):
    """Only who runs the service chooses its model: it has several owners."""

    code = "model_choice_forbidden"


class JsonAnswerFailed(ProviderError):
    """The model gives no JSON of the schema that was asked for."""

    code = "json_answer_failed"


class JsonUnavailable(CausewayError):
    """No language model is configured that could write JSON."""

    code = "json_unavailable"


class InvalidSchema(CausewayError):
    """A caller's JSON schema. `details`: reason, in words of ours."""

    code = "invalid_schema"


class AnswerInterrupted(ProviderError):
    """The model failed after its first token; `details["partial_answer"]` holds what came."""

    code = "model_interrupted"


class DocumentNotFound(CausewayError):
    code = "document_not_found"


class PageNotFound(CausewayError):
    """`details`: page; page_count of the file."""

    code = "page_not_found"


class ViewUnavailable(CausewayError):
    """The document has no pages or cells, or its file can't be drawn; its text is available. `details`: document."""

    code = "view_unavailable"


class TableUnavailable(CausewayError):
    """An answer has no table to be downloaded.

    `details["reason"]`: not_computed, from a table; table_changed, or deleted, since.
    """

    code = "table_unavailable"


class InvalidDocuments(CausewayError):
    """Texts were sent together, and none was accepted.

    `details["reason"]`: documents_required, too_many_documents or invalid_document, with its index and the error.
    """

    code = "invalid_documents"


class ConversationNotFound(CausewayError):
    code = "conversation_not_found"


class MessageNotFound(CausewayError):
    """The conversation has no such message, or it is of another kind than requested."""

    code = "message_not_found"


class ShareNotFound(CausewayError):
    """The link was taken back, its conversation is gone, or it never was one."""

    code = "share_not_found"


class StreamNotFound(CausewayError):
    """Unknown, somebody else's, or gone."""

    code = "stream_not_found"


class StreamInterrupted(CausewayError):
    """The process that made the answer is gone."""

    code = "stream_interrupted"


class TooManyStreams(CausewayError):
    """`details`: limit."""

    code = "too_many_streams"


class QuotaExceeded(CausewayError):
    """`details`: limit; collection, or `reason`: bytes, collections or schedules, where it is the owner's."""

    code = "quota_exceeded"


class UnreadableDocument(CausewayError):
    """A file can't be read.

    `details["reason"]`: unsupported, encoding, empty, too_large, too_many_chunks, nested, encrypted, scanned,
    unrecognized, damaged, timeout or unreadable; of an upload, unnamed or name_too_long, with `limit` in bytes.
    """

    code = "unreadable_document"


class FileUnavailable(CausewayError):
    """`details["reason"]`: missing, file_damaged, unreachable, disk_full, or one of `file_storage.s3`."""

    code = "file_unavailable"


class BackupFailed(CausewayError):
    """A backup could not be written or restored; nothing half done is left.

    `details["reason"]`, where it isn't PostgreSQL's refusal: file_exists, file_unwritable, file_unreadable,
    not_a_backup, nothing_stored, files_present, documents_present or server_address_missing.
    """

    code = "backup_failed"


class GoldenCaseNotFound(CausewayError):
    """`details`: case."""

    code = "golden_case_not_found"


class InvalidGoldenCase(CausewayError):
    """`details`: reason, in words of ours; index, of the first bad one of several."""

    code = "invalid_golden_case"


class GoldenCaseExists(CausewayError):
    """Another one asks the same. `details`: case."""

    code = "golden_case_exists"


class GoldenVersionNotFound(CausewayError):
    """`details`: version."""

    code = "golden_version_not_found"


class NoGoldenCases(CausewayError):
    """There is nothing to measure with. `details`: collection."""

    code = "no_golden_cases"


class JudgeUnavailable(CausewayError):
    """No chat model may judge the collection's answers. `details`: collection."""

    code = "judge_unavailable"


class EvaluationNotFound(CausewayError):
    """`details`: run."""

    code = "evaluation_not_found"


class EvaluationUnfinished(CausewayError):
    """The evaluation has no figures yet, or none at all. `details`: run, status."""

    code = "evaluation_unfinished"


class ScheduleNotFound(CausewayError):
    """`details`: schedule."""

    code = "schedule_not_found"


class InvalidSchedule(CausewayError):
    """`details["reason"]`: cron_expression or timezone; cron, timezone."""

    code = "invalid_schedule"
