"""The implementations of ChunkIndex that are held to its promises, as fixtures' names (conftest.py)."""

import pytest

INDEXES = [
    "toy",
    "typesense",
    pytest.param("chroma_folder", marks=pytest.mark.slow),
    pytest.param("chroma_server", marks=pytest.mark.slow),
    pytest.param("milvus_folder", marks=pytest.mark.milvus),
    pytest.param("milvus_server", marks=pytest.mark.milvus),
]
