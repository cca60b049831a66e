"""What the HTTP API takes and gives of conversations and feedback."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from api.schemas import Text
from graphrag.conversation_models import Conversation, Feedback, Message, RatedAnswer

Rating = Annotated[Literal[-1, 1], Field(description="1: good, -1: not good")]


def _line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("one line of printable text")
    return text


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("the text holds control characters")
    return text


def _some(text: str) -> str:
    if not text:
        raise ValueError("the title is empty")
    return text


Title = Annotated[Text, StringConstraints(strip_whitespace=True, max_length=200), AfterValidator(_line)]


class ConversationIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: Title = Field(default="", description="Without one, it is made from the first question")
    collection: Annotated[Text, AfterValidator(_without_nul)] | None = Field(
        default=None, min_length=1, description="That is asked; without one, the default one"
    )


class TitleIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: Annotated[Title, AfterValidator(_some)]


class ConversationOut(BaseModel):
    id: UUID
    title: str
    collection: str | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, conversation: Conversation) -> "ConversationOut":
        return cls.model_validate(conversation, from_attributes=True)


class ConversationList(BaseModel):
    conversations: list[ConversationOut]


class FeedbackIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    rating: Rating
    comment: Annotated[Text, AfterValidator(_without_nul)] = Field(default="", max_length=4_000)


class FeedbackOut(BaseModel):
    message_id: UUID
    citation: int = Field(description="Of the answer's citations, from 1; 0: the answer itself")
    rating: Rating
    comment: str
    updated_at: datetime

    @classmethod
    def of(cls, feedback: Feedback) -> "FeedbackOut":
        return cls.model_validate(feedback, from_attributes=True)


class RatedAnswerOut(FeedbackOut):
    conversation_id: UUID
    question: str
    answer: str
    cited: dict[str, Any] | None = Field(description="The citation, where it is one that was rated")

    @classmethod
    def of_answer(cls, rated: RatedAnswer) -> "RatedAnswerOut":
        return cls(
            **FeedbackOut.of(rated.feedback).model_dump(),
            conversation_id=rated.conversation_id,
            question=rated.question,
            answer=rated.answer,
            cited=dict(rated.cited) if rated.cited else None,
        )


class FeedbackList(BaseModel):
    feedback: list[RatedAnswerOut]


class MessageOut(BaseModel):
    id: UUID
    parent_id: UUID | None
    role: Literal["user", "assistant"]
    content: str
    status: Literal["complete", "interrupted", "failed", "cancelled"]
    created_at: datetime
    details: dict[str, Any] = Field(
        description="Of an answer, what POST /chat gave besides the text: citations, sources, reliability, timings_ms …"
    )
    versions: list[UUID] = Field(
        description="All that were said in this place, the first one first; this is one of them"
    )
    feedback: list[FeedbackOut]

    @classmethod
    def of(cls, message: Message, versions: list[UUID], feedback: list[Feedback]) -> "MessageOut":
        return cls(
            id=message.id,
            parent_id=message.parent_id,
            role=message.role,
            content=message.content,
            status=message.status.value,
            created_at=message.created_at,
            details=dict(message.details),
            versions=versions,
            feedback=[FeedbackOut.of(one) for one in feedback],
        )


class ConversationWithMessages(ConversationOut):
    messages: list[MessageOut] = Field(description="Of one branch, oldest first")
