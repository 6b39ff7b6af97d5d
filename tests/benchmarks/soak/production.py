"""Print jobs through each adapter while senders are killed, answers are lost and reports come in any order.

Each sender is a process of its own with the worker's own code. Two presses of one kind take the jobs, count them and
report (presses): reordered, late and twice; the first one refuses some. At the end it is switched off, and one
more order shows how long the fail-over takes. With fewer orders (`--count 100`) there are a fifth as many kills. A run
ends after PATIENCE at the latest, and says what was still on its way; the seed is printed, and `SOAK_SEED` repeats it.
"""

import asyncio
import mmap
import os
import random
import signal
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from tests.benchmarks.soak.presses import PRESSES, FolderPress
from tests.benchmarks.soak.scene import fresh_world

ORDERS, KILLS, SENDERS = 1000, 200, 2
# One in so many orders is calm, for the time from accepted to sent.
CALM_SHARE = 5
PATIENCE, PROGRESS_SECONDS = 900, 15
P95_SECONDS, FAIL_OVER_SECONDS = 2.0, 60.0
MARK = (
    f"0 lost, 0 doubled, every history complete; accepted to sent p95 at most {P95_SECONDS:.0f} s; with the next "
    f"provider within {FAIL_OVER_SECONDS:.0f} s"
)


class Shared:
    """Bytes that all processes see: whether the run is calm, and for each victim whether its sender was killed."""

    def __init__(self, victims: Sequence[str]) -> None:
        self._places = {victim: place for place, victim in enumerate(victims, 1)}
        self.memory = mmap.mmap(-1, 1 + len(victims))

    @property
    def kills(self) -> int:
        return sum(self.memory[1:])

    @property
    def spared(self) -> set[str]:
        """Victims for which no sender was killed."""
        return {victim for victim, place in self._places.items() if not self.memory[place]}

    def take_kill(self, number: str) -> bool:
        """Whether the sender of this job is to be killed; true once. One sender at a time has the job."""
        place = self._places.get(number)
        if place is None or self.memory[place]:
            return False
        self.memory[place] = 1
        return True

    @property
    def is_calm(self) -> bool:
        return self.memory[0] == 1

    @is_calm.setter
    def is_calm(self, value: bool) -> None:
        self.memory[0] = int(value)


@dataclass
class Run:
    placed: Sequence[Any]
    presses: Sequence[FolderPress]
    shared: Shared
    calm: int
    rate: float
    items: int
    senders: set[int] = field(default_factory=set)
    started: int = 0

    @property
    def taken(self) -> Counter[str]:
        return sum((press.taken for press in self.presses), Counter())


def measure(
    count: int = ORDERS,
    *,
    kills: int | None = None,
    adapters: Sequence[str] = tuple(PRESSES),
) -> Iterator[str]:
    """One adapter after the other."""
    kills = KILLS * count // ORDERS if kills is None else kills
    for adapter in adapters:
        yield from _measure(adapter, count, kills)


def _measure(adapter: str, orders: int, kills: int) -> Iterator[str]:
    from django.test import override_settings

    seed = int(os.environ.get("SOAK_SEED") or time.time())
    print(f"   {adapter}: seed {seed}, {orders} orders, {kills} kills, {PATIENCE} s at most", flush=True)
    with (
        tempfile.TemporaryDirectory(prefix="soak-production-") as root,
        override_settings(PRODUCTION_FOLDERS=[root], WEBHOOK_ALLOWED_NETWORKS=[ip_network("127.0.0.0/8")]),
    ):
        run = _scene(adapter, Path(root), seed, _placed(orders + 1, PRESSES[adapter].items), kills)
        try:
            began = time.monotonic()
            _run(run)
            took = time.monotonic() - began
            fail_over = _fail_over(run)
        finally:
            _end(run)
        yield from _report(run, adapter, took, fail_over)


def _placed(count: int, items: Sequence[dict[str, Any]]) -> list[Any]:
    """All of them before anything is sent: placing is no part of it."""
    from stores.orders.models import Order
    from tests.factories.orders import card_data, make_card, order_body
    from tests.support.orders.shop import Shop

    world = fresh_world()
    from accounts.selectors.users import subscription_keys

    world.keys[world.application.pk] = subscription_keys(world.application.subscription)["primary"]
    if items[0]["ProductID"] == "card-two-sided":
        make_card(world.associated)
        items = [{**item, "TemplateData": card_data()} for item in items]
    shop, client = Shop(world), world.as_application()
    keys = []
    for _ in range(count):
        response = shop.place(client, order_body(Items=list(items)))
        assert response.status_code == 201, response.content
        keys.append(response.json()["OrderID"])
    return [Order.objects.select_related("store").get(pk=key) for key in keys]


