"""A process's wall clock, which a signal sets as an administrator does: it goes on from another time."""

import signal
import time
from types import FrameType

import time_machine

# Of the signal; the clock that nobody can set, time.monotonic, stays as it is.
JUMPS = {signal.SIGUSR1: 40 * 86_400, signal.SIGUSR2: -40 * 86_400}


def jump_at_signals() -> None:
    for number in JUMPS:
        signal.signal(number, _jump)


def _jump(number: int, _frame: FrameType | None) -> None:
    time_machine.travel(time.time() + JUMPS[signal.Signals(number)], tick=True).start()
