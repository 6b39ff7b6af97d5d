"""The connections of the web processes to PostgreSQL are cut at random messages while clients write."""

import os
import tempfile
import time
from collections.abc import Iterator

from tests.benchmarks.servers import running
from tests.benchmarks.soak.scene import fresh_world
from tests.benchmarks.soak.writers import Seen, Writer, finish, wrongs
from tests.support.servers.cutting_proxy import cutting
from tests.support.servers.webhook_receiver import receiving

MAX_SECONDS = 1200
MARK = "state old or new, never half; no 5xx but 503"


def measure(count: int = 1000, *, farthest: int = 400, writers: int = 8, processes: int = 2) -> Iterator[str]:
    from tests.factories.webhooks import make_webhook

    world, seen, seed = fresh_world(), Seen(), int(time.time())
    direct = os.environ["DATABASE_URL"]
    with (
        tempfile.TemporaryFile() as log,
        receiving() as receiver,
        cutting(direct, cuts=count, farthest=farthest, seed=seed) as proxy,
    ):
        # Nothing is sent: only the delivery of each event is checked.
        make_webhook(world.application, receiver.url())
        behind = {"DATABASE_URL": proxy.url_of(direct)}
        with running("ours", workers=processes, environment=behind, log=log) as server:
            clients = [Writer(world, server.url, seen) for _ in range(writers)]
            for client in clients:
                client.start()
            proxy.done.wait(MAX_SECONDS)
            time.sleep(2)
            finish(clients)
        log.seek(0)
        if stacks := log.read().count(b"Traceback"):
            seen.odd.append(f"{stacks} tracebacks in the log")
    wrong = wrongs(seen)
    if proxy.made < count:
        wrong.append(f"only {proxy.made} of {count} cuts were made")
    if seen.unanswered:
        wrong.append(f"{seen.unanswered} requests without an answer")
    yield f"{proxy.made} cuts at messages of {len(proxy.places)} kinds (seed {seed}): {seen.summary}"
    yield from (f"FAILED: {each}" for each in wrong)
