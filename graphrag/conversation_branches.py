"""The branches of a conversation: which messages are shown, and which version of each."""

from collections.abc import Mapping, Sequence
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


def last_answer(shown: Sequence[UUID]) -> UUID | None:
    """Of a branch, in which questions and answers take turns."""
    return shown[len(shown) // 2 * 2 - 1] if len(shown) > 1 else None


def without(outline: Outline, message: UUID) -> dict[UUID, UUID | None]:
    """The outline when a message is gone, with all that follows it."""
    gone = {message}
    left: dict[UUID, UUID | None] = {}
    for known, parent in outline.items():
        if known in gone or parent in gone:
            gone.add(known)
        else:
            left[known] = parent
    return left


def versions(outline: Outline) -> dict[UUID, list[UUID]]:
    """By message, all that follow the same one, itself among them."""
    followers: dict[UUID | None, list[UUID]] = {}
    for message, parent in outline.items():
        followers.setdefault(parent, []).append(message)
    return {message: followers[parent] for message, parent in outline.items()}
