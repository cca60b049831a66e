"""Request and response bodies of conversations and feedback."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator
from pydantic.json_schema import SkipJsonSchema

from api.schemas.fields import ANSWER_HTML, AskedCollections, Page, Storable, Text, check_number
from api.schemas.rendering import to_html
from graphrag.models.conversations import Conversation, Feedback, Message, RatedAnswer, SharedConversation

MOST_CHARS = 200  # of a name
Rating = Annotated[Literal[-1, 1], BeforeValidator(check_number), Field(description="1: good, -1: not good")]


def _line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("one line of printable text")
    return text


Title = Annotated[Text, StringConstraints(strip_whitespace=True, max_length=MOST_CHARS), AfterValidator(_line)]
CollectionName = Annotated[Storable, StringConstraints(min_length=1, max_length=MOST_CHARS)]


class ConversationIn(AskedCollections):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"title": "Retirada del lote A-2517", "collection": "demo"}]}
    )

    title: Title = Field(default="", description="Without one, it is made from the first question")
    collection: CollectionName | None = Field(default=None, description="That is asked; without one, the default one")


class ConversationChange(AskedCollections):
    """Changes of a conversation; an absent field stays as it is."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"title": "El lote A-2517"}]})

    title: Annotated[Title, StringConstraints(min_length=1)] | SkipJsonSchema[None] = Field(
        default=None, description="It stays, whatever is asked"
    )
    collection: CollectionName | None = Field(
        default=None, description="That is asked from now on; null: the default one"
    )

    @property
    def changes_collections(self) -> bool:
        return not self.model_fields_set.isdisjoint(AskedCollections.model_fields)

    @model_validator(mode="after")
    def _something(self) -> "ConversationChange":
        if not self.model_fields_set or (self.title is None and "title" in self.model_fields_set):
            raise ValueError("give a title, or a collection, or both")
        return self


class ConversationIds(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"ids": ["3f2b8c1e-9a77-4b53-8e0f-5a4f5a0c7d11"]}]}
    )

    ids: list[UUID] = Field(min_length=1, max_length=200)


class DeletedConversations(BaseModel):
    deleted: list[UUID]
    not_found: list[UUID]


class ConversationOut(BaseModel):
    id: UUID
    title: str
    collection: str | None = Field(description="The first of them; null: the default one")
    collections: list[str] = Field(description="Names of those that are asked; empty: the default one")
    created_at: datetime
    updated_at: datetime
    is_shared: bool = Field(description="By a link that holds")

    @classmethod
    def of(cls, conversation: Conversation) -> "ConversationOut":
        return cls.model_validate(conversation, from_attributes=True)


class ConversationList(Page):
    conversations: list[ConversationOut]


class FeedbackIn(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"rating": -1, "comment": "Falta la fecha."}]}
    )

    rating: Rating
    comment: Storable = Field(default="", max_length=4_000)


class FeedbackOut(BaseModel):
    message_id: UUID
    citation: int = Field(description="Number of the citation in the answer, from 1; 0: the answer itself")
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


class FeedbackList(Page):
    feedback: list[RatedAnswerOut]


class MessageOut(BaseModel):
    id: UUID
    parent_id: UUID | None
    role: Literal["user", "assistant"]
    content: str
    answer_html: str | None = Field(description=f"{ANSWER_HTML}; null of a question")
    status: Literal["complete", "interrupted", "failed", "cancelled"]
    created_at: datetime
    details: dict[str, Any] = Field(
        description="Of an answer, what POST /chat gave besides the text: citations, sources, reliability, "
        "timings_ms …; `erased`: true where documents that it was made from are gone, with all that it took from them"
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
            answer_html=to_html(message.content, message.details) if message.role == "assistant" else None,
            status=message.status.value,
            created_at=message.created_at,
            details=dict(message.details),
            versions=versions,
            feedback=[FeedbackOut.of(one) for one in feedback],
        )


class MessageList(Page):
    messages: list[MessageOut] = Field(description="Oldest first")


class ConversationWithMessages(ConversationOut):
    messages: list[MessageOut] = Field(description="Of one branch, oldest first")


class ShareOut(BaseModel):
    token: str = Field(description="Of the link; it can't be shown again")
    path: str = Field(description="Of the page, after the service's address")


Shape = Mapping[str, "Shape | None"]


def _shape(names: str, **parts: Shape) -> Shape:
    return {**dict.fromkeys(names.split()), **parts}


# What whoever has a link sees of an answer: what the answer shows, and nothing that leads to a document.
SHARED_DETAILS = _shape(
    "language outcome found warnings degraded_messages erased",
    statements=_shape("statement start end status score reasons", citations=_shape("number")),
    citations=_shape(
        "number filename title quote sentence statement start_char end_char status score reasons implied first_line "
        "last_line page sheet cell file recognized date trend"
    ),
    sources=_shape("number filename title language"),
    paths=_shape("entities", edges=_shape("source cause effect quote start_char end_char")),
    table=_shape("plan columns rows row_count group_count values is_series sources"),
)


class SharedMessageOut(BaseModel):
    role: Literal["user", "assistant"]
    content: str
    answer_html: str | None = Field(description=f"{ANSWER_HTML}; null of a question")
    status: Literal["complete", "interrupted", "failed", "cancelled"]
    created_at: datetime
    details: dict[str, Any] = Field(description="As of a message, but for what leads to documents")

    @classmethod
    def of(cls, message: Message) -> "SharedMessageOut":
        return cls(
            role=message.role,
            content=message.content,
            answer_html=to_html(message.content, message.details) if message.role == "assistant" else None,
            status=message.status.value,
            created_at=message.created_at,
            details=_only(SHARED_DETAILS, message.details),
        )


class SharedConversationOut(BaseModel):
    title: str
    messages: list[SharedMessageOut] = Field(description="Oldest first")

    @classmethod
    def of(cls, conversation: SharedConversation) -> "SharedConversationOut":
        return cls(title=conversation.title, messages=[*map(SharedMessageOut.of, conversation.messages)])


def _only(shape: Shape | None, value: Any) -> Any:
    """Return a value with those of its fields that the shape names."""
    if shape is None or value is None:
        return value
    if isinstance(value, list):
        return [_only(shape, each) for each in value]
    return {name: _only(part, value[name]) for name, part in shape.items() if name in value}
