"""Which texts are questions at all."""

import re

from graphrag.errors import InvalidQuestion

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def check_question(text: str, *, max_chars: int) -> str:
    """The question without surrounding space. Raises InvalidQuestion with the reason."""
    question = text.strip()
    if not question:
        raise InvalidQuestion("The question is empty: write one.", reason="empty")
    if len(question) > max_chars:
        raise InvalidQuestion(
            f"The question has {len(question)} characters; at most {max_chars} are allowed: shorten it.",
            reason="too_long",
            limit=max_chars,
        )
    if _CONTROL.search(question):
        raise InvalidQuestion("The question holds control characters: remove them.", reason="control_characters")
    return question
