"""Answers as OpenAI's Responses API has them: stored, continued by their ids, with citations as annotations."""

import re
import secrets
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID

from agent.conversation.service import BranchPoint
from agent.output.events import Event
from api.openai.answers import Done, OpenAIQuestion, UsageOf, describe_answered
from api.openai.schemas import (
    OutputMessage,
    OutputRefusal,
    OutputText,
    ResponseOut,
    ResponseRequest,
    ResponseUsage,
    UrlCitation,
)
from api.schemas.fields import CitationOut
from graphrag.errors import ResponseNotFound, UnsupportedParameter
from graphrag.models.conversations import Turn

AddressOf = Callable[[Done], str]  # of a citation
_STORED = re.compile(r"resp_([0-9a-f]{32})([0-9a-f]{32})")  # a conversation's id, and an answer's


def find_branch_point(body: ResponseRequest, asked: OpenAIQuestion) -> BranchPoint | None:
    """Return where in a stored conversation the question belongs; None: it is not stored.

    Raises ResponseNotFound, or UnsupportedParameter for earlier messages beside a stored response.
    """
    has_history = len(asked.messages) > 1
    if body.previous_response_id is None:
        return None if has_history or body.store is False else BranchPoint()
    if has_history or body.store is False:
        param = "input" if has_history else "store"
        raise UnsupportedParameter(f"A stored response goes on with one stored question: {param}.", param=param)
    ids = _STORED.fullmatch(body.previous_response_id)
    if ids is None:
        raise not_found(body.previous_response_id)
    conversation_id, answer_id = map(UUID, ids.groups())
    return BranchPoint(conversation_id, after=answer_id)


def not_found(response_id: str | None) -> ResponseNotFound:
    return ResponseNotFound(f"The response {response_id!r} is not stored.", response=response_id)


def begin_response(body: ResponseRequest, turn: Turn | None) -> ResponseOut:
    """Return the response before its answer; without a turn, it is not stored."""
    unique = f"{turn.conversation.id.hex}{turn.answer_id.hex}" if turn else secrets.token_urlsafe(16)
    return ResponseOut(
        id=f"resp_{unique}",
        created_at=int(time.time()),
        status="in_progress",
        model=body.model,
        output=[],
        instructions=body.instructions,
        previous_response_id=body.previous_response_id,
        store=turn is not None,
        metadata=body.metadata or {},
    )


def _message_id(response: ResponseOut) -> str:
    return response.id.replace("resp_", "msg_", 1)


@dataclass(frozen=True, slots=True)
class ResponseWriter:
    asked: OpenAIQuestion
    usage_of: UsageOf
    address_of: AddressOf

    async def write(self, begun: ResponseOut, done: Done) -> ResponseOut:
        is_refused = self.asked.answer_schema and not done.get("is_json")
        text = OutputText(text=done["answer"], annotations=self._annotate(done))
        part = OutputRefusal(refusal=done["answer"]) if is_refused else text
        return begun.model_copy(
            update={
                "status": "completed",
                "output": [OutputMessage(id=_message_id(begun), status="completed", content=[part])],
                "usage": ResponseUsage.of(await self.usage_of(done)),
                "store": begun.store and done["message_id"] is not None,
                "citations": [CitationOut.model_validate(citation) for citation in done["citations"]],
                "causeway": describe_answered(done, self.asked.warnings),
            }
        )

    def _annotate(self, done: Done) -> list[UrlCitation]:
        elsewhere = {source["document_id"] for source in done["sources"] if source["elsewhere"]}
        return [
            UrlCitation(
                start_index=statement["start"],
                end_index=statement["end"],
                title=citation["sentence"],
                url=self.address_of(citation),
            )
            for statement in done["statements"]
            for citation in statement["citations"]
            if citation["document_id"] not in elsewhere
        ]

    async def write_events(
        self, events: AsyncGenerator[Event, None], begun: ResponseOut
    ) -> AsyncGenerator[Event, None]:
        """Yield the tokens as they come, then the annotations, then the whole response; JSON comes whole."""
        numbers = count()

        def event(name: str, **data: Any) -> Event:
            name = f"response.{name}"
            return {"event": name, "data": {"type": name, "sequence_number": next(numbers), **data}}

        item: dict[str, Any] = {"output_index": 0}
        part: dict[str, Any] = {"item_id": _message_id(begun), "output_index": 0, "content_index": 0}
        message = OutputMessage(id=_message_id(begun), status="in_progress", content=[])
        yield event("created", response=begun.model_dump(mode="json"))
        yield event("in_progress", response=begun.model_dump(mode="json"))
        yield event("output_item.added", **item, item=message.model_dump())
        if not self.asked.answer_schema:
            yield event("content_part.added", **part, part=OutputText(text="", annotations=[]).model_dump())
        async with aclosing(events) as parts:
            async for each in parts:
                if each["event"] == "token" and not self.asked.answer_schema:
                    yield event("output_text.delta", **part, delta=each["data"]["text"], logprobs=[])
                elif each["event"] == "done":
                    whole = await self.write(begun, each["data"])
        (message,) = whole.output
        (content,) = message.content
        if isinstance(content, OutputRefusal):
            yield event("content_part.added", **part, part=OutputRefusal(refusal="").model_dump())
            yield event("refusal.delta", **part, delta=content.refusal)
            yield event("refusal.done", **part, refusal=content.refusal)
        else:
            if self.asked.answer_schema:
                yield event("content_part.added", **part, part=OutputText(text="", annotations=[]).model_dump())
                yield event("output_text.delta", **part, delta=content.text, logprobs=[])
            for index, annotation in enumerate(content.annotations):
                added = {"annotation_index": index, "annotation": annotation.model_dump()}
                yield event("output_text.annotation.added", **part, **added)
            yield event("output_text.done", **part, text=content.text, logprobs=[])
        yield event("content_part.done", **part, part=content.model_dump())
        yield event("output_item.done", **item, item=message.model_dump())
        yield event("completed", response=whole.model_dump(mode="json"))
        yield {"event": "done", "data": {}}
