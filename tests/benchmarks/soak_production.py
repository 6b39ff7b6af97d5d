"""Print jobs through a hot folder while senders are killed, the disk fills up and reports come in any order.

Each sender is a process of its own with the worker's own code. The press takes what lies in the hot folder, counts
it, and reports: reordered, late and twice. With fewer orders (`--count 100`) there are a fifth as many kills. It ends
after PATIENCE at the latest, and says what was still on its way; the seed is printed, and `SOAK_SEED` repeats it.
"""

import asyncio
import errno
import json
import mmap
import os
import random
import shutil
import signal
import statistics
import tempfile
import time
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.benchmarks.soak_scene import fresh_world

ORDERS, KILLS, SENDERS = 1000, 200, 2
FAULT_SHARE = 0.1
# One in so many orders is calm, for the time from accepted to sent; so many are accepted in a second.
CALM_SHARE, RATE = 5, 10
PATIENCE, PROGRESS_SECONDS = 900, 15
P95_SECONDS = 2.0
MARK = f"0 lost, 0 doubled, every history complete; accepted to sent p95 at most {P95_SECONDS:.0f} s"
KILLED, CALM_BYTE = 0, 4


class Shared:
    """A few bytes that all processes see."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 64)

    @property
    def kills(self) -> int:
        return int.from_bytes(self.memory[KILLED : KILLED + 4], "big")

    def count_kill(self) -> None:
        self.memory[KILLED : KILLED + 4] = (self.kills + 1).to_bytes(4, "big")

    @property
    def is_calm(self) -> bool:
        return self.memory[CALM_BYTE] == 1

    @is_calm.setter
    def is_calm(self, value: bool) -> None:
        self.memory[CALM_BYTE] = int(value)


class Press:
    """Takes, counts and reports; a job that comes twice is seen here."""

    def __init__(self, hot: Path, back: Path, chance: random.Random) -> None:
        self.hot, self.back, self.chance = hot, back, chance
        self.taken: Counter[str] = Counter()
        self.waiting: list[tuple[float, str, str]] = []
        self.incomplete: list[str] = []
        self.shelf = back.parent / "taken"
        self.shelf.mkdir()

    def look(self) -> None:
        for folder in self.hot.iterdir():
            if not folder.name.startswith("."):
                self._take(folder)
        now = time.monotonic()
        due = [one for one in self.waiting if one[0] <= now]
        self.waiting = [one for one in self.waiting if one[0] > now]
        for _, number, state in due:
            self._report(number, state)

    def _take(self, folder: Path) -> None:
        names = {path.suffix for path in folder.iterdir()}
        number = folder.name
        if names != {".json", ".xjdf"}:
            self.incomplete.append(f"{number}: {sorted(names)}")
        folder.rename(self.shelf / f"{number}-{time.time_ns()}")
        self.taken[number] += 1
        now = time.monotonic()
        for state in ("InProduction", "Shipped"):
            for _ in range(2 if self.chance.random() < FAULT_SHARE else 1):
                self.waiting.append((now + self.chance.uniform(0.2, 6), number, state))

    def _report(self, number: str, state: str) -> None:
        values = {"JobNumber": number, "State": state, "ReportID": f"{number}-{state}"}
        # Late ones say when it was.
        values["At"] = (datetime.now(UTC) - timedelta(seconds=self.chance.uniform(0, 60))).isoformat()
        if state == "Shipped":
            values |= {"Carrier": "UPS", "TrackingNumber": f"1Z{number}"}
        draft = self.back / f".{number}-{time.time_ns()}.tmp"
        draft.write_text(json.dumps(values))
        draft.rename(self.back / f"{number}-{time.time_ns()}.json")


def measure(orders: int = ORDERS, *, kills: int | None = None, rate: float = RATE) -> list[str]:
    """A failed run leaves its folders behind; their place is printed."""
    from django.conf import settings

    calm = max(orders // CALM_SHARE, 2)
    kills = KILLS * orders // ORDERS if kills is None else kills
    seed = int(os.environ.get("SOAK_SEED") or time.time())
    print(f"   seed {seed}, {orders} orders, {kills} kills, {PATIENCE} s at most", flush=True)
    with tempfile.TemporaryDirectory(prefix="soak-production-") as root:
        settings.PRODUCTION_FOLDERS = [root]
        placed = _placed(orders)
        press, shared = _scene(Path(root), seed), Shared()
        began = time.monotonic()
        senders = _run(placed, press, shared, kills=kills, calm=calm, rate=rate)
        took = time.monotonic() - began
        lines = _report(press, shared, placed[1:calm], kills=kills, took=took, senders=senders)
        if len(lines) > 1:
            kept = Path(tempfile.mkdtemp(prefix="soak-production-failed-"))
            shutil.copytree(root, kept, dirs_exist_ok=True)
            print(f"   SOAK_SEED={seed} repeats it; the folders of the press are in {kept}", flush=True)
        return lines


def _placed(count: int) -> list[Any]:
    """All of them before anything is sent: placing is no part of it."""
    from stores.orders.models import Order
    from tests.factories.orders import order_body
    from tests.support.order_helpers import Shop

    world = fresh_world()
    from accounts.selectors.subscriptions import subscription_keys

    world.keys[world.application.pk] = subscription_keys(world.application.subscription)["primary"]
    shop, client = Shop(world), world.as_application()
    keys = []
    for _ in range(count):
        answer = shop.place(client, order_body())
        assert answer.status_code == 201, answer.content
        keys.append(answer.json()["OrderID"])
    return [Order.objects.select_related("store").get(pk=key) for key in keys]


def _scene(root: Path, seed: int) -> Press:
    from tests.factories.production import make_provider, make_rule

    provider = make_provider(root)
    make_rule(provider)
    folders = [Path(provider.settings[name]) for name in ("folder", "return_folder")]
    return Press(folders[0], folders[1], random.Random(seed))


def _run(placed: list[Any], press: Press, shared: Shared, *, kills: int, calm: int, rate: float) -> int:
    """Returns how many senders there were in all."""
    from tests.factories.production import accept

    shared.is_calm = True
    share = min(0.5, 1.3 * kills / max(len(placed) - calm, 1))
    senders = {_start(shared, kills, share, number) for number in range(SENDERS)}
    started, deadline, next_accept = len(senders), time.monotonic() + PATIENCE, 0.0
    next_word = time.monotonic() + PROGRESS_SECONDS
    left = list(enumerate(placed))
    try:
        while time.monotonic() < deadline and (left or not _is_over(len(placed))):
            # The first one shows that a sender has started; it is not measured.
            while left and time.monotonic() >= next_accept and (len(left) != len(placed) - 1 or _is_begun()):
                if left[0][0] == calm and shared.is_calm:
                    # All calm ones have left before anything is hurt, or their times would be those of faults.
                    if not _are_sent(calm) and time.monotonic() < deadline - PATIENCE / 2:
                        break
                    shared.is_calm = False
                _, order = left.pop(0)
                accept(order)
                next_accept = max(next_accept + 1 / rate, time.monotonic() - 1)
            press.look()
            for pid in [pid for pid in senders if _has_ended(pid)]:
                senders.discard(pid)
                started += 1
                senders.add(_start(shared, kills, share, started))
            if time.monotonic() >= next_word:
                next_word += PROGRESS_SECONDS
                print(
                    f"   {sum(press.taken.values())} of {len(placed)} at the press, {shared.kills} kills",
                    flush=True,
                )
            time.sleep(0.02)
    finally:
        for pid in senders:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
    return started


def _is_begun() -> bool:
    from production.jobs.models import Job

    return Job.objects.filter(sent__isnull=False).exists()


def _are_sent(count: int) -> bool:
    from production.jobs.models import Job

    return Job.objects.filter(sent__isnull=False).count() >= count


def _is_over(count: int) -> bool:
    from production.jobs.models import Job

    if int(time.monotonic() * 10) % 10:
        return False
    return Job.objects.filter(state="Shipped").count() == count


def _has_ended(pid: int) -> bool:
    return os.waitpid(pid, os.WNOHANG)[0] == pid


def _start(shared: Shared, kills: int, share: float, number: int) -> int:
    """A process has its own connections: those of this one are closed before it begins."""
    from django.db import connections

    connections.close_all()
    pid = os.fork()
    if pid:
        return pid
    try:
        _hurt(shared, kills, share, random.Random(number * 7919 + os.getpid()))
        _send()
    finally:
        os._exit(1)


def _send() -> None:
    from production.jobs.sending import JobSender

    async def run() -> None:
        await JobSender().poll_due()

    asyncio.run(run())


def _hurt(shared: Shared, kills: int, share: float, chance: random.Random) -> None:
    """Faults in this process: a full disk, an answer that is lost, a kill between write and rename."""
    from production.adapters import folder
    from production.adapters.interface import ProviderUnavailable

    move, submit, write = folder.FolderAdapter._move, folder.FolderAdapter.submit, folder.write_synced

    def killing_move(self: Any, entry: Any) -> None:
        if not shared.is_calm and shared.kills < kills and chance.random() < share:
            shared.count_kill()
            os.kill(os.getpid(), signal.SIGKILL)
        move(self, entry)

    def losing_submit(self: Any, job: Any) -> Any:
        answer = submit(self, job)
        if not shared.is_calm and chance.random() < FAULT_SHARE / 2:
            raise ProviderUnavailable("The connection was cut after it was taken.")
        return answer

    def full_write(path: Path, content: bytes) -> None:
        if not shared.is_calm and chance.random() < FAULT_SHARE / 4:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write(path, content)

    folder.FolderAdapter._move, folder.FolderAdapter.submit = killing_move, losing_submit
    folder.write_synced = full_write


def _report(
    press: Press, shared: Shared, calm: list[Any], *, kills: int, took: float, senders: int
) -> list[str]:
    from production.jobs.models import Attempt, Job

    jobs = list(Job.objects.values_list("number", "state"))
    lost = [number for number, _ in jobs if number not in press.taken]
    doubled = [number for number, count in press.taken.items() if count > 1]
    histories = _wrong_histories()
    wrong = _wrong_jobs(press, jobs) + histories
    if took >= PATIENCE:
        wrong.append(f"not over after {PATIENCE} s: {dict(Counter(state for _, state in jobs))}")
    if shared.kills < kills:
        wrong.append(f"only {shared.kills} of {kills} kills")
    calm_jobs = Job.objects.filter(order__in=[order.pk for order in calm], sent__isnull=False)
    waits = sorted((job.sent - job.created).total_seconds() for job in calm_jobs)
    p95 = statistics.quantiles(waits, n=20)[-1] if len(waits) > 1 else float("inf")
    if p95 > P95_SECONDS:
        wrong.append(f"accepted to sent p95 {p95:.2f} s")
    outcomes = Counter(Attempt.objects.values_list("outcome", flat=True))
    lines = [
        f"{len(lost)} lost, {len(doubled)} doubled, {len(histories)} incomplete of {len(jobs)} jobs in {took:.0f} s; "
        f"accepted to sent p50 {statistics.median(waits or [0]):.2f} s, p95 {p95:.2f} s of {len(waits)} calm ones; "
        f"{shared.kills} kills between write and rename, {senders} senders; exchanges {dict(outcomes)}"
    ]
    lines += [f"FAILED: {each}" for each in wrong]
    print(*lines, sep="\n", flush=True)
    return lines


def _wrong_jobs(press: Press, jobs: list[tuple[str, str]]) -> list[str]:
    numbers = {number for number, _ in jobs}
    wrong = [f"{number} came {count} times" for number, count in press.taken.items() if count > 1]
    wrong += [f"{number} never came" for number in numbers - press.taken.keys()]
    wrong += [f"{number} is no job" for number in press.taken.keys() - numbers]
    wrong += [f"{number} is {state}" for number, state in jobs if state != "Shipped"]
    return [*wrong[:20], *press.incomplete[:20]]


def _wrong_histories() -> list[str]:
    from production.jobs.models import Attempt, JobHistory
    from stores.orders.models import Order

    wrong = []
    if left := Attempt.objects.filter(outcome="").count():
        wrong.append(f"{left} exchanges without an outcome")
    states: dict[int, list[str]] = {}
    for job, state in JobHistory.objects.order_by("id").values_list("job", "state"):
        states.setdefault(job, []).append(state)
    incomplete = [one for one in states.values() if one[0] != "Queued" or one[-1] != "Shipped"]
    if incomplete:
        wrong.append(f"{len(incomplete)} histories such as {incomplete[0]}")
    unshipped = Order.objects.exclude(status=60)[:5]
    wrong += [f"order {order} is {order.get_status_display()}" for order in unshipped]
    doubled = sum(
        len(one) != len(set(one)) for one in Order.objects.values_list("tracking_numbers", flat=True)
    )
    return [*wrong, *([f"{doubled} orders with a parcel twice"] if doubled else [])]
