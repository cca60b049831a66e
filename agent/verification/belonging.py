"""Whether a fact that a passage has stands there where the statement has it, or another of its kind."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.verification.alignment import Alignment
from agent.verification.moments import Moment
from agent.verification.quantities import Quantity
from agent.verification.reading import Reading

MARGIN = 1.1  # how much more must stand around the other one
LEAST = 0.12
MARGIN_ACROSS, LEAST_ACROSS = 1.3, 0.35  # fewer words meet in two languages


@dataclass(frozen=True, slots=True)
class Fact:
    """A number or a date of the statement, and where the passage has it and others of its kind."""

    place: int
    same: tuple[int, ...]
    others: tuple[int, ...]
    claimed: Mapping[int, Sequence[int]]  # those of the others that the statement has, too: its places of them


def is_elsewhere(both: Alignment, fact: Fact) -> bool:
    """Whether more stands around another of its kind than around the same one."""
    least, margin = (LEAST_ACROSS, MARGIN_ACROSS) if both.is_across else (LEAST, MARGIN)
    best = max((both.nearness(fact.place, place) for place in fact.same), default=0.0)
    for place in fact.others:
        nearness = both.nearness(fact.place, place)
        if nearness > least and nearness > margin * best and not _is_taken(both, fact, place, nearness, best):
            return True
    return False


def _is_taken(both: Alignment, fact: Fact, place: int, nearness: float, best: float) -> bool:
    """Whether the other belongs to another of the statement: changed round, the two would fit no better."""
    for rival in fact.claimed.get(place, ()):
        turned = max((both.nearness(rival, each) for each in fact.same), default=0.0)
        if both.nearness(rival, place) + best >= nearness + turned:
            return True
        if both.nearness(rival, place) >= nearness:
            return True
    return False


def starts(reading: Reading, facts: Iterable[Quantity | Moment]) -> tuple[int, ...]:
    return tuple(reading.place(fact.start) for fact in facts)
