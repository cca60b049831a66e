"""Calls of a provider: concurrency, deadlines, retries, circuit breaker, content filter."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from langchain_core.exceptions import OutputParserException
from pydantic import ValidationError

from graphrag.errors import OutOfTime, ProviderError
from graphrag.observability.logging import without_secrets
from graphrag.resilience.cancellation import end
from graphrag.resilience.circuit_breaker import CircuitBreaker
from graphrag.resilience.concurrency import BackgroundLimit, ProviderLimit
from graphrag.resilience.deadline import seconds_left, within
from graphrag.resilience.retry import FOR_DOCUMENTS, Patience, http_status, in_time, is_transient, persevere

KEYS = {"google_genai": "GOOGLE_API_KEY", "openai": "OPENAI_API_KEY"}
ADDRESSES = {"google_genai": "GOOGLE_GEMINI_BASE_URL", "openai": "OPENAI_BASE_URL"}
INVALID_KEY = "API_KEY_INVALID"  # Gemini says so with the status of a wrong question
NO_RIGHT, NO_SUCH_MODEL, TOO_MUCH = {401, 403}, 404, 429


def way_out(provider: str, model: str, error: Exception) -> str:
    """A sentence that follows the failure's words; "" where none is known."""
    status = http_status(error)
    if status in NO_RIGHT or INVALID_KEY in str(error):
        return f". Check {KEYS.get(provider, 'its key')}."
    if status == NO_SUCH_MODEL:
        return f". Run: ollama pull {model}." if provider == "ollama" else ". Check the model's name and its address."
    if status == TOO_MUCH:
        return ". Wait, or raise its quota."
    if status is not None or not is_transient(error):
        return ""
    if provider == "ollama":
        return ". Is it there? Run: ollama serve; or correct its address."
    return f". Check the network, and {ADDRESSES[provider]} where it is set." if provider in ADDRESSES else ""


# How OpenAI's, Azure's and Gemini's models say so, in lower case.
REASONS = {"blocklist", "content_filter", "language", "prohibited_content", "recitation", "safety", "spii"}


class ContentFiltered(Exception):
    """All of an answer, or from some word on."""


def check_not_held_back(told: Mapping[str, Any]) -> None:
    """Raise ContentFiltered if a response's metadata says that its filter withheld the answer."""
    feedback = told.get("prompt_feedback") or {}  # Gemini's, of a question that it did not even look at
    reason = feedback.get("block_reason") or told.get("finish_reason")
    reason = str(getattr(reason, "name", reason))
    if feedback.get("block_reason") or reason.lower() in REASONS:
        raise ContentFiltered(f"its filter holds the answer back: {reason}")


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
    """Return whether the next question would fare no better."""
    answered = NothingSaid | ContentFiltered | OutputParserException | ValidationError
    if isinstance(error, answered) or type(error).__name__ in ANSWERED:
        return False
    return http_status(error) not in REFUSED or INVALID_KEY in str(error)


@dataclass(frozen=True, slots=True)
class Speech(Generic[T]):
    """Adapter that reads a provider's stream."""

    begin: Callable[[], AsyncGenerator[T, None]]
    is_word: Callable[[T], bool]
    is_end: Callable[[T], bool]


@dataclass(frozen=True, slots=True)
class Guard:
    name: str
    limit: ProviderLimit | BackgroundLimit
    breaker: CircuitBreaker
    patience: Patience
    first_word_seconds: float  # with all retries; waiting for a turn is not in it
    word_seconds: float  # from word to word
    answer_seconds: float

    def within(self, seconds: float, *, purpose: str) -> "Guard":
        """Return a guard for calls with less time, whose timeouts don't open this one's circuit."""
        name = f"{self.name} ({purpose})"
        return replace(self, name=name, breaker=self.breaker.sibling(name), answer_seconds=seconds)

    def in_background(self) -> "Guard":
        """Return a guard for background calls: more patience, at most half of the slots, its own circuit."""
        name = f"{self.name} (in the background)"
        return replace(
            self,
            name=name,
            limit=self.limit.background if isinstance(self.limit, ProviderLimit) else self.limit,
            breaker=self.breaker.sibling(name),
            patience=FOR_DOCUMENTS,
            answer_seconds=self.answer_seconds * (1 + FOR_DOCUMENTS.retries),
        )

    async def call(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Raises ProviderError or OutOfTime."""
        with self._our_errors():
            self.breaker.check()  # no call waits for a model whose circuit is open
            # Outside of the breaker: that nobody waits longer tells nothing of the model.
            async with within(self.name, share=1), self.limit.slot():
                with self.breaker.watch():
                    return await in_time(persevere(ask, self.patience), self.answer_seconds)

    async def stream(self, speech: Speech[T]) -> AsyncGenerator[T, None]:
        """Stream the provider's chunks, from its first word on. Closing it closes the request.

        Raises ProviderError.
        """
        with self._our_errors():
            self.breaker.check()
            async with self.limit.slot():
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
    """Return the chunks up to the first word, that one included, and the rest of the stream."""
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
    """Close the stream, and cancel its pending read so that the connection ends too.

    Closing alone is not enough: Gemini's client continues a request that nobody reads until the garbage collector finds
    it. One that is cancelled while it reads ends immediately.
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
