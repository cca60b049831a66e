"""One model after the other, until one answers."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel

from graphrag.chat_models import EXTRACTIVE, NamedModel
from graphrag.errors import AnswerInterrupted, ProviderError
from graphrag.telemetry import count_fallback, log


@dataclass(frozen=True, slots=True)
class Written:
    text: str
    chat_model: str  # by name
    failures: tuple[Exception, ...] = ()  # of those that were asked before it


async def first_answer(
    models: Sequence[NamedModel], write: Callable[[BaseChatModel], Awaitable[str]], *, can_quote: bool
) -> Written:
    """`can_quote`: whether the last one, which quotes, has something to quote where another one fails.

    Raises AnswerInterrupted where a model fails after its first word, ProviderError where none is left to ask.
    """
    failures: list[Exception] = []
    for named in models:
        if failures and named.name == EXTRACTIVE and not can_quote:
            break
        try:
            written = Written(await write(named.model), named.name, tuple(failures))
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
