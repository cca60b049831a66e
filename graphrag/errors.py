"""One error tree. Each error says what went wrong and names the way out; the doors word `code` and `details`."""

from typing import Any, ClassVar


class CausewayError(Exception):
    """`str(error)` is one English sentence for a log or a terminal; `details` fills the doors' translated messages."""

    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details


class InvalidSettings(CausewayError):
    code = "invalid_settings"


class MissingExtra(CausewayError):
    code = "missing_extra"


class InvalidQuestion(CausewayError):
    """`details["reason"]`: empty, too_long or control_characters."""

    code = "invalid_question"


class InvalidFilter(CausewayError):
    """`details["reason"]`: unknown_filter, filter_value or filter_date; `details["known"]`: the keys that there are."""

    code = "invalid_filter"


class CollectionNotFound(CausewayError):
    code = "collection_not_found"


class CollectionChanged(CausewayError):
    """The collection has moved to another embedding model since it was read: read it again, and begin anew."""

    code = "collection_changed"


class EmbeddingModelUnavailable(CausewayError):
    """The collection names a model that is not loaded here."""

    code = "embedding_model_unavailable"


class DatabaseUnavailable(CausewayError):
    code = "database_unavailable"


class RetrievalUnavailable(CausewayError):
    """Full text and vectors both failed."""

    code = "retrieval_unavailable"


class ProviderError(CausewayError):
    """A model provider failed or answered garbage; the vendor's error is the cause."""

    code = "model_unavailable"


class AnswerInterrupted(ProviderError):
    """The model failed after its first token; `details["partial_answer"]` holds what came."""

    code = "model_interrupted"


class DocumentNotFound(CausewayError):
    code = "document_not_found"


class ConversationNotFound(CausewayError):
    code = "conversation_not_found"


class MessageNotFound(CausewayError):
    """Of a conversation; or it is not of the kind that is asked for."""

    code = "message_not_found"


class StreamNotFound(CausewayError):
    """Unknown, somebody else's, or gone."""

    code = "stream_not_found"


class TooManyStreams(CausewayError):
    """`details`: limit."""

    code = "too_many_streams"


class QuotaExceeded(CausewayError):
    """`details`: collection, limit."""

    code = "quota_exceeded"


class UnreadableDocument(CausewayError):
    """`details["reason"]`: unsupported, encoding, empty, too_large, encrypted, scanned, damaged, timeout or
    unreadable."""

    code = "unreadable_document"


class FileUnavailable(CausewayError):
    """Of the original file; `details["reason"]`: missing or unreachable."""

    code = "file_unavailable"
