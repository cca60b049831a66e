"""The branches of a conversation: which messages are shown, and which version of each."""

from collections.abc import Mapping
from uuid import UUID

Outline = Mapping[UUID, UUID | None]  # message → what it follows, in the order in which they were said


def branch(outline: Outline, through: UUID | None) -> list[UUID]:
    """From the conversation's beginning through that message, and on with the latest that follow."""
    latest = {parent: message for message, parent in outline.items()}
    before: list[UUID] = []
    message = through
    while message is not None:
        before.append(message)
        message = outline[message]
    after: list[UUID] = []
    message = latest.get(through)
    while message is not None:
        after.append(message)
        message = latest.get(message)
    return [*reversed(before), *after]


def versions(outline: Outline) -> dict[UUID, list[UUID]]:
    """By message, all that follow the same one, itself among them."""
    followers: dict[UUID | None, list[UUID]] = {}
    for message, parent in outline.items():
        followers.setdefault(parent, []).append(message)
    return {message: followers[parent] for message, parent in outline.items()}
