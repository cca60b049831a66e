"""A collector of traces that is not there, or does not answer."""

import socket
from collections.abc import Callable

import pytest

from tests.conftest import run_server

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("accepts", [False, True])
def test_a_collector_that_is_away_harms_nothing(make_database: Callable[[], str], accepts: bool) -> None:
    """R11.2 No request waits for it or fails, nor does the end: a queue that is full forgets."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        if accepts:
            listener.listen(128)  # and never reads
        endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{listener.getsockname()[1]}"}
        few = {"OTEL_BSP_SCHEDULE_DELAY": "50", "OTEL_BSP_MAX_QUEUE_SIZE": "8", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "4"}
        timeout = {"OTEL_EXPORTER_OTLP_TIMEOUT": "5"}
        with run_server(DATABASE_URL=make_database(), **endpoint, **few, **timeout) as server:
            with server.client() as client:
                answers = [client.get("/health") for _ in range(50)]
            assert {answer.status_code for answer in answers} == {200}
            assert all(answer.headers["traceresponse"] for answer in answers)
        assert server.process.poll() == 0
