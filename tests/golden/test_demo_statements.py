"""What the demo collection's answers state, checked against the passages that they cite."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Server

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("demo.json").read_text(encoding="utf-8"))
LEAST_SUPPORTED = 0.97


@pytest.fixture(scope="module")
def statements(demo_server: Server) -> list[dict[str, Any]]:
    """Of all answers, as they were checked when they were given."""
    with demo_server.client() as client:
        answers = [
            client.post("/api/chat", json={"message": case["query"]}).raise_for_status().json() for case in CASES
        ]
    return [statement for answer in answers for statement in answer["statements"]]


def test_what_extractive_answers_state_is_supported(statements: list[dict[str, Any]]) -> None:
    """R8.4 Sentences, rows with their headers, labels of parts and what is computed of them."""
    doubted = [
        (each["statement"], each["status"], each.get("reasons")) for each in statements if each["status"] != "supported"
    ]
    assert len(statements) >= len(CASES)
    assert len(doubted) <= (1 - LEAST_SUPPORTED) * len(statements), doubted


def test_no_statement_with_a_mark_is_unsupported(statements: list[dict[str, Any]]) -> None:
    """R8.4 What is cited is carried, in part at least."""
    assert [each["statement"] for each in statements if each["status"] == "unsupported" and each["citations"]] == []
