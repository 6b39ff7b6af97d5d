"""Concurrency limits: how much work of one kind a process does at once, in total and for one caller.

They keep threads free for cheap requests. Above a limit a request waits, as long as threads for that are left. Then it
is refused before the work: TooManyAtOnce where the caller's own work is at its limit, else ServiceBusy. Each app
declares the limits of its work in `concurrency_limits`.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from fulfillment.core.errors import ServiceBusy, TooManyAtOnce
from fulfillment.core.observability.instruments import count_refusal
from printing import bounded, waiting

# The client address of this thread's request: the caller, when there is no user or application.
client_address: ContextVar[str] = ContextVar("address", default="this process")
# Browsers open six connections at once: one may hold all threads for limited work, and others one further thread.
from_browser: ContextVar[bool] = ContextVar("from_browser", default=False)
_kinds_of_this_thread: ContextVar[tuple[str, ...]] = ContextVar("kinds", default=())
# Collecting garbage may close a stream at any moment, also while this thread holds the lock.
_changed = threading.Condition(threading.RLock())
# Kind and caller of all work under way; threads are one more kind.
_under_way: list[tuple[str, str]] = []
# Callers of requests that hold a thread and wait for a slot, and callers that ask for the thread of such a request.
_waiting: list[str] = []
_asking: list[str] = []
# A request that gives way wakes at once; on a machine without processor time it may not.
GIVING_WAY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Held:
    """What limited work holds: `slot` counts among its kind and may be closed before the work ends, `whole` is all of
    it, with the thread."""

    whole: ExitStack = field(default_factory=ExitStack)
    slot: ExitStack = field(default_factory=ExitStack)


@dataclass(frozen=True, slots=True)
class ConcurrencyLimit:
    """`work` names what it limits in messages, in the plural; `setting` names the setting with the limit.

    With `one_for_each` a caller who has none in progress may begin one above the limit, while limited work of other
    kinds keeps a thread.
    """

    name: str
    work: str | Promise
    setting: str
    one_for_each: bool = False

    @property
    def limit(self) -> int:
        return int(getattr(settings, self.setting))

    @property
    def per_caller_limit(self) -> int:
        """One less than for all, so that another caller finds room."""
        return max(1, self.limit - 1)

    @contextmanager
    def slot(self, caller: str = "", *, wait: float | None = None) -> Iterator[Held]:
        """Holds a slot in the block, outside of transactions: it may wait. `caller` defaults to the address."""
        if self.name in (kinds := _kinds_of_this_thread.get()):
            yield Held()
            return
        held = self._acquire(caller, wait)
        with held.whole:
            token, of_engine = _kinds_of_this_thread.set((*kinds, self.name)), bounded.caller.set(caller)
            before = waiting.waited_before.get() if kinds else waiting.waited_seconds()
            of_waits = waiting.waited_before.set(before)
            try:
                yield held
            finally:
                waiting.waited_before.reset(of_waits)
                bounded.caller.reset(of_engine)
                _kinds_of_this_thread.reset(token)

    def stream(self, pieces: Iterator[bytes], caller: str) -> "LimitedStream":
        """Streams a response that counts until it is sent: a slow reader occupies a thread."""
        return LimitedStream(pieces, self._acquire(caller, None).whole)

    def _acquire(self, caller: str, wait: float | None) -> Held:
        """Counts work until what is held is closed."""
        caller = caller or f"address:{client_address.get()}"
        seconds = settings.CONCURRENCY_WAIT_SECONDS if wait is None else wait
        with _changed, ExitStack() as stack:
            # Work inside other limited work needs no further thread, and has begun: it gives way to none.
            is_inner = bool(_kinds_of_this_thread.get())
            if not is_inner:
                self._count_thread(stack, caller)
            slot = stack.enter_context(ExitStack())
            with _list_caller([] if is_inner else _waiting, caller):
                self._count_work(slot, self.name, caller, self._find_limits, seconds)
            return Held(stack.pop_all(), slot)

    def _find_limits(self, caller: str) -> tuple[int, int]:
        """The limits in total and for this caller."""
        is_first = self.one_for_each and (self.name, caller) not in _under_way
        return max(self.limit, max_held_threads() if is_first else 0), self.per_caller_limit

    def _count_thread(self, stack: ExitStack, caller: str) -> None:
        """A caller that holds no thread takes that of a waiting request whose caller holds several."""
        may_ask = ("threads", caller) not in _under_way and any(map(_holds_several, _waiting))
        with _list_caller(_asking if may_ask else [], caller):
            _changed.notify_all()
            self._count_work(stack, "threads", caller, _thread_limits, GIVING_WAY_SECONDS if may_ask else 0)

    def _count_work(
        self, stack: ExitStack, kind: str, caller: str, limits: Callable[[str], tuple[int, int]], wait: float
    ) -> None:
        def is_at_limit() -> tuple[bool, bool]:
            callers = [holder for name, holder in tuple(_under_way) if name == kind]
            most, most_of_caller = limits(caller)
            return len(callers) >= most, callers.count(caller) >= most_of_caller

        _changed.wait_for(lambda: not any(is_at_limit()) or _gives_way(caller), wait)
        if any(is_at_limit()):
            count_refusal(f"concurrency: {self.name}")
            again = _("Try again in %(retry_after)s seconds.") % {"retry_after": ServiceBusy.retry_after}
            if is_at_limit()[1]:
                raise TooManyAtOnce(
                    _("You already have as many %(work)s in progress as one caller may have. %(again)s")
                    % {"work": self.work, "again": again}
                )
            raise ServiceBusy(
                _("The service already has as many %(work)s in progress as it accepts. %(again)s")
                % {"work": self.work, "again": again}
            )
        _under_way.append((kind, caller))
        stack.callback(_release, kind, caller)


FILES = ConcurrencyLimit("files", gettext_lazy("files to read or write"), "FILES_CONCURRENCY")


def slot_if(is_long: bool, caller: str) -> AbstractContextManager[Any]:
    """A slot of FILES for a response that takes a thread some 50 ms or more; others wait for none."""
    return FILES.slot(caller) if is_long else nullcontext()


class LimitedStream:
    """Holds what was acquired until the web server closes the stream, which it does at the end and after an error."""

    def __init__(self, pieces: Iterator[bytes], acquired: ExitStack) -> None:
        self._pieces, self._acquired = pieces, acquired

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        with self._acquired:
            getattr(self._pieces, "close", bool)()

    __del__ = close


def max_held_threads() -> int:
    """How many threads of this process limited work may hold: a quarter, at least one, stays free."""
    return max(1, settings.WEB_THREADS - max(1, settings.WEB_THREADS // 4))


def max_threads_per_caller() -> int:
    """Two thirds of them, so that another caller finds one at once."""
    return max(1, max_held_threads() * 2 // 3)


def _thread_limits(caller: str) -> tuple[int, int]:
    """The limits in total and for this caller. Who holds no thread may take a free one, if a second one stays free."""
    max_held, free = max_held_threads(), settings.WEB_THREADS - max_held_threads()
    is_first = ("threads", caller) not in _under_way
    return max_held + (is_first and free > 1), max_held if from_browser.get() else max_threads_per_caller()


@contextmanager
def _list_caller(callers: list[str], caller: str) -> Iterator[None]:
    callers.append(caller)
    try:
        yield
    finally:
        callers.remove(caller)


def _holds_several(caller: str) -> bool:
    return _under_way.count(("threads", caller)) > 1


def _gives_way(caller: str) -> bool:
    """Whether a waiting request of this caller gives up its thread, because one who asks finds none."""
    held_threads = sum(kind == "threads" for kind, _caller in tuple(_under_way))
    return _holds_several(caller) and any(held_threads >= _thread_limits(other)[0] for other in _asking)


def _release(kind: str, caller: str) -> None:
    with _changed:
        _under_way.remove((kind, caller))
        _changed.notify_all()
