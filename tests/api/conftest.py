"""What most tests of the HTTP API stand on."""

from collections.abc import Iterator

import httpx
import pytest

from tests.conftest import Server


@pytest.fixture(scope="module")
def api(server: Server) -> Iterator[httpx.Client]:
    """Of the module's own `server`."""
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=30, headers={"Accept-Language": "en"}) as client:
        yield client
