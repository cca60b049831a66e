"""Dates and times of a statement that its passage has not, or has of something else."""

from collections.abc import Iterator, Sequence

from agent.verification.alignment import Alignment
from agent.verification.belonging import Fact, is_elsewhere, starts
from agent.verification.moments import Moment
from agent.verification.reading import Reading


def wrong_moments(both: Alignment, beside: Reading, today: Moment | None) -> Iterator[str]:
    for told in both.statement.moments:
        if today and not told.contradicts(today) and told.said() >= {"day", "month"}:
            continue
        alike = [held for held in both.passage.moments if told.said() & held.said()]
        same = [held for held in alike if not told.contradicts(held)]
        if same:
            if _is_of_another_day(both, told, same, [held for held in alike if told.contradicts(held)]):
                yield "date"
        elif not _is_told_otherwise(told, both.passage, beside):
            yield "date"


def _is_told_otherwise(told: Moment, passage: Reading, beside: Reading) -> bool:
    return (
        _is_said_beside(told, passage, beside) or _is_said_as_number(told, passage) or _in_parts(told, passage, beside)
    )


def _is_said_beside(told: Moment, passage: Reading, beside: Reading) -> bool:
    if _knows_moments(passage, told):
        return False
    return any(told.said() & held.said() and not told.contradicts(held) for held in beside.moments)


def _is_of_another_day(both: Alignment, told: Moment, same: Sequence[Moment], others: Sequence[Moment]) -> bool:
    statement, passage = both.statement, both.passage
    claimed = {
        passage.place(held.start): [
            statement.place(other.start)
            for other in statement.moments
            if other is not told and other.said() & held.said() and not other.contradicts(held)
        ]
        for held in others
    }
    mine = starts(passage, same)
    fact = Fact(statement.place(told.start), mine, starts(passage, others), claimed)
    sentences = {passage.words[place].sentence for place in mine}
    untold = [place for place, rivals in claimed.items() if not rivals and passage.words[place].sentence in sentences]
    return is_elsewhere(both, fact) or both.is_outvoted(
        mine,
        untold,
        told=starts(statement, statement.moments),
        known=starts(passage, passage.moments),
        clearly=True,
    )


def _knows_moments(passage: Reading, told: Moment) -> bool:
    return any(told.said() & held.said() for held in passage.moments)


def _in_parts(told: Moment, passage: Reading, beside: Reading) -> bool:
    """Its day and month in one place, its year in another."""
    held = [*passage.moments, *beside.moments]
    parts = [name for name in told.said() if not any(getattr(each, name) == getattr(told, name) for each in held)]
    whole = [each for each in held if each.said() & told.said() and not told.contradicts(each)]
    return not parts and bool(whole)


def _is_said_as_number(told: Moment, passage: Reading) -> bool:
    """A year, an hour: «2024» in a code or a table is read as a number."""
    number = told.year if told.said() == {"year"} else None
    if told.said() == {"minute"} and told.minute is not None:
        number = told.minute // 60
        return any({number, (number - 12) % 24, number + 12} & held.values for held in passage.quantities)
    return number is not None and any(number in held.values for held in passage.quantities)
