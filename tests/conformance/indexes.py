"""The implementations of ChunkIndex that are held to its promises, as fixtures' names (conftest.py)."""

INDEXES = ["toy", "typesense"]
