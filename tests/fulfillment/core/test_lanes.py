"""Slots for expensive work under real concurrency: threads hold them until released."""

import threading
import time
from collections import Counter

import pytest
from django.contrib.auth.hashers import check_password, make_password

from fulfillment.core import lanes
from fulfillment.core.lanes import (
    FILES,
    LANES,
    PASSWORDS,
    RENDERINGS,
    LaneFull,
    TooManyAtOnce,
    max_held_threads,
)
from tests.support.patience import PATIENCE, wait_for


@pytest.fixture(autouse=True)
def _eight_threads(settings):
    settings.WEB_THREADS = 8
    settings.RENDERINGS_AT_ONCE, settings.FILES_AT_ONCE, settings.LANE_WAIT_SECONDS = 3, 2, PATIENCE


class Crowd:
    """Requests that hold a place until `go`; `started` and `refused` tell of whom."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.started, self.refused = [], []
        self.threads = []

    def send(self, caller, count=1, *, lane=RENDERINGS, wait=None) -> None:
        for _ in range(count):
            thread = threading.Thread(target=self._work, args=(caller, lane, wait), daemon=True)
            self.threads.append(thread)
            thread.start()
            time.sleep(0.01)

    def _work(self, caller, lane, wait) -> None:
        try:
            with lane.slot(caller, wait=wait):
                self.started.append(caller)
                self.go.wait(PATIENCE)
        except (LaneFull, TooManyAtOnce) as error:
            self.refused.append((caller, type(error)))

    def end(self) -> None:
        self.go.set()
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()


@pytest.fixture
def crowd():
    crowd = Crowd()
    yield crowd
    crowd.end()
    # No slot is held afterwards.
    assert not lanes._admission._callers
    assert not lanes._admission._shares
    assert not lanes._admission._waiting
    assert not lanes._admission._slots.total()


def test_caller_who_fills_the_lane_leaves_a_place_to_another(crowd):
    crowd.send("greedy", 8)
    crowd.send("good")
    wait_for(lambda: "good" in crowd.started)

    # Beside all of those who began before it: none of them ends before `go`.
    assert not crowd.go.is_set()
    assert Counter(crowd.started) == {"greedy": RENDERINGS.share, "good": 1}


def test_work_holds_at_most_three_quarters_of_the_threads(crowd):
    crowd.send("greedy", 20)
    wait_for(lambda: len(crowd.refused) == 20 - max_held_threads())

    # Refused at once, and not after the wait: no thread stands there.
    assert max_held_threads() == 6
    assert {kind for _, kind in crowd.refused} == {TooManyAtOnce}


def test_second_caller_takes_the_room_of_the_newest_waiting_request(crowd):
    crowd.send("greedy", 6)
    crowd.send("good", 2)
    wait_for(lambda: crowd.refused)
    crowd.end()

    assert Counter(crowd.started) == {"greedy": 4, "good": 2}
    assert crowd.refused == [("greedy", TooManyAtOnce)] * 2


def test_waiting_request_is_refused_in_time_with_retry_after(crowd):
    crowd.send("first", 2)
    crowd.send("second", 1)
    wait_for(lambda: len(crowd.started) == 3)

    with pytest.raises(LaneFull) as others, RENDERINGS.slot("third", wait=0.1):
        pass
    with pytest.raises(TooManyAtOnce) as own, RENDERINGS.slot("first", wait=0.1):
        pass

    assert (others.value.status, others.value.code, others.value.retry_after) == (503, "service_busy", 2)
    assert (own.value.status, own.value.code, own.value.retry_after) == (429, "too_many_at_once", 2)


def test_slots_go_to_the_caller_with_the_fewest_running(crowd, settings):
    settings.RENDERINGS_AT_ONCE = 2
    order, ends = [], [threading.Event() for _ in range(5)]

    def work(caller):
        with RENDERINGS.slot(caller):
            order.append(caller)
            ends[len(order) - 1].wait(PATIENCE)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "a", "a", "b", "b")]
    for number, thread in enumerate(threads, 1):
        thread.start()
        wait_for(lambda number=number: len(order) + len(lanes._admission._waiting) == number, every=0.001)
    # They end in the order in which they started; the next one starts before another ends.
    for number, end in enumerate(ends):
        wait_for(lambda number=number: len(order) == min(number + 2, len(ends)), every=0.001)
        end.set()
    for thread in threads:
        thread.join()

    assert order == ["a", "b", "a", "b", "a"]


def test_place_within_a_place_holds_no_further_thread(crowd):
    with FILES.slot("one"), RENDERINGS.slot("one"), RENDERINGS.slot("one"):
        assert lanes._admission._held() == 1
        crowd.send("two", max_held_threads() - 1, lane=RENDERINGS)
        assert lanes._admission._held() == max_held_threads()


def test_stream_holds_its_slot_until_it_is_closed():
    pieces = FILES.stream(iter([b"a", b"b"]), "one")
    assert list(pieces) == [b"a", b"b"]
    with pytest.raises(TooManyAtOnce), FILES.slot("one", wait=0.01):
        pass

    pieces.close()
    pieces.close()

    with FILES.slot("one", wait=0.01):
        pass
    assert lanes._admission._held() == 0


def test_stream_that_is_dropped_unread_gives_its_place_back():
    FILES.stream(iter([b"a"]), "one")

    assert lanes._admission._held() == 0


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 6, 16])
def test_one_thread_at_least_stays_free(threads, settings):
    settings.WEB_THREADS = threads

    assert max_held_threads() == {1: 1, 2: 1, 3: 2, 4: 3, 6: 5, 16: 12}[threads]


def test_share_is_smaller_than_every_lane():
    assert all(lane.share < lane.limit for lane in LANES)


def test_work_that_fails_gives_its_place_back():
    for _ in range(10):
        with pytest.raises(ZeroDivisionError), PASSWORDS.slot("one", wait=0.01):
            raise ZeroDivisionError

    assert lanes._admission._held() == 0


@pytest.mark.parametrize("hasher", ["accounts.hashers.Argon2", "accounts.hashers.PBKDF2"])
def test_password_is_hashed_in_its_lane(settings, hasher):
    settings.PASSWORD_HASHERS = [hasher]
    hashed = make_password("paper-river-lantern")
    assert check_password("paper-river-lantern", hashed)

    settings.LANE_WAIT_SECONDS = 0.05
    holder = PASSWORDS.stream(iter([]), "")
    with pytest.raises(TooManyAtOnce):
        check_password("paper-river-lantern", hashed)
    holder.close()

    assert check_password("paper-river-lantern", hashed)


def test_hundreds_of_requests_keep_every_limit(crowd, settings):
    """At random: never more at once than the lane and the share allow, and all places come back."""
    settings.LANE_WAIT_SECONDS = 1
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
            except (LaneFull, TooManyAtOnce):
                time.sleep(0.001)

    threads = [threading.Thread(target=work, args=(f"caller {number % 4}",)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most["all"] <= RENDERINGS.limit
    assert max(count for name, count in most.items() if name != "all") <= RENDERINGS.share
