"""A model's answer as it is written: what may be shown goes on as tokens, each finished statement as citations."""

from collections.abc import Callable, Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langgraph.config import get_stream_writer

from agent.citations import cite
from agent.events import Event, citation_event, token_event
from agent.sanitizing import AnswerFilter
from graphrag.errors import AnswerInterrupted
from graphrag.models import Passage
from graphrag.telemetry import log


class AnswerWriter:
    """Takes a model's text in pieces and tells `write` what a client may see of it."""

    def __init__(
        self, passages: Sequence[Passage], *, language: str, write: Callable[[Event], None], secret: str = ""
    ) -> None:
        self._passages = passages
        self._language = language
        self._write = write
        self._shown = AnswerFilter(passages, secret=secret)
        self._announced = 0  # citations

    @property
    def text(self) -> str:
        return self._shown.text.strip()

    def feed(self, piece: str) -> None:
        text = self._shown.feed(piece)
        self._pass_on(text)
        if "]" in text:
            self._announce_citations()

    def finish(self) -> None:
        self._pass_on(self._shown.flush())
        if self._shown.leaks:
            log.warning("system prompt cut from an answer", count=self._shown.leaks)
        self._announce_citations()  # a mark before the first word waited for its statement

    def _pass_on(self, text: str) -> None:
        if text:
            self._write(token_event(text))

    def _announce_citations(self) -> None:
        for statement, number in self._shown.cited()[self._announced :]:
            self._announced += 1
            citation = cite(statement, number, self._passages[number - 1])
            self._write(citation_event(citation, language=self._language))


async def write_answer(
    model: BaseChatModel, prompt: Sequence[AnyMessage], passages: Sequence[Passage], *, language: str
) -> str:
    """The answer, which has gone on in pieces; what the system message says is not repeated in it.

    Raises AnswerInterrupted where the model fails after a first word.
    """
    secret = "\n".join(message.text for message in prompt if message.type == "system")
    writer = AnswerWriter(passages, language=language, write=get_stream_writer(), secret=secret)
    try:
        async for chunk in model.astream(list(prompt)):
            writer.feed(chunk.text)
        writer.finish()
    except Exception as exc:
        if writer.text:
            writer.finish()  # what waited for more
            raise AnswerInterrupted(f"The model failed in mid-answer: {exc!r}", partial_answer=writer.text) from exc
        raise
    if not writer.text:
        raise ValueError("the model answered nothing")
    return writer.text
