"""Print jobs through each adapter while senders are killed, answers are lost and reports come in any order.

Each sender is a process of its own with the worker's own code. Two presses of one kind take the jobs, count them and
report (soak_presses): reordered, late and twice; the first one refuses some. At the end it is switched off, and one
more order shows how long the fail-over takes. With fewer orders (`--count 100`) there are a fifth as many kills. A run
ends after PATIENCE at the latest, and says what was still on its way; the seed is printed, and `SOAK_SEED` repeats it.
"""

import asyncio
import mmap
import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from tests.benchmarks.soak_outcome import FAIL_OVER_SECONDS, report
from tests.benchmarks.soak_presses import PRESSES, FolderPress
from tests.benchmarks.soak_scene import fresh_world

ORDERS, KILLS, SENDERS = 1000, 200, 2
# One in so many orders is calm, for the time from accepted to sent.
CALM_SHARE = 5
PATIENCE, PROGRESS_SECONDS = 900, 15


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
    orders: int = ORDERS,
    *,
    kills: int | None = None,
    rate: float = 0,
    adapters: Sequence[str] = tuple(PRESSES),
) -> list[str]:
    """One adapter after the other. A failed run leaves its folders behind; their place is printed."""
    kills = KILLS * orders // ORDERS if kills is None else kills
    return [
        line
        for adapter in adapters
        for line in _measure(adapter, orders, kills, rate or PRESSES[adapter].rate)
    ]


def _measure(adapter: str, orders: int, kills: int, rate: float) -> list[str]:
    from django.test import override_settings

    seed = int(os.environ.get("SOAK_SEED") or time.time())
    print(f"   {adapter}: seed {seed}, {orders} orders, {kills} kills, {PATIENCE} s at most", flush=True)
    with (
        tempfile.TemporaryDirectory(prefix="soak-production-") as root,
        override_settings(PRODUCTION_FOLDERS=[root], WEBHOOK_ALLOWED_NETWORKS=[ip_network("127.0.0.0/8")]),
    ):
        placed = _placed(orders + 1, PRESSES[adapter].items)
        run = _scene(adapter, Path(root), seed, placed, kills=kills, rate=rate)
        try:
            began = time.monotonic()
            _run(run)
            took = time.monotonic() - began
            fail_over = _fail_over(run)
        finally:
            _end(run)
        lines = report(run, adapter, took, fail_over, is_late=took >= PATIENCE)
        if len(lines) > 1:
            kept = Path(tempfile.mkdtemp(prefix="soak-production-failed-"))
            shutil.copytree(root, kept, dirs_exist_ok=True)
            print(f"   SOAK_SEED={seed} repeats it; the folders of the presses are in {kept}", flush=True)
        return lines


def _placed(count: int, items: Sequence[dict[str, Any]]) -> list[Any]:
    """All of them before anything is sent: placing is no part of it."""
    from stores.orders.models import Order
    from tests.factories.orders import card_data, make_card, order_body
    from tests.support.order_helpers import Shop

    world = fresh_world()
    from accounts.selectors.users import subscription_keys

    world.keys[world.application.pk] = subscription_keys(world.application.subscription)["primary"]
    if items[0]["ProductID"] == "card-two-sided":
        make_card(world.associated)
        items = [{**item, "TemplateData": card_data()} for item in items]
    shop, client = Shop(world), world.as_application()
    keys = []
    for _ in range(count):
        answer = shop.place(client, order_body(Items=list(items)))
        assert answer.status_code == 201, answer.content
        keys.append(answer.json()["OrderID"])
    return [Order.objects.select_related("store").get(pk=key) for key in keys]


def _scene(adapter: str, root: Path, seed: int, placed: Sequence[Any], *, kills: int, rate: float) -> Run:
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
    return Run(placed, presses, shared, calm, rate, len(PRESSES[adapter].items))


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
    time.sleep(0.02)


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
