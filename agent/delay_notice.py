"""A sign for who waits, where a model takes long to its first word."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from langchain_core.language_models import BaseChatModel

from agent.events import Event, status_event
from agent.messages import say
from graphrag.deadline import seconds_left
from graphrag.guarded_chat_model import GuardedChatModel

SLOW_SECONDS = 3


@contextmanager
def told_when_slow(
    model: BaseChatModel, write: Callable[[Event], None], *, language: str
) -> Iterator[asyncio.TimerHandle]:
    """That it lasts, and how long it may. What is given is to be cancelled at the first word."""
    limit = model.guard.first_word_seconds if isinstance(model, GuardedChatModel) else SLOW_SECONDS
    seconds = f"{limit:g}" if limit <= (left := seconds_left()) else f"{left:.0f}"
    event = status_event("generate", say("status_slow", language).format(seconds=seconds))
    timer = asyncio.get_running_loop().call_later(SLOW_SECONDS, write, event)
    try:
        yield timer
    finally:
        timer.cancel()
