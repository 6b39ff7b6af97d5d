"""Lanes for expensive work: a few at once in each process, a share for each caller, and a short wait.

A web process answers with a handful of threads. What takes long (typesetting, large orders, password hashing,
decoding of pictures, reading of files) goes through a lane, so that threads stay free for cheap requests:

- A place is held while the work is done. A lane has `limit` of them, and one caller gets `share` at most.
- A request that finds no place waits for a moment. Places go to the caller with the least under way.
- Working and waiting together hold `most_held()` threads at most. A caller who fills them makes room for another
  one: the newest of his waiting requests is refused.
- Refused is TooManyAtOnce (429) where the caller's own requests are in the way, else LaneFull (503); both with
  Retry-After, and before any of the work is done.

All of it is counted in this process alone: so many processes, so many times the limits.
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
# Who is behind the request of this thread, where no better is known: its address.
address_here: ContextVar[str] = ContextVar("address", default="this process")


class LaneFull(Unavailable):
    """Others have as much of this under way as the service takes at once."""

    code = "service_busy"
    retry_after = RETRY_SECONDS


class TooManyAtOnce(TooManyRequests):
    """The caller has as much of this under way as one may have."""

    code = "too_many_at_once"


@dataclass(frozen=True, slots=True)
class Lane:
    """`what` goes through it, in the plural; the limit is the setting of that name."""

    name: str
    what: str
    setting: str

    @property
    def limit(self) -> int:
        return int(getattr(settings, self.setting))

    @property
    def share(self) -> int:
        """Of one caller; smaller than the lane, so that another one finds a place."""
        return max(1, self.limit - 1)

    @contextmanager
    def place(self, caller: str = "", *, wait: float | None = None) -> Iterator[None]:
        """Holds a place; raises LaneFull or TooManyAtOnce. `caller` is a user or an application, else the address.

        Ask for it outside of any transaction, for it may wait. A place within another one holds no further thread.
        """
        held: list[str] = _here.__dict__.setdefault("lanes", [])
        if self.name in held:
            yield
            return
        ticket = _room.enter(self, caller, wait, is_inner=bool(held))
        held.append(self.name)
        try:
            yield
        finally:
            held.remove(self.name)
            _room.leave(ticket)

    def stream(self, pieces: Iterator[bytes], caller: str) -> "Stream":
        """The pieces of an answer, with a place until the last of them is sent: a slow reader holds a thread."""
        return Stream(pieces, _room.enter(self, caller, None))


RENDERINGS = Lane("renderings", "renderings", "RENDERINGS_AT_ONCE")
ORDERS = Lane("orders", "orders with print files", "ORDERS_AT_ONCE")
LARGE_ORDERS = Lane("large orders", "orders and quotes of many items", "LARGE_ORDERS_AT_ONCE")
PASSWORDS = Lane("passwords", "passwords to check", "PASSWORDS_AT_ONCE")
PICTURES = Lane("pictures", "pictures to read", "PICTURES_AT_ONCE")
FILES = Lane("files", "files to read or write", "FILES_AT_ONCE")
SELECTIONS = Lane("selections", "selections of routes", "SELECTIONS_AT_ONCE")
# All strangers at the start page are one caller: what they have drawn takes one renderer at most.
LIVE_PROOFS = Lane("live proofs", "live proofs of the start page", "LIVE_PROOFS_AT_ONCE")
LANES = (RENDERINGS, ORDERS, LARGE_ORDERS, PASSWORDS, PICTURES, FILES, SELECTIONS)


def most_held() -> int:
    """How many threads of this process expensive work may hold: a quarter of all, one at least, stays free."""
    threads = int(settings.WEB_THREADS)
    return max(1, threads - max(1, threads // 4))


class Stream:
    """Closed by the web server when the answer has ended, however it ended."""

    def __init__(self, pieces: Iterator[bytes], ticket: "_Ticket") -> None:
        self._pieces, self._ticket = pieces, ticket

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        try:
            getattr(self._pieces, "close", bool)()
        finally:
            _room.leave(self._ticket)

    __del__ = close


def lane_errors(what: str) -> dict[int, str]:
    """For the description of an operation that takes a place."""
    again = "try again after Retry-After seconds."
    return {
        429: "The subscription has had its requests of this minute, or the caller has as many "
        f"{what} under way as one may have (`too_many_at_once`); {again}",
        503: "The database or the file storage is away, or there are as many "
        f"{what} under way as are taken at once (`service_busy`); {again}",
    }


@dataclass(slots=True, eq=False)
class _Ticket:
    """An inner one is of a thread that holds a place already."""

    lane: Lane
    caller: str
    is_inner: bool
    settled: threading.Event = field(default_factory=threading.Event)
    refusal: Exception | None = None
    is_exceeded: bool = False


class _Room:
    """What is under way and what waits in this process."""

    def __init__(self) -> None:
        # Collecting garbage may close a stream at any moment, also while this thread holds the lock.
        self._lock = threading.RLock()
        self._waiting: list[_Ticket] = []
        self._places: Counter[str] = Counter()
        self._shares: Counter[tuple[str, str]] = Counter()
        # Threads at work.
        self._callers: Counter[str] = Counter()

    def enter(self, lane: Lane, caller: str, wait: float | None, *, is_inner: bool = False) -> _Ticket:
        ticket = _Ticket(lane, caller or f"address:{address_here.get()}", is_inner)
        with self._lock:
            if self._may_start(ticket):
                self._start(ticket)
            elif ticket.is_inner or self._make_room(ticket):
                self._waiting.append(ticket)
                self._start_waiting()
        if not ticket.settled.wait(settings.LANE_WAIT_SECONDS if wait is None else wait):
            self._give_up(ticket)
        if ticket.refusal is not None:
            count_refusal(f"lane: {lane.name}")
            raise ticket.refusal
        return ticket

    def leave(self, ticket: _Ticket) -> None:
        with self._lock:
            if not ticket.is_exceeded:
                ticket.is_exceeded = True
                self._count(ticket, -1)
                self._start_waiting()

    def _may_start(self, ticket: _Ticket) -> bool:
        if self._is_share_used(ticket) or self._places[ticket.lane.name] >= ticket.lane.limit:
            return False
        return ticket.is_inner or self._held() < most_held()

    def _is_share_used(self, ticket: _Ticket) -> bool:
        """Of the lane, or of all threads."""
        if self._shares[ticket.lane.name, ticket.caller] >= ticket.lane.share:
            return True
        return not ticket.is_inner and self._callers[ticket.caller] >= -(-most_held() // 2)

    def _held(self) -> int:
        return self._callers.total() + sum(not one.is_inner for one in self._waiting)

    def _held_by(self, caller: str) -> int:
        return self._callers[caller] + sum(not one.is_inner for one in self._waiting if one.caller == caller)

    def _start(self, ticket: _Ticket) -> None:
        self._count(ticket, 1)
        ticket.settled.set()

    def _count(self, ticket: _Ticket, by: int) -> None:
        self._places[ticket.lane.name] += by
        self._add(self._shares, (ticket.lane.name, ticket.caller), by)
        if not ticket.is_inner:
            self._add(self._callers, ticket.caller, by)

    @staticmethod
    def _add(counter: Counter[Any], key: object, by: int) -> None:
        """A caller with nothing under way is forgotten."""
        counter[key] += by
        if not counter[key]:
            del counter[key]

    def _start_waiting(self) -> None:
        """Of two callers, the one with less at work comes first; of two requests of one caller, the older."""
        left = self._waiting
        while ready := [one for one in left if self._may_start_waiting(one)]:
            first = min(ready, key=lambda one: self._shares[one.lane.name, one.caller])
            left.remove(first)
            self._start(first)

    def _may_start_waiting(self, ticket: _Ticket) -> bool:
        """It holds its thread already."""
        return not self._is_share_used(ticket) and self._places[ticket.lane.name] < ticket.lane.limit

    def _make_room(self, ticket: _Ticket) -> bool:
        """For one more thread: the newest waiting one of a caller who holds at least two more than this one goes."""
        if self._held() < most_held():
            return True
        own = self._held_by(ticket.caller)
        waiting = [one for one in reversed(self._waiting) if not one.is_inner]
        greatest = max(waiting, key=lambda one: self._held_by(one.caller), default=None)
        if greatest is None or self._held_by(greatest.caller) < own + 2:
            self._refuse(ticket, is_own=own * 2 >= most_held())
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


_room = _Room()
# The lanes in which this thread has a place.
_here = threading.local()
