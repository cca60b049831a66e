"""Filters as a request writes them."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.errors import InvalidFilter
from graphrag.models import EVERYTHING, Filters
from graphrag.retrieval.filters import KNOWN, MOST_VALUES, parse_filters


def test_a_value_or_a_list_of_values() -> None:
    """R4.5 every key."""
    given = {
        "document_type": "pdf",
        "language": ["ES", "fr"],
        "source_type": ("upload",),
        "processing_strategy": "sentence",
        "tags": ["urgente", "línea 4"],
        "filename": "Informe anual.pdf",
        "created_from": "2025-03-01",
        "created_until": "2025-03-31T12:00:00+02:00",
    }
    assert tuple(given) == KNOWN
    assert parse_filters(given) == Filters(
        document_types=("pdf",),
        languages=("es", "fr"),
        source_types=("upload",),
        processing_strategies=("sentence",),
        tags=("urgente", "línea 4"),
        filenames=("Informe anual.pdf",),
        created_from=datetime(2025, 3, 1, tzinfo=UTC),
        created_until=datetime(2025, 3, 31, 10, tzinfo=UTC),
    )


@pytest.mark.parametrize("value", ["2025-03-01", date(2025, 3, 1), datetime(2025, 3, 1), "2025-03-01T02:00+02:00"])
def test_a_date_is_its_midnight_in_utc(value: object) -> None:
    """R4.5"""
    assert parse_filters({"created_from": value}).created_from == datetime(2025, 3, 1, tzinfo=UTC)


def test_nothing_given_lets_everything_through() -> None:
    assert parse_filters({}) == parse_filters({"tags": []}) == EVERYTHING


@pytest.mark.parametrize(
    ("given", "reason", "key"),
    [
        ({"tags": "a", "owner_id": "somebody"}, "unknown_filter", "owner_id"),
        ({"language; DROP TABLE": "es"}, "unknown_filter", "language; DROP TABLE"),
        ({"created_from": "yesterday"}, "filter_date", "created_from"),
        ({"created_until": 2025}, "filter_date", "created_until"),
        ({"created_until": ["2025-03-01"]}, "filter_date", "created_until"),
        ({"tags": 7}, "filter_value", "tags"),
        ({"tags": None}, "filter_value", "tags"),
        ({"tags": {"a": 1}}, "filter_value", "tags"),
        ({"tags": ["a", " "]}, "filter_value", "tags"),
        ({"filename": "a\0b"}, "filter_value", "filename"),
        ({"filename": "\ud800"}, "filter_value", "filename"),
        ({"tags": ["x"] * (MOST_VALUES + 1)}, "filter_value", "tags"),
    ],
)
def test_what_is_no_filter_is_refused_with_those_that_are(given: dict[str, Any], reason: str, key: str) -> None:
    """R4.5 keys are allow-listed; security 12."""
    with pytest.raises(InvalidFilter, match="document_type, language") as caught:
        parse_filters(given)
    assert caught.value.details == {"reason": reason, "key": key, "known": list(KNOWN)}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*KNOWN, "other"]), JSON))
def test_any_json_is_a_filter_or_an_error_of_ours(given: dict[str, Any]) -> None:
    """Security 10."""
    try:
        filters = parse_filters(given)
    except InvalidFilter:
        assert given
    else:
        assert set(given) <= set(KNOWN)
        assert isinstance(filters, Filters)
