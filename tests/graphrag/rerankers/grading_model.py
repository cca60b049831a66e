"""A language model's side of grading: reads the prompt as a model would, and answers in its form."""

import json
import re
from collections.abc import Callable, Mapping
from html import unescape
from typing import Any

from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from tests.model_server import Body, ModelServer, Reply

_EXCERPT = re.compile(r'<excerpt number="(\d+)" subject="([^"]*)">\n(.*?)\n</excerpt>', re.DOTALL)
_QUESTION = re.compile(r"<question>\n(.*?)\n</question>", re.DOTALL)


def connect(server: ModelServer, *, timeout_seconds: float = 10, **options: Any) -> ChatOpenAI:
    return ChatOpenAI(
        model="gpt-4o-mini",
        base_url=server.base_url,
        api_key=SecretStr("sk-of-the-tests"),
        timeout=timeout_seconds,
        max_retries=0,
        **options,
    )


def excerpts(body: Body) -> dict[int, str]:
    """The texts by their numbers, as the delimiters tell them apart."""
    return {int(number): unescape(text) for number, _, text in _EXCERPT.findall(body["messages"][-1]["content"])}


def subjects(body: Body) -> list[str]:
    return [unescape(subject) for _, subject, _ in _EXCERPT.findall(body["messages"][-1]["content"])]


def question(body: Body) -> str:
    [found] = _QUESTION.findall(body["messages"][-1]["content"])
    return unescape(found)


def answer(grades: Mapping[int, Any]) -> str:
    return json.dumps({"grades": [{"number": number, "grade": grade} for number, grade in grades.items()]})


def grading(grade: Callable[[str], float]) -> Reply:
    """Grades each excerpt by its text."""
    return Reply(lambda body: answer({number: grade(text) for number, text in excerpts(body).items()}))


def grading_by_words() -> Reply:
    """Two points for each word of the excerpt that the question holds."""

    def grade_all(body: Body) -> str:
        asked = set(question(body).lower().split())
        shared = {number: asked & set(text.lower().split()) for number, text in excerpts(body).items()}
        return answer({number: 2 * len(words) for number, words in shared.items()})

    return Reply(grade_all)
