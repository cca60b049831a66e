"""The embeddings of this server."""

import base64
import hashlib
import math
import struct
from collections.abc import Sequence


def unit_vector(text: str, dimension: int) -> list[float]:
    """The embedding of a text: of length 1, and for different texts as good as unrelated."""
    values = struct.unpack(f"<{dimension}i", hashlib.shake_256(text.encode()).digest(4 * dimension))
    length = math.hypot(*values)
    return [value / length for value in values]


def base64_vector(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
