"""Which stages take longer than they should, and when that is news."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

QUIET_SECONDS = 60  # between two warnings of one stage: a slow hour is no flood


@dataclass
class Thresholds:
    limits: Mapping[str, float]  # seconds, by stage
    clock: Callable[[], float] = time.monotonic
    _quiet_until: dict[str, float] = field(default_factory=dict)
    _untold: dict[str, int] = field(default_factory=dict)

    def exceeds(self, stage: str, seconds: float) -> bool:
        return seconds > self.limits.get(stage, float("inf"))

    def news(self, stage: str) -> int:
        """How often it was slow since that was last told, this time included; 0 while nothing is to be told."""
        self._untold[stage] = self._untold.get(stage, 0) + 1
        if self.clock() < self._quiet_until.get(stage, 0):
            return 0
        self._quiet_until[stage] = self.clock() + QUIET_SECONDS
        return self._untold.pop(stage, 0)  # another thread may just have told it
