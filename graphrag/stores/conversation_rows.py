"""Rows of conversations and messages, as they are read and written."""

from collections.abc import Mapping
from typing import Any

from graphrag.conversation_models import Conversation, Message, MessageStatus


def read_conversation(row: Mapping[str, Any]) -> Conversation:
    return Conversation(
        row["conversation_id"],
        row["title"],
        row["collection"],
        row["leaf_id"],
        row["created_at"],
        row["updated_at"],
        row["erasures"],
    )


def read_message(row: Mapping[str, Any]) -> Message:
    return Message(
        row["message_id"],
        row["conversation_id"],
        row["parent_id"],
        row["role"],
        row["content"],
        MessageStatus(row["status"]),
        row["created_at"],
        row["details"],
        row["checkpoint_id"],
    )


def without_nul(value: Any) -> Any:
    """PostgreSQL holds none, neither in text nor in JSON."""
    match value:
        case str():
            return value.replace("\0", "")
        case list():
            return [without_nul(part) for part in value]
        case dict():
            return {key: without_nul(part) for key, part in value.items()}
    return value
