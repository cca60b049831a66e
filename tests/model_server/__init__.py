"""A scripted stand-in for an OpenAI-compatible server, for Ollama and for Gemini, over a real socket."""

from tests.model_server.behaviours import (
    Behaviour,
    Body,
    CallTool,
    CutStream,
    Each,
    EmbeddingsBehaviour,
    Empty,
    Fail,
    Garbage,
    Half,
    Hang,
    Paced,
    Reply,
    Withhold,
)
from tests.model_server.contract import RecordedRequest
from tests.model_server.serving import ModelServer
from tests.model_server.vectors import unit_vector

__all__ = [
    "Behaviour",
    "Body",
    "CallTool",
    "CutStream",
    "Each",
    "EmbeddingsBehaviour",
    "Empty",
    "Fail",
    "Garbage",
    "Half",
    "Hang",
    "ModelServer",
    "Paced",
    "RecordedRequest",
    "Reply",
    "Withhold",
    "unit_vector",
]
