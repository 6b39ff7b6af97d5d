"""The connections of the web processes to PostgreSQL are cut at random messages while clients write."""

import os
import tempfile
import time

from tests.benchmarks.servers import running
from tests.benchmarks.soak_scene import fresh_world
from tests.benchmarks.soak_writers import Seen, Writer, finish, wrongs
from tests.support.cutting_proxy import CuttingProxy, cutting
from tests.support.webhook_receiver import receiving

CUTS, WRITERS, FARTHEST = 1000, 8, 400
MAX_SECONDS = 1200
MARK = "state old or new, never half; no 5xx but 503"


def measure(
    cuts: int = CUTS, *, farthest: int = FARTHEST, writers: int = WRITERS, processes: int = 2
) -> list[str]:
    world, seen, seed = fresh_world(), Seen(), int(time.time())
    from tests.factories.webhooks import make_webhook

    direct = os.environ["DATABASE_URL"]
    with (
        tempfile.TemporaryFile() as log,
        receiving() as receiver,
        cutting(direct, cuts=cuts, farthest=farthest, seed=seed) as proxy,
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
        if count := log.read().count(b"Traceback"):
            seen.odd.append(f"{count} tracebacks in the log")
    return _report(seen, proxy, cuts, seed)


def _report(seen: Seen, proxy: CuttingProxy, cuts: int, seed: int) -> list[str]:
    wrong = wrongs(seen)
    if proxy.made < cuts:
        wrong.append(f"only {proxy.made} of {cuts} cuts were made")
    if seen.unanswered:
        wrong.append(f"{seen.unanswered} requests without an answer")
    lines = [
        f"{proxy.made} cuts at messages of {len(proxy.places)} kinds (seed {seed}): {seen.done['orders']} orders, "
        f"{seen.done['keys']} keys and {seen.done['tokens']} refresh tokens written, statuses "
        f"{dict(sorted(seen.statuses.items()))}"
    ]
    lines += [f"FAILED: {each}" for each in wrong]
    print(*lines, sep="\n", flush=True)
    return lines
