"""A search under high load: what costs much and gives little is left out first."""

from typing import Any

from graphrag.load import Effort
from graphrag.settings import RetrievalConfig

FEWER_CANDIDATES = 25
HIGH_LOAD = "load"  # among the names of what was done without: why


def simplified(config: RetrievalConfig, effort: Effort) -> tuple[RetrievalConfig, tuple[str, ...]]:
    """And the names of what is left out; a search by meaning alone, where it was asked for, stays one."""
    if effort is Effort.FULL:
        return config, ()
    fewer = min(config.candidates_per_leg, FEWER_CANDIDATES)
    changes: dict[str, Any] = {
        "graph": False,
        "candidates_per_leg": fewer,
        "rerank_candidates": min(config.rerank_candidates, fewer),
    }
    left_out = ["graph"] if config.graph else []
    if effort is Effort.SIMPLEST:
        changes |= {"rerank": False}
        left_out += ["rerank"] if config.rerank else []
        if config.strategy in ("auto", "hybrid"):
            changes |= {"strategy": "fulltext"}
            left_out.append("vector")
    return config.model_copy(update=changes), (*left_out, HIGH_LOAD)
