"""A model's answer as it is written: what may be shown goes on as tokens, each finished statement as citations."""

from collections.abc import Callable, Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langgraph.config import get_stream_writer

from agent.citations import MarkFilter, cite
from agent.events import Event, citation_event, token_event
from agent.pace import kept_pace
from graphrag.errors import AnswerInterrupted
from graphrag.models import Passage


class AnswerWriter:
    """Takes a model's text in pieces and tells `write` what a client may see of it."""

    def __init__(self, passages: Sequence[Passage], *, language: str, write: Callable[[Event], None]) -> None:
        self._passages = passages
        self._language = language
        self._write = write
        self._marks = MarkFilter(len(passages))
        self._announced = 0  # citations

    @property
    def text(self) -> str:
        return self._marks.text.strip()

    def feed(self, piece: str) -> None:
        text = self._marks.feed(piece)
        self._pass_on(text)
        if "]" in text:
            self._announce_citations()

    def finish(self) -> None:
        self._pass_on(self._marks.flush())
        self._announce_citations()  # a mark before the first word waited for its statement

    def _pass_on(self, text: str) -> None:
        if text:
            self._write(token_event(text))

    def _announce_citations(self) -> None:
        for statement, number in self._marks.cited()[self._announced :]:
            self._announced += 1
            citation = cite(statement, number, self._passages[number - 1])
            self._write(citation_event(citation, language=self._language))


async def write_answer(
    model: BaseChatModel, prompt: Sequence[AnyMessage], passages: Sequence[Passage], *, language: str
) -> str:
    """The answer, which has gone on in pieces. Raises AnswerInterrupted where the model fails after a first word."""
    pace = kept_pace()
    writer = AnswerWriter(passages, language=language, write=pace.counted(get_stream_writer()))
    try:
        async for chunk in model.astream(list(prompt)):
            writer.feed(chunk.text)
            await pace.room()
        writer.finish()
    except Exception as exc:
        if writer.text:
            raise AnswerInterrupted(f"The model failed in mid-answer: {exc!r}", partial_answer=writer.text) from exc
        raise
    if not writer.text:
        raise ValueError("the model answered nothing")
    return writer.text
