"""Stages that take too long, and how often that is said."""

import itertools

import pytest

from graphrag.config.service import Observation
from graphrag.config.settings import Settings
from graphrag.observability.telemetry import QUIET_SECONDS, Thresholds


def test_a_stage_is_slow_over_its_threshold() -> None:
    """R11.2, 001.13.6 One without a threshold never is."""
    thresholds = Thresholds({"rerank": 1.0})
    assert thresholds.exceeds("rerank", 1.01)
    assert not thresholds.exceeds("rerank", 1.0)
    assert not thresholds.exceeds("generate", 1000)


def test_a_slow_hour_is_no_flood() -> None:
    """R11.2 One line a minute for each stage, which tells of how many it is."""
    now = 0.0
    thresholds = Thresholds({}, clock=lambda: now)
    told = []
    for second in range(3 * QUIET_SECONDS):
        now = float(second)
        told.append(thresholds.news("rerank"))
    assert [times for times in told if times] == [1, QUIET_SECONDS, QUIET_SECONDS]
    assert thresholds.news("fulltext") == 1


def test_two_threads_may_tell_at_once() -> None:
    """R11.2 What the other one has told is not told again, and no stage fails by it."""
    told, asked = [], itertools.count(1)

    def clock() -> float:
        if next(asked) == 2:  # once it is decided to tell
            told.append(thresholds.news("rerank"))
        return 0.0

    thresholds = Thresholds({}, clock=clock)
    told.append(thresholds.news("rerank"))
    assert told == [2, 0]


def test_the_thresholds_are_those_of_the_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    """R12, 001.13.6 And settings."""
    limits = Observation().slow_seconds
    assert (limits["search"], limits["fulltext"], limits["rerank"]) == (2, 0.2, 1)
    assert (limits["transform"], limits["expand"], limits["traverse"], limits["first_token"]) == (0.3, 0.1, 0.5, 2)
    monkeypatch.setenv("RAG_SLOW_RERANK_SECONDS", "0.5")
    assert Settings.from_environment().observability.slow_seconds["rerank"] == 0.5
