"""Where a statement says something else than its passage: another number, date, name, unit or direction, or denies it.

Every fact of the statement is looked for in the passage. Where the passage has it, but has another of its kind in the
place that the statement speaks of (the same words stand around it), the statement has taken the wrong one.
"""

from collections.abc import Iterator, Sequence

from agent.verification.alignment import Alignment
from agent.verification.dates import wrong_moments
from agent.verification.figures import wrong_quantities, wrong_rates
from agent.verification.moments import Moment
from agent.verification.names import same_name
from agent.verification.polarity import wrong_denials, wrong_polarity, wrong_sides
from agent.verification.reading import Reading
from agent.verification.relations import is_reversed
from agent.verification.roles import is_turned


def disagreements(
    statement: Reading, passage: Reading, *, beside: Reading, today: Moment | None = None
) -> tuple[str, ...]:
    """Why the passage does not carry the statement, each reason once. `beside`: the document's title and headers."""
    both = Alignment(statement, passage)
    reasons = [
        *wrong_quantities(both, beside, today),
        *wrong_moments(both, beside, today),
        *_wrong_names(both, beside),
        *wrong_rates(both),
        *wrong_sides(both),
        *wrong_denials(both),
        *wrong_polarity(both),
        *(["direction"] if is_reversed(both) else []),
        *(["role"] if is_turned(both) else []),
    ]
    return tuple(dict.fromkeys(reasons))


def _wrong_names(both: Alignment, beside: Reading) -> Iterator[str]:
    statement, passage = both.statement, both.passage
    known = {word.folded for word in (*passage.words, *beside.words)}
    named = {passage.words[place].folded for place in passage.names}
    if statement.language != "en" or passage.language != "en":  # elsewhere an article goes before a common noun
        named |= {passage.words[place].folded for place in passage.openers}
    opening = [at for at in statement.openers if statement.words[at].folded in named]
    for at in dict.fromkeys((*statement.names, *opening)):
        told = statement.words[at].folded
        if not any(same_name(told, word) or _is_cognate(told, word) for word in known):
            yield "name"
            continue
        candidates = {*passage.names, *(passage.openers if at in opening else ())}
        same = [place for place in candidates if same_name(told, passage.words[place].folded)]
        others = [
            place
            for place in passage.names
            if place not in same
            and not any(same_name(passage.words[place].folded, word.folded) for word in statement.words)
        ]
        others = [place for place in others if not _is_part(passage, place, same)]
        if same and others and (both.is_outvoted(same, others, told=statement.names) or both.is_mixed(same, others)):
            yield "name"


def _is_cognate(told: str, word: str) -> bool:
    return len(told) >= 5 and len(word) >= 5 and (told[:5] == word[:5])


def _is_part(passage: Reading, place: int, same: Sequence[int]) -> bool:
    """Of the same name: the surname beside the first name."""
    return any(abs(place - other) <= 2 and passage.words[place].clause == passage.words[other].clause for other in same)
