"""Stand-in."""

from collections.abc import Sequence
from typing import Any

from graphrag.models import Chunk


async def situate(chunks: Sequence[Chunk], **rest: Any) -> list[str | None]:
    return [None for _ in chunks]
