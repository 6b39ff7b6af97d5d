"""Lanes for expensive work: a few at once in each process, a share for each caller, and a short wait.

A web process answers with a handful of threads. What takes long (typesetting, large orders, password hashing,
decoding of pictures, reading of files) goes through a lane, so that threads stay free for cheap requests:

- A slot is held while the work is done. A lane has `limit` slots, and one caller gets at most `share` of them.
- A request that finds no free slot waits for a moment. Free slots go to the caller with the fewest under way.
- Working and waiting requests together hold at most `max_held_threads()` threads. When one caller fills them and
  another one comes, the newest waiting request of the first is refused.
- A refusal is TooManyAtOnce (429) when the caller's own requests use up the share, else LaneFull (503). Both carry
  Retry-After and are raised before any of the work is done.

Limits hold for each process: with N web processes, the service does N times as much at once.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from fulfillment.core.errors import TooManyRequests, Unavailable
from fulfillment.core.observability.instruments import count_refusal

RETRY_SECONDS = 2
# The client address of this thread's request: the caller, when there is no user or application.
client_address: ContextVar[str] = ContextVar("address", default="this process")


class LaneFull(Unavailable):
    """Other callers use all slots of the lane."""

    code = "service_busy"
    retry_after = RETRY_SECONDS


class TooManyAtOnce(TooManyRequests):
    """The caller uses all slots that one caller may have."""

    code = "too_many_at_once"


@dataclass(frozen=True, slots=True)
class Lane:
    """`what` names its work in messages, in the plural; `setting` names the setting with its limit."""

    name: str
    what: str
    setting: str

    @property
    def limit(self) -> int:
        return int(getattr(settings, self.setting))

    @property
    def share(self) -> int:
        """Slots of one caller: one less than all, so that another caller finds one."""
        return max(1, self.limit - 1)

    @contextmanager
    def slot(self, caller: str = "", *, wait: float | None = None) -> Iterator[None]:
        """Holds a slot; raises LaneFull or TooManyAtOnce. `caller` is a user or an application, else the address.

        Use it outside of transactions, because it may wait. A slot inside another one needs no further thread.
        """
        held: list[str] = _this_thread.__dict__.setdefault("lanes", [])
        if self.name in held:
            yield
            return
        ticket = _admission.enter(self, caller, wait, is_inner=bool(held))
        held.append(self.name)
        try:
            yield
        finally:
            held.remove(self.name)
            _admission.release(ticket)

    def stream(self, pieces: Iterator[bytes], caller: str) -> "Stream":
        """Streams a response and holds a slot until it is sent: a slow reader occupies a thread."""
        return Stream(pieces, _admission.enter(self, caller, None))


RENDERINGS = Lane("renderings", "renderings", "RENDERINGS_AT_ONCE")
ORDERS = Lane("orders", "orders with print files", "ORDERS_AT_ONCE")
LARGE_ORDERS = Lane("large orders", "orders and quotes of many items", "LARGE_ORDERS_AT_ONCE")
PASSWORDS = Lane("passwords", "passwords to check", "PASSWORDS_AT_ONCE")
PICTURES = Lane("pictures", "pictures to read", "PICTURES_AT_ONCE")
FILES = Lane("files", "files to read or write", "FILES_AT_ONCE")
SELECTIONS = Lane("selections", "selections of routes", "SELECTIONS_AT_ONCE")
LARGE_BODIES = Lane("large bodies", "large request bodies", "LARGE_BODIES_AT_ONCE")
# All anonymous visitors of the start page count as one caller and use at most one renderer.
LIVE_PROOFS = Lane("live proofs", "live proofs of the start page", "LIVE_PROOFS_AT_ONCE")
LANES = (RENDERINGS, ORDERS, LARGE_ORDERS, PASSWORDS, PICTURES, FILES, SELECTIONS)


def max_held_threads() -> int:
    """How many threads of this process expensive work may hold: a quarter, at least one, stays free."""
    threads = int(settings.WEB_THREADS)
    return max(1, threads - max(1, threads // 4))


class Stream:
    """The web server closes it when the response ends, also after an error."""

    def __init__(self, pieces: Iterator[bytes], ticket: "_Ticket") -> None:
        self._pieces, self._ticket = pieces, ticket

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        try:
            getattr(self._pieces, "close", bool)()
        finally:
            _admission.release(self._ticket)

    __del__ = close


def lane_errors(what: str) -> dict[int, str]:
    """Error descriptions for the API schema of operations that use a lane."""
    again = "try again after Retry-After seconds."
    return {
        429: "The subscription has had its requests of this minute, or the caller has as many "
        f"{what} under way as one may have (`too_many_at_once`); {again}",
        503: "The database or the file storage is away, or there are as many "
        f"{what} under way as are taken at once (`service_busy`); {again}",
    }


@dataclass(slots=True, eq=False)
class _Ticket:
    """`is_inner`: its thread already holds a slot of another lane."""

    lane: Lane
    caller: str
    is_inner: bool
    settled: threading.Event = field(default_factory=threading.Event)
    refusal: Exception | None = None
    is_released: bool = False


class _Admission:
    """Admits requests to the lanes of this process and queues those that wait."""

    def __init__(self) -> None:
        # Collecting garbage may close a stream at any moment, also while this thread holds the lock.
        self._lock = threading.RLock()
        self._waiting: list[_Ticket] = []
        self._slots: Counter[str] = Counter()
        self._shares: Counter[tuple[str, str]] = Counter()
        # Working threads of each caller.
        self._callers: Counter[str] = Counter()

    def enter(self, lane: Lane, caller: str, wait: float | None, *, is_inner: bool = False) -> _Ticket:
        ticket = _Ticket(lane, caller or f"address:{client_address.get()}", is_inner)
        with self._lock:
            if self._may_start(ticket):
                self._start(ticket)
            elif ticket.is_inner or self._free_thread(ticket):
                self._waiting.append(ticket)
                self._start_waiting()
        if not ticket.settled.wait(settings.LANE_WAIT_SECONDS if wait is None else wait):
            self._give_up(ticket)
        if ticket.refusal is not None:
            count_refusal(f"lane: {lane.name}")
            raise ticket.refusal
        return ticket

    def release(self, ticket: _Ticket) -> None:
        with self._lock:
            if not ticket.is_released:
                ticket.is_released = True
                self._count(ticket, -1)
                self._start_waiting()

    def _may_start(self, ticket: _Ticket) -> bool:
        if self._is_share_used(ticket) or self._slots[ticket.lane.name] >= ticket.lane.limit:
            return False
        return ticket.is_inner or self._held() < max_held_threads()

    def _is_share_used(self, ticket: _Ticket) -> bool:
        """Whether the caller has its share of the lane, or half of all threads."""
        if self._shares[ticket.lane.name, ticket.caller] >= ticket.lane.share:
            return True
        return not ticket.is_inner and self._callers[ticket.caller] >= -(-max_held_threads() // 2)

    def _held(self) -> int:
        return self._callers.total() + sum(not one.is_inner for one in self._waiting)

    def _held_by(self, caller: str) -> int:
        return self._callers[caller] + sum(not one.is_inner for one in self._waiting if one.caller == caller)

    def _start(self, ticket: _Ticket) -> None:
        self._count(ticket, 1)
        ticket.settled.set()

    def _count(self, ticket: _Ticket, by: int) -> None:
        self._slots[ticket.lane.name] += by
        self._add(self._shares, (ticket.lane.name, ticket.caller), by)
        if not ticket.is_inner:
            self._add(self._callers, ticket.caller, by)

    @staticmethod
    def _add(counter: Counter[Any], key: object, by: int) -> None:
        """Removes the entry of a caller at zero, so that the counters do not grow."""
        counter[key] += by
        if not counter[key]:
            del counter[key]

    def _start_waiting(self) -> None:
        """Starts waiting requests: first the caller with the fewest under way, then the oldest request."""
        waiting = self._waiting
        while ready := [one for one in waiting if self._may_start_waiting(one)]:
            first = min(ready, key=lambda one: self._shares[one.lane.name, one.caller])
            waiting.remove(first)
            self._start(first)

    def _may_start_waiting(self, ticket: _Ticket) -> bool:
        """Threads are not counted here: a waiting request already holds one."""
        return not self._is_share_used(ticket) and self._slots[ticket.lane.name] < ticket.lane.limit

    def _free_thread(self, ticket: _Ticket) -> bool:
        """Frees a thread, if needed, by refusing the newest waiting request of a caller with two more than this one."""
        if self._held() < max_held_threads():
            return True
        own = self._held_by(ticket.caller)
        waiting = [one for one in reversed(self._waiting) if not one.is_inner]
        greatest = max(waiting, key=lambda one: self._held_by(one.caller), default=None)
        if greatest is None or self._held_by(greatest.caller) < own + 2:
            self._refuse(ticket, is_own=own * 2 >= max_held_threads())
            return False
        self._waiting.remove(greatest)
        self._refuse(greatest, is_own=True)
        return True

    def _give_up(self, ticket: _Ticket) -> None:
        with self._lock:
            if not ticket.settled.is_set():
                self._waiting.remove(ticket)
                self._refuse(ticket, is_own=self._is_share_used(ticket))

    def _refuse(self, ticket: _Ticket, *, is_own: bool) -> None:
        again = f"Try again in {RETRY_SECONDS} seconds."
        if is_own:
            message = f"You have as many {ticket.lane.what} under way as one caller may have. {again}"
            ticket.refusal = TooManyAtOnce(message, retry_after=RETRY_SECONDS)
        else:
            message = f"There are as many {ticket.lane.what} under way as are taken at once. {again}"
            ticket.refusal = LaneFull(message)
        ticket.settled.set()


_admission = _Admission()
# The lanes in which this thread has a slot.
_this_thread = threading.local()
