"""Evidence from many documents: the best chunk of each comes before a second one of any."""

from collections.abc import Sequence
from uuid import UUID

from graphrag.models import Hit


def one_per_document_first(hits: Sequence[Hit]) -> list[Hit]:
    """All of them: each document's first, then the others, both in the order they came."""
    firsts: dict[UUID, Hit] = {}
    for hit in hits:
        firsts.setdefault(hit.chunk.document.id, hit)
    chosen = {hit.chunk.id for hit in firsts.values()}
    return [*firsts.values(), *(hit for hit in hits if hit.chunk.id not in chosen)]