def _scene(adapter: str, root: Path, seed: int, placed: Sequence[Any], kills: int) -> Run:
    from tests.factories.production import make_rule

    calm = max(len(placed) // CALM_SHARE, 2)
    hurt = [f"{order.number}-1" for order in placed[calm:-1]]
    shared = Shared(random.Random(seed).sample(hurt, kills))
    shared.is_calm = True
    presses = [
        PRESSES[adapter](root, code, random.Random(f"{seed}-{code}"), lambda: shared.is_calm)
        for code in ("first", "second")
    ]
    make_rule(*(press.open() for press in presses))
    return Run(placed, presses, shared, calm, PRESSES[adapter].rate, len(PRESSES[adapter].items))


def _run(run: Run) -> None:
    """All orders but the last, which is for the fail-over."""
    from tests.factories.production import accept

    left = list(enumerate(run.placed[:-1]))
    for _ in range(SENDERS):
        _start(run)
    deadline, next_accept = time.monotonic() + PATIENCE, 0.0
    next_word = time.monotonic() + PROGRESS_SECONDS
    while time.monotonic() < deadline and (left or not _is_over((len(run.placed) - 1) * run.items)):
        # The first one shows that a sender has started; it is not measured.
        while left and time.monotonic() >= next_accept and (left[0][0] != 1 or _count_sent() > 0):
            if left[0][0] == run.calm and run.shared.is_calm:
                # All calm ones have left before anything is hurt, or their times would be those of faults.
                if _count_sent() < run.calm * run.items and time.monotonic() < deadline - PATIENCE / 2:
                    break
                run.shared.is_calm = False
            accept(left.pop(0)[1])
            next_accept = max(next_accept + 1 / run.rate, time.monotonic() - 1)
        _look(run)
        if time.monotonic() >= next_word:
            next_word += PROGRESS_SECONDS
            jobs = (len(run.placed) - 1) * run.items
            print(f"   {run.taken.total()} of {jobs} at the presses, {run.shared.kills} kills", flush=True)


def _fail_over(run: Run) -> float:
    """Seconds from accepted to sent while the first press cannot be reached."""
    from production.jobs.models import Job
    from production.providers.services import note_success
    from tests.factories.production import accept

    run.shared.is_calm = True
    # Of a healthy one: it may have failed last in the run.
    note_success(provider=run.presses[0].provider)
    run.presses[0].stop()
    order = run.placed[-1]
    accept(order)
    deadline = time.monotonic() + 3 * FAIL_OVER_SECONDS
    while time.monotonic() < deadline and not _is_over(len(run.placed) * run.items):
        _look(run)
    jobs = Job.objects.filter(order=order)
    sent = jobs.filter(provider=run.presses[1].provider, sent__isnull=False)
    took = [(job.sent - job.created).total_seconds() for job in sent]
    return max(took) if len(took) == run.items else float("inf")


def _look(run: Run) -> None:
    for press in run.presses:
        press.look()
    for pid in [pid for pid in run.senders if os.waitpid(pid, os.WNOHANG)[0] == pid]:
        run.senders.discard(pid)
        _start(run)
    _operate()
    time.sleep(0.02)


def _operate() -> None:
    """As an operator: jobs that a press refuses after a killed sender may have left them there wait for one."""
    from production.dispatch.services.actions import cancel_job, resend_job
    from production.jobs.models import HoldReason, Job, JobState
    from production.jobs.services.recording import SYSTEM

    for job in Job.objects.filter(held=HoldReason.MANUAL, cancel_requested=None):
        cancel_job(job=job, actor=SYSTEM)
    for job in Job.objects.filter(state=JobState.CANCELLED):
        resend_job(job=job, actor=SYSTEM)


def _end(run: Run) -> None:
    for pid in run.senders:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    for press in run.presses:
        press.close()


def _count_sent() -> int:
    from production.jobs.models import Job

    return Job.objects.filter(sent__isnull=False).count()


def _is_over(count: int) -> bool:
    from production.jobs.models import Job

    if int(time.monotonic() * 10) % 10:
        return False
    return Job.objects.filter(state="Shipped").count() == count


def _start(run: Run) -> None:
    """A process has its own connections: those of this one are closed before it begins."""
    from django.db import connections

    connections.close_all()
    run.started += 1
    pid = os.fork()
    if pid:
        run.senders.add(pid)
        return
    try:
        chance = random.Random(run.started * 7919 + os.getpid())
        run.presses[0].hurt(partial(_kill, run.shared), chance)
        _send()
    finally:
        os._exit(1)


def _kill(shared: Shared, number: str) -> None:
    """Ends this process without a clean-up, if the job is a victim."""
    if shared.take_kill(number):
        os.kill(os.getpid(), signal.SIGKILL)


def _send() -> None:
    from production.worker import services

    async def run() -> None:
        await asyncio.gather(*(service.poll_due() for service in services()))

    asyncio.run(run())


def _report(run: Run, adapter: str, took: float, fail_over: float) -> Iterator[str]:
    from production.jobs.models import Attempt, Job

    jobs = list(Job.objects.values_list("number", "state"))
    lost = [number for number, _ in jobs if number not in run.taken]
    doubled = [number for number, count in run.taken.items() if count > 1]
    histories = _wrong_histories()
    wrong = _wrong_jobs(run, jobs) + histories
    if took >= PATIENCE:
        wrong.append(f"not over in time: {dict(Counter(state for _, state in jobs))}")
    wrong += [f"no sender of {number} was killed" for number in _unharmed(run)]
    calm = [order.pk for order in run.placed[1 : run.calm]]
    calm_jobs = Job.objects.filter(order__in=calm, sent__isnull=False)
    waits = sorted((job.sent - job.created).total_seconds() for job in calm_jobs)
    p95 = statistics.quantiles(waits, n=20)[-1] if len(waits) > 1 else float("inf")
    if p95 > P95_SECONDS:
        wrong.append(f"accepted to sent p95 {p95:.2f} s")
    if fail_over > FAIL_OVER_SECONDS:
        wrong.append(f"fail-over took {fail_over:.0f} s")
    outcomes = Counter(Attempt.objects.values_list("outcome", flat=True))
    yield (
        f"{adapter}: {len(lost)} lost, {len(doubled)} doubled, {len(histories)} incomplete of {len(jobs)} jobs in "
        f"{took:.0f} s; accepted to sent p50 {statistics.median(waits or [0]):.2f} s, p95 {p95:.2f} s of {len(waits)} "
        f"calm ones; fail-over {fail_over:.0f} s; {run.shared.kills} kills on the way, {run.started} senders; "
        f"{run.presses[1].taken.total()} at the second press; exchanges {dict(outcomes)}"
    )
    yield from (f"FAILED: {adapter}: {each}" for each in wrong)


def _wrong_jobs(run: Run, jobs: list[tuple[str, str]]) -> list[str]:
    taken, numbers = run.taken, {number for number, _ in jobs}
    wrong = [f"{number} came {count} times" for number, count in taken.items() if count > 1]
    wrong += [f"{number} never came" for number in numbers - taken.keys()]
    wrong += [f"{number} is no job" for number in taken.keys() - numbers]
    wrong += [f"{number} is {state}" for number, state in jobs if state != "Shipped"]
    return [*wrong[:20], *(job for press in run.presses for job in press.incomplete[:10])]


def _unharmed(run: Run) -> list[str]:
    """One kill interrupts all jobs of its sender: a victim among them may be shipped before it is sent again."""
    from production.jobs.models import Attempt, AttemptOutcome

    interrupted = Attempt.objects.filter(outcome=AttemptOutcome.INTERRUPTED)
    return sorted(run.shared.spared - set(interrupted.values_list("number", flat=True)))


def _wrong_histories() -> list[str]:
    from production.jobs.models import Attempt, JobHistory
    from stores.orders.models import Order

    wrong = []
    if left := Attempt.objects.filter(outcome="").count():
        wrong.append(f"{left} exchanges without an outcome")
    states: dict[int, list[str]] = {}
    for job, state in JobHistory.objects.order_by("id").values_list("job", "state"):
        states.setdefault(job, []).append(state)
    incomplete = [
        history for history in states.values() if history[0] != "Queued" or history[-1] != "Shipped"
    ]
    if incomplete:
        wrong.append(f"{len(incomplete)} histories such as {incomplete[0]}")
    unshipped = Order.objects.exclude(status=60)[:5]
    wrong += [f"order {order} is {order.get_status_display()}" for order in unshipped]
    doubled = sum(
        len(numbers) != len(set(numbers))
        for numbers in Order.objects.values_list("tracking_numbers", flat=True)
    )
    return [*wrong, *([f"{doubled} orders with a parcel twice"] if doubled else [])]
