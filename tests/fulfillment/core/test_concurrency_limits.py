"""Concurrency limits with real threads, which hold what they acquired until released."""

import threading
import time
from collections import Counter

import pytest
from django.contrib.auth.hashers import check_password, make_password
from django.utils import translation

from accounts.concurrency_limits import PASSWORDS
from fulfillment.core import concurrency_limits
from fulfillment.core.concurrency_limits import (
    FILES,
    ConcurrencyLimit,
    max_held_threads,
    max_threads_per_caller,
)
from fulfillment.core.errors import ServiceBusy, TooManyAtOnce
from fulfillment.core.plugins import offered_modules
from printing import waiting
from printing.bounded import PROJECT
from printing.bounded import caller as engine_caller
from stores.concurrency_limits import HANDLING_LONG_ORDERS, ORDERS, PICTURES, RENDERINGS
from tests.support.patience import PATIENCE, wait_for


@pytest.fixture(autouse=True)
def _eight_threads(settings):
    settings.WEB_THREADS = 8
    settings.RENDERINGS_CONCURRENCY, settings.FILES_CONCURRENCY = 3, 2
    settings.CONCURRENCY_WAIT_SECONDS = PATIENCE
    yield
    # Nothing is counted afterwards.
    assert concurrency_limits._under_way == []


