"""Several rankings become one. Pure functions; scores come out in [0, 1]."""

import math
from collections.abc import Mapping, Sequence, Set
from uuid import UUID

from graphrag.models import Hit

RRF_K = 60  # Cormack et al. 2009; a smaller value lets one first place win alone


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[Hit]], *, weights: Mapping[str, float], k: int = RRF_K
) -> list[Hit]:
    """Fuse rankings by rank: Σ wᵢ/(k + rankᵢ), divided by the score of a hit that is first everywhere."""
    most = sum(weights[name] / (k + 1) for name in rankings)
    shares: dict[object, list[float]] = {}
    for name, hits in rankings.items():
        for rank, hit in enumerate(hits, start=1):
            shares.setdefault(hit.chunk.id, []).append(weights[name] / (k + rank))
    # fsum: places 3, 1, 7 must be worth exactly what places 1, 7, 3 are.
    return _ordered(rankings, {key: math.fsum(parts) / most if most else 0.0 for key, parts in shares.items()})


def weighted_sum(rankings: Mapping[str, Sequence[Hit]], *, weights: Mapping[str, float], depth: int) -> list[Hit]:
    """Fuse rankings by Σ wᵢ·zᵢ of the standardised scores.

    The result goes from 0 for a hit that is last everywhere to 1 for one that is first.

    A hit that a ranking lacks scores the least in it if the ranking is as long as the requested `depth`; a shorter one
    contains every match, so there it scores 0.
    """
    keys = {hit.chunk.id for hits in rankings.values() for hit in hits}
    standardised = {name: _standardise(hits, keys, depth) for name, hits in rankings.items() if hits}
    least, most = (math.fsum(weights[name] * end(z.values()) for name, z in standardised.items()) for end in (min, max))
    sums = {key: math.fsum(weights[name] * z[key] for name, z in standardised.items()) for key in keys}
    return _ordered(rankings, {key: _share(value, least, most) for key, value in sums.items()})


def _share(value: float, least: float, most: float) -> float:
    if most - least < 1e-9:  # nothing tells the hits apart
        return 0.5
    return min(1.0, max(0.0, (value - least) / (most - least)))


def _standardise(hits: Sequence[Hit], keys: Set[UUID], depth: int) -> dict[UUID, float]:
    least = min(hit.score for hit in hits) if len(hits) >= depth else 0.0
    scores = dict.fromkeys(keys, least) | {hit.chunk.id: hit.score for hit in hits}
    mean = math.fsum(scores.values()) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores.values()) / len(scores))
    return {key: (score - mean) / deviation if deviation > 1e-9 else 0.0 for key, score in scores.items()}


def _ordered(rankings: Mapping[str, Sequence[Hit]], scores: Mapping[object, float]) -> list[Hit]:
    """Best first; ties go to the more recent document, then to the id, so that the order is always the same."""
    chunks = {hit.chunk.id: hit.chunk for hits in rankings.values() for hit in hits}
    stages: dict[object, dict[str, float]] = {}
    for hits in rankings.values():
        for hit in hits:
            stages.setdefault(hit.chunk.id, {}).update(hit.scores)
    fused = [Hit(chunk, scores[key], {**stages[key], "fusion": scores[key]}) for key, chunk in chunks.items()]
    return sorted(fused, key=lambda hit: (-hit.score, -hit.chunk.document.created_at.timestamp(), str(hit.chunk.id)))
