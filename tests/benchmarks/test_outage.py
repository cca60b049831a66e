"""A service whose database goes away under load."""

import pytest

from tests.benchmarks.outage import run

MOST_SECONDS = 5


@pytest.mark.timed
def test_an_outage_ends_when_it_ends() -> None:
    """R11.1, R12 Errors only while it is away, each within seconds; then none, and nothing accepted is lost."""
    outage = run("stop", seconds=25, away=4)
    assert all(request.is_well for request in [*outage.before(), *outage.afterwards()])
    assert {request.kind for request in outage.afterwards()} == {"search", "chat", "health", "upload"}
    assert any(request.status == "503" for request in outage.meanwhile())
    assert all(request.is_well for request in outage.meanwhile() if request.kind in ("health", "upload"))
    assert max(request.seconds for request in outage.meanwhile()) < MOST_SECONDS
    assert set(outage.states) == {"indexed"}
