"""Questions in stored conversations: the thread holds what was said before; the answer is kept, however it ends."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from agent.context import Context
from agent.conversation.threads import Thread, open_thread
from agent.conversation.titles import refine_title, title_of
from agent.graph import graph
from agent.messages import say
from agent.nodes import CITED
from agent.output.events import Event, stream_answer
from graphrag.errors import CausewayError, ConversationNotFound
from graphrag.models.conversations import Message, MessageStatus, Turn
from graphrag.observability.telemetry import count_degraded, log
from graphrag.resilience.cancellation import end
from graphrag.services import Services

T = TypeVar("T")
GRACE_SECONDS = 5  # at the end of the process, for answers that are being kept


@dataclass(frozen=True, slots=True)
class BranchPoint:
    """The point of a conversation where a question is asked; all None begins a new conversation."""

    conversation_id: UUID | None = None
    after: UUID | None = None  # an answer; None: the one that was shown last
    instead_of: UUID | None = None  # a question
    again: UUID | None = None  # the question, or an answer that it has


@dataclass(slots=True)
class _Draft:
    """State of an answer so far."""

    text: str = ""
    details: dict[str, Any] = field(default_factory=lambda: {"citations": []})

    def note(self, event: Event) -> None:
        match event["event"]:
            case "token":
                self.text += event["data"]["text"]
            case "citation":
                self.details["citations"].append(event["data"])
            case "sources":
                self.details |= event["data"]
            case "done":
                self.details = dict(event["data"])
                self.text = self.details.pop("answer")


@dataclass(slots=True)
class ConversationService:
    """One a process. `close` waits for what is still to be kept."""

    services: Services
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set, repr=False)

    async def begin(self, owner_id: str, question: str, place: BranchPoint, *, collections: Sequence[str] = ()) -> Turn:
        """The question is kept before it is answered. Raises ConversationNotFound or MessageNotFound."""
        store = self.services.conversations
        if place.conversation_id is None:
            turn = await store.begin(owner_id, question, title=title_of(question), collections=collections)
            self._in_background(self._plan_end(owner_id))
            return turn
        if place.again:
            return await store.ask_again(owner_id, place.conversation_id, place.again)
        return await store.ask(
            owner_id,
            place.conversation_id,
            question,
            title=title_of(question),
            after=place.after,
            instead_of=place.instead_of,
        )

    async def answer(self, turn: Turn, context: Context) -> AsyncGenerator[Event, None]:
        """Stream the answer as `stream_answer` does; `done` and errors also name the conversation and the message."""
        draft = _Draft()
        thread, messages = self._go_on(turn, context)
        try:
            async with aclosing(stream_answer(thread.graph, messages, context)) as events:
                async for event in events:
                    draft.note(event)
                    if event["event"] != "done":
                        yield event
        except Exception as exc:
            draft.details["error"] = exc.code if isinstance(exc, CausewayError) else CausewayError.code
            status = MessageStatus.INTERRUPTED if draft.text else MessageStatus.FAILED
            kept = await self._keep(turn, context, _message(turn, draft, status))
            if isinstance(exc, CausewayError):
                exc.details |= _identity(turn, turn.answer_id if kept else None)
            raise
        except BaseException:  # whoever asked has left
            await self._keep(turn, context, _message(turn, draft, MessageStatus.CANCELLED))
            raise
        whole = _message(turn, draft, MessageStatus.COMPLETE)
        kept = await self._keep(turn, context, whole, thread)
        whole, is_kept = kept or whole, kept is not None
        if is_kept and turn.conversation.leaf_id is None:
            self._in_background(self._entitle(turn, context, whole))
        yield {"event": "done", "data": _done(turn, whole, is_kept=is_kept)}

    async def close(self) -> None:
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=GRACE_SECONDS)
            await end(*late)

    def _go_on(self, turn: Turn, context: Context) -> tuple[Thread, list[AnyMessage]]:
        """Return the thread as it was before the question, and the messages that it lacks.

        These are the question and what was said since the thread's checkpoint: an interrupted answer has none.
        """
        earlier, checkpoint_id = turn.earlier, None
        if earlier and earlier[0].checkpoint_id:
            earlier, checkpoint_id = earlier[1:], earlier[0].checkpoint_id
        thread = open_thread(
            graph,
            database=self.services.database,
            owner_id=context.owner_id,
            thread_id=turn.conversation.id,
            checkpoint_id=checkpoint_id,
        )
        return thread, [_said(message) for message in (*earlier, turn.question) if message.content]

    async def _keep(
        self, turn: Turn, context: Context, answer: Message, thread: Thread | None = None
    ) -> Message | None:
        """Store the answer even if the client disconnects; return it as stored, None if that failed."""
        return await asyncio.shield(self._in_background(self._write(turn, context, answer, thread)))

    async def _write(self, turn: Turn, context: Context, answer: Message, thread: Thread | None) -> Message | None:
        try:
            keep = thread.saver.keep if thread else None
            return await self.services.conversations.answer(context.owner_id, turn, answer, keep=keep)
        except ConversationNotFound:
            log.info("conversation deleted before its answer came")
        except Exception as exc:
            log.warning("answer not saved", error=exc)
        return None

    async def _plan_end(self, owner_id: str) -> None:
        try:
            await self.services.jobs.retention.forget(owner_id)
        except Exception as exc:
            log.warning("retention not planned", error=exc)

    async def _entitle(self, turn: Turn, context: Context, answer: Message) -> None:
        settings = self.services.settings
        is_on = (
            settings.search.query_refinement
            if settings.chat.title_refinement is None
            else settings.chat.title_refinement
        )
        is_by_rules = turn.conversation.title in ("", title_of(turn.question.content))
        is_its_own = not self.services.collections.may_read(*context.opened)
        if not (settings.generation.chat_model and is_on and is_by_rules) or is_its_own:
            return
        try:
            title = await refine_title(
                self.services.chat_models[0].model,
                turn.question.content,
                answer.content,
                timeout_seconds=settings.chat.chat_timeout_seconds,
            )
            await self.services.conversations.rename(context.owner_id, turn.conversation.id, title, titled_by="model")
        except Exception as exc:
            log.warning("stage failed, answer degraded", stage="title", error=exc)

    def _in_background(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _said(message: Message) -> AnyMessage:
    if message.role == "user":
        return HumanMessage(message.content, id=str(message.id))
    titles = dict.fromkeys(citation.get("title") for citation in message.details.get("citations", []))
    return AIMessage(message.content, id=str(message.id), additional_kwargs={CITED: list(filter(None, titles))})


def _message(turn: Turn, draft: _Draft, status: MessageStatus) -> Message:
    return Message(
        turn.answer_id,
        turn.conversation.id,
        turn.question.id,
        "assistant",
        draft.text,
        status,
        datetime.now(UTC),
        draft.details,
    )


def _identity(turn: Turn, message_id: UUID | None) -> dict[str, str | None]:
    return {
        "conversation_id": str(turn.conversation.id),
        "parent_id": str(turn.question.id),
        "message_id": str(message_id) if message_id else None,
    }


def _done(turn: Turn, answer: Message, *, is_kept: bool) -> dict[str, Any]:
    data = {"answer": answer.content, **answer.details, **_identity(turn, answer.id if is_kept else None)}
    if not is_kept:
        count_degraded(["save"])
        data["degraded"] = [*data["degraded"], "save"]
        data["degraded_messages"] = [*data["degraded_messages"], say("degraded_save", data["language"])]
    return data
