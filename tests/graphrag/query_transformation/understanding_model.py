"""A language model's side of understanding a question: what it was shown, and an answer in its form."""

import json
import re
from html import unescape
from typing import Any

from tests.model_server import Body, Reply

_QUESTION = re.compile(r"<question>\n(.*?)\n</question>", re.DOTALL)
_EARLIER = re.compile(r"<earlier>\n(.*?)\n</earlier>", re.DOTALL)


def understanding(**fields: Any) -> str:
    whole: dict[str, Any] = {
        "standalone_question": "¿Quién pagó el puente de Arenal?",
        "intent": "factual",
        "direction": None,
        "sub_questions": [],
        "entities": [],
        "is_multi_hop": False,
        "hypothetical_answer": None,
    }
    return json.dumps(whole | fields)


def understood(**fields: Any) -> Reply:
    return Reply(understanding(**fields))


def is_to_understand(body: Body) -> bool:
    """Rather than to answer."""
    return _QUESTION.search(str(body["messages"][-1]["content"])) is not None


def question(body: Body) -> str:
    [found] = _QUESTION.findall(body["messages"][-1]["content"])
    return unescape(found)


def earlier(body: Body) -> list[str]:
    return [unescape(found) for found in _EARLIER.findall(body["messages"][-1]["content"])]
