"""What kind of answer a question wants, and for a causal one: what led to something, or what it led to."""

from graphrag.models import Direction, Intent
from graphrag.query_transformation.focus import beginning, find_focus
from graphrag.query_transformation.grammar import Grammar


def find_intent(flat: str, grammar: Grammar, *, end: int | None = None) -> tuple[Intent, Direction | None]:
    """Of flattened text without quotes; `end` is that of its first part. Nouns of causes, dates and comparisons count only
    where they are what is asked for.
    """
    intents = grammar.intents
    start = beginning(flat, grammar.asking)
    asked = flat[start : end if end and end > start else None]
    if intents.effects.match(asked):
        return Intent.CAUSAL, "effects"
    if intents.causes.match(asked) and not intents.compares.match(asked):
        return Intent.CAUSAL, "causes"
    if intents.times.match(asked):
        return Intent.TEMPORAL, None
    if _compares(flat[start:], grammar) or _compares(flat, grammar, anywhere_only=True):
        return Intent.COMPARATIVE, None
    asks_nothing_else = find_focus(flat, grammar.asking) is None
    if intents.timely.match(asked) or (asks_nothing_else and intents.last_time.search(asked)):
        return Intent.TEMPORAL, None
    return Intent.FACTUAL, None


def _compares(asked: str, grammar: Grammar, *, anywhere_only: bool = False) -> bool:
    plain = grammar.intents.not_comparing.sub(" ", asked)
    if not anywhere_only and grammar.intents.compares.match(plain):
        return True
    return grammar.intents.found_comparing.search(plain) is not None
