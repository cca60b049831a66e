"""The nouns of conversations, and the branch of messages that is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID, uuid4

Role = Literal["user", "assistant"]
TitledBy = Literal["rules", "model", "person"]


class MessageStatus(StrEnum):
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"  # the model failed after its first words, which are kept
    FAILED = "failed"  # no word came
    CANCELLED = "cancelled"  # whoever asked has left; the words so far are kept


@dataclass(frozen=True, slots=True)
class Conversation:
    id: UUID
    title: str
    collections: tuple[str, ...]  # that are asked; none: the default one
    leaf_id: UUID | None  # the last message of the branch that is shown
    created_at: datetime
    updated_at: datetime
    erasures: int = 0  # how often words in it were taken back
    is_shared: bool = False  # by a link that holds

    @property
    def collection(self) -> str | None:
        return next(iter(self.collections), None)


@dataclass(frozen=True, slots=True)
class Message:
    id: UUID
    conversation_id: UUID
    parent_id: UUID | None  # what it follows
    role: Role
    content: str
    status: MessageStatus
    created_at: datetime
    details: Mapping[str, Any] = field(default_factory=dict)  # of an answer: citations, sources, timings_ms …
    checkpoint_id: str | None = None  # of the thread after this answer


@dataclass(frozen=True, slots=True)
class SharedConversation:
    """A conversation up to a message, as somebody sees it who has a link to it."""

    title: str
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class Turn:
    """A question that waits for its answer."""

    conversation: Conversation
    question: Message
    earlier: tuple[Message, ...] = ()  # the branch before the question, oldest first
    answer_id: UUID = field(default_factory=uuid4)

    @property
    def is_first(self) -> bool:
        return self.question.parent_id is None


@dataclass(frozen=True, slots=True)
class Feedback:
    message_id: UUID
    citation: int  # of the answer's citations, from 1; 0: the answer itself
    rating: Literal[-1, 1]
    comment: str
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    feedback: Feedback
    conversation_id: UUID
    question: str
    answer: str
    cited: Mapping[str, Any] | None  # the citation, where it is one that was rated


Outline = Mapping[UUID, UUID | None]  # message → what it follows, in the order in which they were said


def branch(outline: Outline, through: UUID | None) -> list[UUID]:
    """Return the branch through a message: from the conversation's beginning, and on with the latest that follow."""
    latest = {parent: message for message, parent in outline.items()}
    before: list[UUID] = []
    message = through
    while message is not None:
        before.append(message)
        message = outline[message]
    after: list[UUID] = []
    message = latest.get(through)
    while message is not None:
        after.append(message)
        message = latest.get(message)
    return [*reversed(before), *after]


def last_answer(shown: Sequence[UUID]) -> UUID | None:
    """Return the last answer of a branch, in which questions and answers alternate."""
    return shown[len(shown) // 2 * 2 - 1] if len(shown) > 1 else None


def without(outline: Outline, message: UUID) -> dict[UUID, UUID | None]:
    """The outline when a message is gone, with all that follows it."""
    gone = {message}
    left: dict[UUID, UUID | None] = {}
    for known, parent in outline.items():
        if known in gone or parent in gone:
            gone.add(known)
        else:
            left[known] = parent
    return left


def versions(outline: Outline) -> dict[UUID, list[UUID]]:
    """Return each message's versions: all messages with the same parent, itself included."""
    followers: dict[UUID | None, list[UUID]] = {}
    for message, parent in outline.items():
        followers.setdefault(parent, []).append(message)
    return {message: followers[parent] for message, parent in outline.items()}
