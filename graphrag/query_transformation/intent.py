"""Intent of a question: causal, temporal, comparative or factual, told by the rules of its language."""

from graphrag.models import Direction, Intent
from graphrag.query_transformation.phrases import QuestionGrammar, beginning, find_focus


def find_intent(flat: str, grammar: QuestionGrammar, *, end: int | None = None) -> tuple[Intent, Direction | None]:
    """Return the intent of flattened text without quotes; `end` is that of its first part.

    Nouns of causes, dates and comparisons count only if they are what is asked for.
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


def _compares(asked: str, grammar: QuestionGrammar, *, anywhere_only: bool = False) -> bool:
    plain = grammar.intents.not_comparing.sub(" ", asked)
    if not anywhere_only and grammar.intents.compares.match(plain):
        return True
    return grammar.intents.found_comparing.search(plain) is not None
