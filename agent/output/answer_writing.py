"""Write an answer with the first model that answers."""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from datetime import date
from typing import cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, AnyMessage
from langgraph.config import get_stream_writer

from agent.output.backpressure import Backpressure
from agent.output.events import Event, announce_when_slow, citation_event, flag_event, token_event
from agent.output.sanitizing import AnswerFilter
from agent.prompts import SECRET
from agent.verification.checking import check_statement, cite
from agent.verification.statements import Statement, StatementStream
from graphrag.errors import AnswerInterrupted, ProviderError
from graphrag.llm.chat_models import EXTRACTIVE, NamedModel
from graphrag.models import Passage
from graphrag.observability.telemetry import count_citations, count_fallback, log


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    text: str
    chat_model: str  # by name
    failures: tuple[Exception, ...] = ()  # of those that were asked before it


async def first_answer(
    models: Sequence[NamedModel], write: Callable[[BaseChatModel], Awaitable[str]], *, can_quote: bool
) -> WrittenAnswer:
    """Return the answer of the first model that gives one; the extractive one is asked last, if it `can_quote`.

    Raises AnswerInterrupted where a model fails after its first word, ProviderError where none is left to ask.
    """
    failures: list[Exception] = []
    for named in models:
        if failures and named.name == EXTRACTIVE and not can_quote:
            break
        try:
            written = WrittenAnswer(await write(named.model), named.name, tuple(failures))
        except AnswerInterrupted:
            raise
        except Exception as exc:
            log.warning("model does not answer", model=named.name, error=exc)
            failures.append(exc)
        else:
            if failures:
                count_fallback("chat_model")
            return written
    raise ProviderError(f"The model does not answer: {failures[-1]!r}") from failures[-1]


_JUST_CITED = re.compile(r"\]\W*$")  # what goes on after a mark is waited for
_MAY_END = re.compile(r"[\].!?…\n]")  # a mark, or a statement


class AnswerWriter:
    """Takes a model's text in pieces and tells `write` what a client may see of it."""

    def __init__(
        self, passages: Sequence[Passage], *, language: str, write: Callable[[Event], None], secret: str = ""
    ) -> None:
        self._passages = passages
        self._language = language
        self._write = write
        self._shown = AnswerFilter(passages, secret=secret)
        self._statements = StatementStream()
        self._announced = 0  # citations
        self._flagged = 0  # finished statements that were looked at
        self._today = date.today()

    @property
    def text(self) -> str:
        return self._shown.text.strip()

    def feed(self, piece: str) -> str:
        """Return the part of the piece, and of the buffered text, that may be streamed."""
        text = self._shown.feed(piece)
        self._pass_on(text)
        return text

    def finish(self) -> None:
        self._pass_on(self._shown.flush())
        if self._shown.leaks:
            log.warning("system prompt cut from an answer", count=self._shown.leaks)
        if self._shown.removed_marks:
            log.warning("unknown citations removed", count=self._shown.removed_marks)
            count_citations({"unknown": self._shown.removed_marks})

    async def announce(self, *, is_over: bool = False) -> None:
        """Emit the citations of new marks, and the finished statements that no passage supports.

        A failure doesn't end the answer: it is checked as a whole when it is complete.
        """
        if not self._passages:
            return
        try:
            await self._announce(is_over=is_over)
        except Exception as exc:
            log.warning("statements not checked while they stream", error=exc)

    async def _announce(self, *, is_over: bool) -> None:
        self._statements.read(self._shown.text)
        if is_over:
            self._statements.close()
        told = self._statements.open if _JUST_CITED.search(self._shown.text) else None
        known = [*self._statements.finished, *([told] if told else [])]
        marks = [(statement, number) for statement in known for number in statement.numbers][self._announced :]
        unmarked = [each for each in self._statements.finished[self._flagged :] if each.states and not each.numbers]
        self._announced += len(marks)
        self._flagged = len(self._statements.finished)
        if marks or unmarked:
            for event in await asyncio.to_thread(self._check, marks, unmarked):
                self._write(event)

    def _check(self, marks: Sequence[tuple[Statement, int]], unmarked: Sequence[Statement]) -> list[Event]:
        cited = [
            citation_event(
                cite(statement.text, number, self._passages[number - 1], today=self._today), language=self._language
            )
            for statement, number in marks
        ]
        checked = (check_statement(statement, self._passages, today=self._today) for statement in unmarked)
        return cited + [flag_event(statement) for statement in checked if not statement.citations]

    def _pass_on(self, text: str) -> None:
        if text:
            self._write(token_event(text))


async def write_answer(
    model: BaseChatModel,
    prompt: Sequence[AnyMessage],
    passages: Sequence[Passage],
    *,
    language: str,
    backpressure: Backpressure,
    begun: Callable[[], None] = lambda: None,
) -> str:
    """Stream an answer and return it without repetitions of our rules in the system message.

    `begun` is called at the model's first token: later delays are the model's pace, or the reader's.

    Raises AnswerInterrupted if the model fails after the first token.
    """
    system = [message for message in prompt if message.type == "system"]
    secret = "\n".join(message.additional_kwargs.get(SECRET, message.text) for message in system)
    write = backpressure.counted(get_stream_writer())
    writer = AnswerWriter(passages, language=language, write=write, secret=secret)
    try:
        async with AsyncExitStack() as stack:
            waiting = stack.enter_context(announce_when_slow(model, write, language=language))
            spoken = cast(AsyncGenerator[AIMessageChunk, None], model.astream(list(prompt)))
            async for chunk in await stack.enter_async_context(aclosing(spoken)):
                waiting.cancel()
                begun()
                if _MAY_END.search(writer.feed(chunk.text)):
                    await writer.announce()
                await backpressure.room()
    except Exception as exc:
        if writer.text:
            writer.finish()  # what waited for more
            raise AnswerInterrupted(f"The model failed in mid-answer: {exc!r}", partial_answer=writer.text) from exc
        raise
    writer.finish()
    if not writer.text:
        raise ValueError("the model answered nothing")
    await writer.announce(is_over=True)  # a mark before the first word waited for its statement
    return writer.text
