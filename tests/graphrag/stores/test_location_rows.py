"""Source locations as PostgreSQL keeps them."""

import json
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from graphrag.models import SourceLocation, TemporalContext
from graphrag.stores.postgres.rows import _read_location, _to_json

TIMES = st.builds(
    TemporalContext,
    st.dates(),
    st.sampled_from(["day", "month", "quarter", "year"]),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
)
NUMBERS = st.integers(0, 10**7)
LOCATIONS = st.builds(
    SourceLocation,
    NUMBERS,
    NUMBERS,
    st.none() | NUMBERS,
    st.text(),
    st.text(),
    st.none() | TIMES,
    st.text(),
    st.booleans(),
)


@given(LOCATIONS)
def test_a_location_comes_back_as_it_was(location: SourceLocation) -> None:
    """R1.3, R1.5: with its file and its mark of recognised text."""
    assert _read_location(json.loads(json.dumps(_to_json(location)))) == location


def test_locations_of_before_are_read() -> None:
    """R1.5: they had neither a file nor a mark, and a time only where there is one."""
    assert _read_location([1, 5, 3, "", ""]) == SourceLocation(1, 5, 3)
    time = TemporalContext(date(2024, 3, 1), "month", 0.5, "+50 %")
    kept = [1, 5, None, "Ventas", "A2:B2", ["2024-03-01", "month", 0.5, "+50 %"]]
    assert _read_location(kept) == SourceLocation(1, 5, None, "Ventas", "A2:B2", time)
    assert _to_json(SourceLocation(1, 5, 3)) == [1, 5, 3, "", ""]
