"""What the server can be told to do with a request."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """Answers with `text`, or with what it makes of the request's body (called in the server's thread)."""

    text: str | Callable[[Body], str]
    delay_seconds_per_token: float = 0


@dataclass(frozen=True, slots=True)
class CallTool:
    """Calls a tool that the request offers; in OpenAI's contract alone, and never as a stream."""

    name: str
    arguments: Body


@dataclass(slots=True)
class Paced:
    """Streams `text`, never more than `lead` words beyond those that the client has reported as received."""

    text: str
    lead: int = 3
    received: str = ""

    def receive(self, text: str) -> None:
        """Report what the client has received since the last call."""
        self.received += text

    def may_write(self, words: int) -> bool:
        return words <= len(self.received.split()) + self.lead


@dataclass(frozen=True, slots=True)
class Fail:
    status: int
    retry_after: int | None = None  # seconds
    message: str = ""


@dataclass(frozen=True, slots=True)
class Hang:
    """Sends nothing at all for so long, then an empty 200."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Garbage:
    """A 200 with a web page, as from a proxy's login or a wrong base URL."""


@dataclass(frozen=True, slots=True)
class CutStream:
    """Streams the first words of `text`, even to a client that did not ask for a stream. Then it drops the connection,
    says nothing more (stall), tells an error as the provider does within a stream, or ends it as if all were said.
    """

    after_tokens: int
    text: str
    ending: Literal["drop", "stall", "error", "end"] = "drop"


@dataclass(frozen=True, slots=True)
class Withhold:
    """The provider's filter ends the answer after so many words of `text`; Ollama has none."""

    after_tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class Half:
    """Sends half of the vectors' answer, then it drops the connection."""


@dataclass(frozen=True, slots=True)
class Empty:
    """Sends an answer without vectors."""


@dataclass(frozen=True, slots=True)
class Each:
    """Another behaviour for each request, by its body."""

    choose: "Callable[[Body], Reply | CallTool | Paced | Fail | Hang | Garbage | CutStream | Withhold]"


Behaviour = Reply | CallTool | Paced | Fail | Hang | Garbage | CutStream | Withhold | Each
EmbeddingsBehaviour = Fail | Hang | Garbage | Half | Empty
