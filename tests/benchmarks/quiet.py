"""Whether other work shared the processors with a measurement, and a wait for it to end."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.servers.processes import TICK, processor_seconds

QUIET_LOAD, MAX_WAIT = 1.0, 60
# A machine that was busy for the longest wait is hardly quiet a moment later: the next waits are shorter.
SHORTEST_WAIT = 5
# The load average remembers the row before for a minute; idle processors are quiet as well.
IDLE_SECONDS, IDLE_SHARE = 1.0, 0.05
# Above this share of all processors, taken by processes that are not measured, a row is marked busy.
BUSY_SHARE = 0.1


_patience = [float(MAX_WAIT)]


def wait_for_quiet() -> bool:
    """Returns once the machine is quiet, or after a minute (less after waits in vain); whether it is quiet."""
    deadline = time.monotonic() + _patience[0]
    while os.getloadavg()[0] >= QUIET_LOAD:
        other_work = OtherWork(lambda: processor_seconds(os.getpid()))
        time.sleep(IDLE_SECONDS)
        if other_work.share() < IDLE_SHARE:
            break
        if time.monotonic() > deadline:
            _patience[0] = max(SHORTEST_WAIT, _patience[0] / 2)
            return False
    _patience[0] = MAX_WAIT
    return True


class OtherWork:
    """The processor time that other processes take, from when this is created. `own` gives the seconds so far of
    those that are measured."""

    def __init__(self, own: Callable[[], float]) -> None:
        self._own = own
        self._began, self._before = time.monotonic(), _busy_seconds() - own()

    def share(self) -> float:
        """Of all processors, 0 to 1."""
        taken = _busy_seconds() - self._own() - self._before
        elapsed = max(time.monotonic() - self._began, TICK)
        return max(0.0, taken / elapsed / (os.cpu_count() or 1))

    def is_busy(self) -> bool:
        return self.share() > BUSY_SHARE


def _busy_seconds() -> float:
    """Of all processors since the machine started: all columns of proc_stat(5) but idle and iowait."""
    fields = [int(each) for each in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) * TICK
