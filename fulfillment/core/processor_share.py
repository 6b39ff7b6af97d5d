"""How much of a web process's processor time one caller of the API gets while others call.

Limits of kinds of work hold what is known to be long. This one holds all else: a caller who sends many requests of some
50 ms at once would else fill all threads and the queue before them. So would one whose statements take long, because
they walk along what this caller made in days, or wait for a lock: the time of long statements counts as well.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection

from fulfillment.core.db import long_statements
from fulfillment.core.errors import ServiceBusy, TooManyAtOnce
from fulfillment.core.observability.instruments import count_refusal

# What a caller may use at once, and in a second when that is used up.
BURST_SECONDS = 1.0
SECONDS_PER_SECOND = 0.5
# Requests of a caller at once who has used it up.
AT_ONCE = 2
# How long after its last request another caller is still waited for.
OTHERS_SECONDS = 60.0
MAX_CALLERS = 10_000


@dataclass(slots=True)
class _Use:
    since: float
    left: float = BURST_SECONDS
    in_progress: int = 0


class ProcessorShare:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: dict[str, _Use] = {}
        # The last caller, and the last other one, each with the time of its last request.
        self._last = self._other = ("", -OTHERS_SECONDS)

    @contextmanager
    def shared(self, caller: str) -> Iterator[None]:
        """Counts this thread's processor time and long statements in the block. Raises TooManyAtOnce before it."""
        self.begin(caller, time.monotonic())
        before, waited_before = time.thread_time(), long_statements.waited_seconds()
        try:
            with connection.execute_wrapper(long_statements.count_statement):
                yield
        finally:
            waited = long_statements.waited_seconds() - waited_before
            self.end(caller, time.thread_time() - before + waited, time.monotonic())

    def begin(self, caller: str, now: float) -> None:
        """Raises TooManyAtOnce."""
        with self._lock:
            if self._last[0] != caller:
                self._other = self._last
            self._last = (caller, now)
            use = self._find_use(caller, now)
            is_alone = now - self._other[1] >= OTHERS_SECONDS
            if use.left > 0 or use.in_progress < AT_ONCE or is_alone:
                use.in_progress += 1
                return
        count_refusal("processor share")
        raise TooManyAtOnce(
            "Your last requests took more time of the processor or the database than one caller may use while others "
            f"call, so you may have only {AT_ONCE} in progress. Try again in {ServiceBusy.retry_after} seconds."
        )

    def end(self, caller: str, seconds: float, now: float) -> None:
        with self._lock:
            use = self._find_use(caller, now)
            # A debt is forgotten after a while: a single long request is no reason to refuse others for minutes.
            use.left = max(use.left - seconds, -BURST_SECONDS)
            use.in_progress -= 1

    def _find_use(self, caller: str, now: float) -> _Use:
        if (use := self._uses.get(caller)) is None:
            if len(self._uses) >= MAX_CALLERS:
                self._uses = {name: other for name, other in self._uses.items() if other.in_progress}
            use = self._uses[caller] = _Use(now)
        use.left = min(BURST_SECONDS, use.left + (now - use.since) * SECONDS_PER_SECOND)
        use.since = now
        return use


processor_share = ProcessorShare()
