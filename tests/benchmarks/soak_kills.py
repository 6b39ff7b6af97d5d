"""kill -9 of the web processes and the worker in turn, while clients write and webhooks are sent."""

import os
import random
import signal
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.servers import running
from tests.benchmarks.soak_scene import fresh_world, worker
from tests.benchmarks.soak_writers import Seen, Writer, finish, wrongs
from tests.support.patience import PATIENCE
from tests.support.ports import free_port
from tests.support.webhook_receiver import Receiver, receiving

KILLS, WRITERS = 50, 6
MARK = "nothing lost, nothing doubled that must not be"


def measure(
    kills: int = KILLS, *, with_worker: bool = True, clients: int = WRITERS, processes: int = 2
) -> list[str]:
    world, seen, chance = fresh_world(), Seen(), random.Random()
    from tests.factories.webhooks import make_webhook

    with receiving() as receiver:
        make_webhook(world.application, receiver.url())
        port = free_port()
        writers = [Writer(world, f"http://127.0.0.1:{port}", seen) for _ in range(clients)]
        with ExitStack() as stack:
            _kill(stack, writers, kills, chance, _Started(port, processes, with_worker))
            finish(writers)
            sent = _wrong_deliveries(receiver) if with_worker else []
        return _report(seen, receiver, kills, sent)


@dataclass(frozen=True)
class _Started:
    port: int
    processes: int
    with_worker: bool


def _kill(
    stack: ExitStack, writers: list[Writer], kills: int, chance: random.Random, started: _Started
) -> None:
    web, work = stack.push(ExitStack()), stack.push(ExitStack())

    def start_web() -> int:
        return web.enter_context(running("ours", workers=started.processes, port=started.port)).pid

    def start_work() -> int:
        return work.enter_context(worker()).pid

    pids = {"web": start_web()} | ({"work": start_work()} if started.with_worker else {})
    for writer in writers:
        writer.start()
    for number in range(kills):
        time.sleep(chance.uniform(0.3, 1.5))
        name = list(pids)[number % len(pids)]
        os.killpg(pids[name], signal.SIGKILL)
        (web if name == "web" else work).close()
        pids[name] = start_web() if name == "web" else start_work()
    time.sleep(2)


def _wait_until_delivered() -> int:
    from applications.webhooks.models import Delivery

    deadline = time.monotonic() + PATIENCE
    while (left := Delivery.objects.exclude(state="Delivered").count()) and time.monotonic() < deadline:
        time.sleep(0.5)
    return left


def _wrong_deliveries(receiver: Receiver) -> list[str]:
    from applications.webhooks.models import Event

    undelivered = _wait_until_delivered()
    arrived = {one.event["EventID"] for one in receiver.received}
    recorded = {str(event_id) for event_id in Event.objects.values_list("event_id", flat=True)}
    if undelivered or recorded != arrived:
        return [f"{undelivered} deliveries waiting, {len(recorded ^ arrived)} events lost or invented"]
    return []


def _report(seen: Seen, receiver: Receiver, kills: int, undelivered: list[str]) -> list[str]:
    arrived: Counter[Any] = Counter(one.event["EventID"] for one in receiver.received)
    wrong = [*wrongs(seen), *undelivered]
    repeated = sum(count - 1 for count in arrived.values())
    lines = [
        f"{kills} kills: {seen.done['orders']} orders, {seen.done['keys']} keys and "
        f"{seen.done['tokens']} refresh tokens written; {seen.unanswered} requests without an answer, statuses "
        f"{dict(sorted(seen.statuses.items()))}; {len(arrived)} events arrived, {repeated} of them twice or more"
    ]
    lines += [f"FAILED: {each}" for each in wrong]
    print(*lines, sep="\n", flush=True)
    return lines
