"""Stages that take too long, and how often that is said."""

import pytest

from graphrag.observation import Observation
from graphrag.settings import Settings
from graphrag.slowness import QUIET_SECONDS, Slowness


def test_a_stage_is_slow_over_its_threshold() -> None:
    """R11.2, 001.13.6 One without a threshold never is."""
    slowness = Slowness({"rerank": 1.0})
    assert slowness.exceeds("rerank", 1.01)
    assert not slowness.exceeds("rerank", 1.0)
    assert not slowness.exceeds("generate", 1000)


def test_a_slow_hour_is_no_flood() -> None:
    """R11.2 One line a minute for each stage, which tells of how many it is."""
    now = 0.0
    slowness = Slowness({}, clock=lambda: now)
    told = []
    for second in range(3 * QUIET_SECONDS):
        now = float(second)
        told.append(slowness.news("rerank"))
    assert [times for times in told if times] == [1, QUIET_SECONDS, QUIET_SECONDS]
    assert slowness.news("fulltext") == 1


def test_the_thresholds_are_those_of_the_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    """R12, 001.13.6 And settings."""
    limits = Observation().slow_seconds
    assert (limits["search"], limits["fulltext"], limits["rerank"]) == (2, 0.2, 1)
    assert (limits["transform"], limits["expand"], limits["traverse"], limits["first_token"]) == (0.3, 0.1, 0.5, 2)
    monkeypatch.setenv("RAG_SLOW_RERANK_SECONDS", "0.5")
    assert Settings.from_environment().slow_seconds["rerank"] == 0.5