class Crowd:
    """Requests that are under way until `go`; `started` and `refused` hold their callers."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.started, self.refused = [], []
        self.threads = []

    def send(self, caller, count=1, *, limit=RENDERINGS, wait=None, from_browser=False) -> None:
        for _ in range(count):
            thread = threading.Thread(
                target=self._work, args=(caller, limit, wait, from_browser), daemon=True
            )
            self.threads.append(thread)
            held = threads_held()
            thread.start()
            wait_for(
                lambda held=held, thread=thread: threads_held() > held or not thread.is_alive(), every=0.001
            )

    def _work(self, caller, limit, wait, from_browser) -> None:
        concurrency_limits.from_browser.set(from_browser)
        try:
            with limit.slot(caller, wait=wait):
                self.started.append(caller)
                self.go.wait(PATIENCE)
        except (ServiceBusy, TooManyAtOnce) as error:
            self.refused.append((caller, type(error)))

    def end(self) -> None:
        self.go.set()
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()


def threads_held() -> int:
    return sum(kind == "threads" for kind, _ in concurrency_limits._under_way)


@pytest.fixture
def crowd():
    crowd = Crowd()
    yield crowd
    crowd.end()


def test_print_engine_knows_the_caller_of_limited_work():
    with ORDERS.slot("person"):
        with RENDERINGS.slot("person"):
            assert engine_caller.get() == "person"
        assert engine_caller.get() == "person"
    assert not engine_caller.get()


def test_print_engine_knows_what_limited_work_waited():
    with ORDERS.slot("person"):
        for _ in range(2):
            with RENDERINGS.slot("person"), waiting.counted():
                time.sleep(0.01)
        assert waiting.waited_of_request() >= 0.02
    with RENDERINGS.slot("person"):
        assert waiting.waited_of_request() == 0


def test_caller_at_the_limit_leaves_room_to_another(crowd):
    crowd.send("greedy", 8)
    crowd.send("good")
    wait_for(lambda: "good" in crowd.started)

    # Beside all of those who began before it: none of them ends before `go`.
    assert not crowd.go.is_set()
    assert Counter(crowd.started) == {"greedy": RENDERINGS.per_caller_limit, "good": 1}


def test_refusal_names_the_work_in_the_language_of_the_page(crowd):
    crowd.send("person", limit=FILES)

    with translation.override("de"), pytest.raises(TooManyAtOnce) as refused, FILES.slot("person", wait=0):
        pass

    assert "(Dateien, die gelesen oder geschrieben werden)" in refused.value.message


def test_one_caller_holds_two_thirds_of_the_threads_of_limited_work(crowd):
    crowd.send("greedy", 20)

    # Refused at once, and not after the wait: no thread stands there.
    assert max_threads_per_caller() == threads_held() == 4
    assert crowd.refused == [("greedy", TooManyAtOnce)] * 16


def test_document_says_how_much_a_caller_may_have_in_progress():
    text = (PROJECT / "docs" / "api" / "rate-limits.md").read_text("utf-8")

    for work, count in {
        "uploads of pictures and PDFs": PICTURES.per_caller_limit,
        "orders with print files": ORDERS.per_caller_limit,
        "reading and changing orders of more than 20 items, or of more than 16 KB of compressed values, routes and "
        "findings": HANDLING_LONG_ORDERS.per_caller_limit,
        "all of these together, including requests that wait": max_threads_per_caller(),
    }.items():
        assert f"| {work} | {count} |" in text
    assert f"orders from at most {ORDERS.per_caller_limit} workers" in " ".join(text.split())


def test_limited_work_holds_three_quarters_of_the_threads(crowd):
    crowd.send("one", 4)
    crowd.send("two", 4)
    crowd.send("three", 4)

    assert max_held_threads() == 6
    # And one more for who holds none.
    assert threads_held() == 7
    assert Counter(crowd.refused) == {("two", ServiceBusy): 2, ("three", ServiceBusy): 3}


def test_six_requests_of_a_browser_wait_and_leave_a_thread_to_another_caller(crowd):
    crowd.send("browser", 7, from_browser=True)
    crowd.send("program", 2, limit=ORDERS)

    assert Counter(crowd.refused) == {("browser", TooManyAtOnce): 1, ("program", ServiceBusy): 1}
    wait_for(lambda: "program" in crowd.started)
    crowd.end()
    assert Counter(crowd.started) == {"browser": 6, "program": 1}


def test_waiting_request_of_a_busy_caller_gives_its_thread_to_who_holds_none(crowd):
    crowd.send("busy", 6, from_browser=True)
    crowd.send("second", limit=ORDERS)
    assert threads_held() == 7

    with ORDERS.slot("third", wait=0):
        assert threads_held() == 7
    assert crowd.refused == [("busy", TooManyAtOnce)]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_last_free_thread_is_never_held(threads, settings, crowd):
    settings.WEB_THREADS = threads
    for number in range(6):
        crowd.send(f"caller {number}", limit=ORDERS)

    assert threads_held() == max_held_threads()


def test_waiting_request_starts_when_another_one_ends(crowd):
    crowd.send("one", 3)
    assert crowd.started == ["one"] * 2
    crowd.end()

    assert crowd.started == ["one"] * 3


def test_waiting_request_is_refused_in_time_with_retry_after(crowd):
    crowd.send("first", 2)
    crowd.send("second", 1)
    wait_for(lambda: len(crowd.started) == 3)

    with pytest.raises(ServiceBusy) as others, RENDERINGS.slot("third", wait=0.1):
        pass
    with pytest.raises(TooManyAtOnce) as own, RENDERINGS.slot("first", wait=0.1):
        pass

    assert (others.value.status, others.value.code, others.value.retry_after) == (503, "service_busy", 2)
    assert (own.value.status, own.value.code, own.value.retry_after) == (429, "too_many_at_once", 2)


def test_work_within_limited_work_holds_no_further_thread(crowd):
    with FILES.slot("one"), RENDERINGS.slot("one"), RENDERINGS.slot("one"):
        assert threads_held() == 1
        assert concurrency_limits._under_way.count(("renderings", "one")) == 1
        crowd.send("two", 8, limit=ORDERS)
        crowd.send("three", 8, limit=ORDERS)
        assert threads_held() == max_held_threads()


def test_slot_may_end_before_the_work_which_holds_its_thread_on(settings):
    settings.RENDERINGS_CONCURRENCY = 2
    with RENDERINGS.slot("one") as held:
        with RENDERINGS.slot("one") as inner:
            inner.slot.close()
        assert concurrency_limits._under_way == [("threads", "one"), ("renderings", "one")]

        held.slot.close()

        assert concurrency_limits._under_way == [("threads", "one")]


def test_stream_counts_until_it_is_closed():
    pieces = FILES.stream(iter([b"a", b"b"]), "one")
    assert list(pieces) == [b"a", b"b"]
    with pytest.raises(TooManyAtOnce), FILES.slot("one", wait=0.01):
        pass

    pieces.close()
    pieces.close()

    with FILES.slot("one", wait=0.01):
        pass


def test_stream_that_is_dropped_unread_counts_no_longer():
    FILES.stream(iter([b"a"]), "one")

    assert threads_held() == 0


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 6, 8, 16])
def test_one_thread_at_least_stays_free(threads, settings):
    settings.WEB_THREADS = threads
    held, of_one = {1: (1, 1), 2: (1, 1), 3: (2, 1), 4: (3, 2), 6: (5, 3), 8: (6, 4), 16: (12, 8)}[threads]

    assert (max_held_threads(), max_threads_per_caller()) == (held, of_one)


def test_every_app_leaves_room_to_other_callers():
    declared = {
        value.name: value
        for module in (concurrency_limits, *offered_modules("concurrency_limits"))
        for value in vars(module).values()
        if isinstance(value, ConcurrencyLimit)
    }
    alone = {name for name, limit in declared.items() if limit.per_caller_limit >= limit.limit}

    assert alone == {"live proofs"}
    assert len(declared) >= 8


def test_work_that_fails_counts_no_longer():
    for _ in range(10):
        with pytest.raises(ZeroDivisionError), PASSWORDS.slot("one", wait=0.01):
            raise ZeroDivisionError

    assert threads_held() == 0


@pytest.mark.parametrize("hasher", ["accounts.authentication.Argon2", "accounts.authentication.PBKDF2"])
def test_password_hashing_is_limited(settings, hasher):
    settings.PASSWORD_HASHERS = [hasher]
    hashed = make_password("paper-river-lantern")
    assert check_password("paper-river-lantern", hashed)

    settings.CONCURRENCY_WAIT_SECONDS = 0.05
    holder = PASSWORDS.stream(iter([]), "")
    with pytest.raises(TooManyAtOnce):
        check_password("paper-river-lantern", hashed)
    holder.close()

    assert check_password("paper-river-lantern", hashed)


def test_hundreds_of_requests_keep_every_limit(settings):
    """At random: never more at once than the limits allow, and nothing stays counted."""
    settings.CONCURRENCY_WAIT_SECONDS = 1
    lock, now, most = threading.Lock(), Counter(), Counter()

    def work(caller):
        for _ in range(30):
            try:
                with RENDERINGS.slot(caller):
                    with lock:
                        now[caller] += 1
                        most[caller] = max(most[caller], now[caller])
                        most["all"] = max(most["all"], now.total())
                    time.sleep(0.001)
                    with lock:
                        now[caller] -= 1
            except (ServiceBusy, TooManyAtOnce):
                time.sleep(0.001)

    threads = [threading.Thread(target=work, args=(f"caller {number % 4}",)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most["all"] <= RENDERINGS.limit
    assert max(count for name, count in most.items() if name != "all") <= RENDERINGS.per_caller_limit
