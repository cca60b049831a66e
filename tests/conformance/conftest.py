"""The indexes beside PostgreSQL, each empty or nobody else's."""

import pytest

from tests.conformance.toy_index import ToyIndex


@pytest.fixture
def toy() -> ToyIndex:
    return ToyIndex()
