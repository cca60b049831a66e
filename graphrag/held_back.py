"""Answers that a vendor's filter keeps from us: nothing is wrong with the model, and to ask again would not help."""

from collections.abc import Mapping
from typing import Any

# How OpenAI's, Azure's and Gemini's models say so, in lower case.
REASONS = {"blocklist", "content_filter", "language", "prohibited_content", "recitation", "safety", "spii"}


class HeldBack(Exception):
    """All of an answer, or from some word on."""


def check_not_held_back(told: Mapping[str, Any]) -> None:
    """By a response's metadata. Raises HeldBack."""
    feedback = told.get("prompt_feedback") or {}  # Gemini's, of a question that it did not even look at
    reason = feedback.get("block_reason") or told.get("finish_reason")
    reason = str(getattr(reason, "name", reason))
    if feedback.get("block_reason") or reason.lower() in REASONS:
        raise HeldBack(f"its filter holds the answer back: {reason}")
