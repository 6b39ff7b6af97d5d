"""kill -9 of the web processes and the worker in turn, while clients write and webhooks are sent."""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack

from tests.benchmarks.servers import running
from tests.benchmarks.soak.scene import fresh_world, wait_until_delivered
from tests.benchmarks.soak.writers import Seen, Writer, finish, wrongs
from tests.support.servers.ports import free_port
from tests.support.servers.webhook_receiver import Receiver, receiving
from tests.support.servers.workers import start_worker, working

MARK = "nothing lost, nothing doubled that must not be"


def measure(
    count: int = 50, *, with_worker: bool = True, clients: int = 6, processes: int = 2
) -> Iterator[str]:
    from tests.factories.webhooks import make_webhook

    world, seen, port = fresh_world(), Seen(), free_port()
    with receiving() as receiver, working(int(with_worker)) as workers, ExitStack() as web:
        make_webhook(world.application, receiver.url())

        def start_web() -> int:
            return web.enter_context(running("ours", workers=processes, port=port)).pid

        pid = start_web()
        writers = [Writer(world, f"http://127.0.0.1:{port}", seen) for _ in range(clients)]
        for writer in writers:
            writer.start()
        for number in range(count):
            time.sleep(random.uniform(0.3, 1.5))
            if workers and number % 2:
                os.killpg(workers[0].pid, signal.SIGKILL)
                workers.pop().wait()
                workers.append(start_worker())
            else:
                os.killpg(pid, signal.SIGKILL)
                web.close()
                pid = start_web()
        time.sleep(2)
        finish(writers)
        wrong = wrongs(seen) + (_wrong_deliveries(receiver) if with_worker else [])
        arrived = [delivery.event["EventID"] for delivery in receiver.received]
    yield (
        f"{count} kills: {seen.summary}, {seen.unanswered} requests without an answer; {len(set(arrived))} events "
        f"arrived, {len(arrived) - len(set(arrived))} of them twice or more"
    )
    yield from (f"FAILED: {each}" for each in wrong)


def _wrong_deliveries(receiver: Receiver) -> list[str]:
    from applications.webhooks.models import Event

    undelivered = wait_until_delivered()
    arrived = {delivery.event["EventID"] for delivery in receiver.received}
    recorded = {str(event_id) for event_id in Event.objects.values_list("event_id", flat=True)}
    if undelivered or recorded != arrived:
        return [f"{undelivered} deliveries waiting, {len(recorded ^ arrived)} events lost or invented"]
    return []
