"""A question about the demo documents, what the scripted model says to it, and the service that asks that model."""

import time

from tests.model_server import ModelServer, Reply

QUESTION = "Why did Harrowmere Stores leave Dorada out of its Easter promotion?"
ANSWER = (
    "Harrowmere dropped Dorada from its Easter promotion [1]. We could not promise full quantities [1]. "
    "The butter was late because of a landslide, so nothing could be baked for two whole days [2]."
)
SLOW = Reply(ANSWER, delay_seconds_per_token=0.05)
ENDLESS = Reply("word " * 6_000, delay_seconds_per_token=0.05)
LEAVING_SECONDS = 30  # at most, from a client's leaving to the end of the model's work


def asking(model: ModelServer, **environment: str) -> dict[str, str]:
    """The environment of a service, or of a command, that asks it for answers and for nothing else."""
    return {
        "RAG_CHAT_MODEL": "openai:scripted",
        "RAG_QUERY_REFINEMENT": "false",
        "OPENAI_API_KEY": "no-key",
        "OPENAI_BASE_URL": model.base_url,
        **environment,
    }


def wait_for_disconnects(model: ModelServer, expected: int, *, seconds: float = LEAVING_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while model.disconnects < expected and time.monotonic() < deadline:
        time.sleep(0.01)
    assert model.disconnects == expected
