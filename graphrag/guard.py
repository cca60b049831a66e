"""What stands between us and a provider: turns, deadlines, retries, a breaker, and one error for all of theirs."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from langchain_core.exceptions import OutputParserException
from pydantic import ValidationError

from graphrag.breaker import Breaker
from graphrag.deadline import seconds_left, within
from graphrag.endings import end
from graphrag.errors import OutOfTime, ProviderError
from graphrag.held_back import HeldBack
from graphrag.model_repairs import INVALID_KEY, way_out
from graphrag.retrying import FOR_DOCUMENTS, Patience, http_status, in_time, persevere
from graphrag.secrets import without_secrets
from graphrag.turns import HalfTheTurns, Turns

T = TypeVar("T")
MOST_TOLD = 500  # characters of a vendor's error, which may repeat a whole web page
MOST_WAITING = 100  # pieces that came already are read past; a server that floods is hung up on
REFUSED = {400, 413, 422}  # of what was asked, by a provider that is well
# Of openai, by name, for it need not be imported: an answer that is too long, or that a filter holds back.
ANSWERED = {"LengthFinishReasonError", "ContentFilterFinishReasonError"}


class NothingSaid(Exception):
    """The answer ended before the first word."""


class CutShort(Exception):
    """The stream ended without saying that it does, as where a proxy gave up."""


def is_outage(error: Exception) -> bool:
    """Whether the next question would fare no better."""
    answered = NothingSaid | HeldBack | OutputParserException | ValidationError
    if isinstance(error, answered) or type(error).__name__ in ANSWERED:
        return False
    return http_status(error) not in REFUSED or INVALID_KEY in str(error)


@dataclass(frozen=True, slots=True)
class Speech(Generic[T]):
    """How to read a provider's stream."""

    begin: Callable[[], AsyncGenerator[T, None]]
    is_word: Callable[[T], bool]
    is_end: Callable[[T], bool]


@dataclass(frozen=True, slots=True)
class Guard:
    name: str
    turns: Turns | HalfTheTurns
    breaker: Breaker
    patience: Patience
    first_word_seconds: float  # with all retries; waiting for a turn is not in it
    word_seconds: float  # from word to word
    answer_seconds: float

    def within(self, seconds: float, *, purpose: str) -> "Guard":
        """For calls that have less time: too slow for them is not too slow for the others."""
        name = f"{self.name} ({purpose})"
        return replace(self, name=name, breaker=self.breaker.sibling(name), answer_seconds=seconds)

    def in_background(self) -> "Guard":
        """For calls that nobody waits for: with more patience, half of the turns at most, and failures of their own."""
        name = f"{self.name} (in the background)"
        return replace(
            self,
            name=name,
            turns=self.turns.half if isinstance(self.turns, Turns) else self.turns,
            breaker=self.breaker.sibling(name),
            patience=FOR_DOCUMENTS,
            answer_seconds=self.answer_seconds * (1 + FOR_DOCUMENTS.retries),
        )

    async def call(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Raises ProviderError or OutOfTime."""
        with self._our_errors():
            self.breaker.check()  # nobody waits for a turn with a model that is left alone
            # Outside of the breaker: that nobody waits longer tells nothing of the model.
            async with within(self.name, share=1), self.turns.take():
                with self.breaker.watch():
                    return await in_time(persevere(ask, self.patience), self.answer_seconds)

    async def stream(self, speech: Speech[T]) -> AsyncGenerator[T, None]:
        """What the provider sends, from its first word on. Closing it closes the request.

        Raises ProviderError.
        """
        with self._our_errors():
            self.breaker.check()
            async with self.turns.take():
                answer_seconds = min(self.answer_seconds, seconds_left())
                until = time.monotonic() + answer_seconds
                with self.breaker.watch() as greet:
                    first_seconds = min(self.first_word_seconds, answer_seconds)
                    begun = persevere(lambda: _begin(speech), self.patience)
                    said, rest = await in_time(begun, first_seconds)
                    greet()
                    async with _hung_up_at_last(rest):
                        for piece in said:
                            yield piece
                        has_ended = any(map(speech.is_end, said))
                        while (following := await in_time(_next(rest), self._seconds_left(until))) is not None:
                            has_ended = has_ended or speech.is_end(following)
                            yield following
                        if not has_ended:
                            raise CutShort

    def _seconds_left(self, until: float) -> float:
        return min(self.word_seconds, until - time.monotonic())

    @contextmanager
    def _our_errors(self) -> Iterator[None]:
        try:
            yield
        except (ProviderError, OutOfTime):
            raise
        except Exception as exc:  # each vendor has a tree of its own
            told = without_secrets(repr(exc))[:MOST_TOLD]
            provider, _, model = self.name.partition(" (")[0].partition(":")
            raise ProviderError(f"{self.name} failed: {told}{way_out(provider, model, exc)}") from exc


async def _begin(speech: Speech[T]) -> tuple[list[T], AsyncGenerator[T, None]]:
    """What came until the first word, with it, and the rest."""
    pieces, said = speech.begin(), []
    async for piece in pieces:
        said.append(piece)
        if speech.is_word(piece):
            return said, pieces
    raise NothingSaid


async def _next(pieces: AsyncGenerator[T, None]) -> T | None:
    async for piece in pieces:
        return piece
    return None


@asynccontextmanager
async def _hung_up_at_last(pieces: AsyncGenerator[T, None]) -> AsyncIterator[None]:
    """To close them is not enough: Gemini's client goes on with a request that nobody reads any more, until the garbage
    collector finds it. One that is cancelled while it reads ends at once.
    """
    try:
        yield
    finally:
        for _ in range(MOST_WAITING):
            reading = asyncio.ensure_future(_next(pieces))
            await asyncio.sleep(0)  # it takes what has come already, or waits for more
            is_waiting = not reading.done()
            await end(reading)
            if reading.cancelled() or reading.exception() or is_waiting or reading.result() is None:
                break
        await pieces.aclose()
