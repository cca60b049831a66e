"""What was done to a question, told to logs without a word of it."""

from typing import Any

from graphrag.models import TransformedQuery
from graphrag.records import note


def note_kinds(query: TransformedQuery) -> dict[str, Any]:
    """For a log line; the last one of the request has them too."""
    kinds = {
        "language": query.language,
        "transformation": query.strategy,
        "intent": query.intent.value,
        "direction": query.direction,
        "parts": len(query.sub_queries),
        "multi_hop": query.is_multi_hop,
        "hyde": bool(query.hypothetical_answer),
    }
    note(**kinds)
    return kinds
