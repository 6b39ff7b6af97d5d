"""PostgreSQL is stopped and started again under load: which answers clients get, and how soon the service recovers."""

import os
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.benchmarks.servers import running
from tests.benchmarks.soak_scene import FOLDER, fresh_world, session

ROUNDS, CLIENTS = 20, 8
AWAY_SECONDS, WATCHED_SECONDS = 1.5, 3.0
MARK_SECONDS = 2.0
REFRESH = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": "y"}
MARK = f"only 503 with Retry-After meanwhile, and none {MARK_SECONDS:.0f} s after the database is back"


@dataclass
class Watch:
    """What clients were answered, and when; `odd` is what none may be."""

    answers: list[tuple[float, int]] = field(default_factory=list)
    odd: Counter[str] = field(default_factory=Counter)
    over: threading.Event = field(default_factory=threading.Event)

    def ask(self, url: str, headers: dict[str, str], cookies: dict[str, str]) -> None:
        # A page with a session, and what every kind of program calls.
        asks: tuple[Callable[[], Any], ...] = (
            lambda: session().get(f"{url}/api/v1/store/associated", headers=headers, timeout=30),
            lambda: session().get(f"{url}/profile", cookies=cookies, timeout=30),
            lambda: session().post(f"{url}/oauth/token", data=REFRESH, timeout=30),
        )
        while not self.over.is_set():
            for position, ask in enumerate(asks):
                answer = ask()
                well = (200, 200, 401)[position]
                self.answers.append((time.monotonic(), answer.status_code))
                if answer.status_code == 503 and "Retry-After" not in answer.headers:
                    self.odd["503 without Retry-After"] += 1
                elif answer.status_code not in {well, 503}:
                    self.odd[f"{answer.status_code} of {answer.request.path_url}"] += 1
            time.sleep(0.01)


def measure(rounds: int = ROUNDS) -> list[str]:
    world = fresh_world()
    client = world.as_application()
    headers = {"Authorization": f"Bearer {client.token}", "Ocp-Apim-Subscription-Key": client.key}
    cookies = {"sessionid": _session_of(world.user)}
    seconds, refused, odd = [], 0, Counter[str]()
    with (
        tempfile.TemporaryFile() as log,
        running("ours", workers=2, log=log) as server,
    ):
        for number in range(rounds):
            watch = Watch()
            clients = [
                threading.Thread(target=watch.ask, args=(server.url, headers, cookies))
                for _ in range(CLIENTS)
            ]
            for thread in clients:
                thread.start()
            time.sleep(0.5)
            back = _away_and_back("immediate" if number % 2 else "fast")
            time.sleep(WATCHED_SECONDS)
            watch.over.set()
            for thread in clients:
                thread.join()
            late = [at - back for at, status in watch.answers if status == 503]
            refused += len(late)
            seconds.append(max(0.0, *late))
            odd += watch.odd
    return _report(seconds, refused, odd)


def _report(seconds: list[float], refused: int, odd: Counter[str]) -> list[str]:
    lines = [
        f"{len(seconds)} times away: {refused} answers 503; the last of them {statistics.median(seconds):.2f} s "
        f"(median) and {max(seconds):.2f} s (longest) after the database was back"
    ]
    if max(seconds) > MARK_SECONDS:
        lines.append(f"FAILED: it took {max(seconds):.2f} s")
    if not refused:
        lines.append("FAILED: no client saw an error, so nothing was tested")
    lines += [f"FAILED: {count} x {what}" for what, count in odd.items()]
    print(*lines, sep="\n", flush=True)
    return lines


def _away_and_back(how: str) -> float:
    """Stops and starts the server; returns when it first accepts a connection."""
    from django.db import connection

    from fulfillment.local.postgres_layout import find_host

    host = find_host(FOLDER.resolve())
    connection.close()
    host.run("pg_ctl", "stop", "-D", str(host.data), "-m", how, "-w")
    time.sleep(AWAY_SECONDS)
    back: list[float] = []
    looking = threading.Thread(target=look_for_server, args=(back,))
    looking.start()
    host.run("pg_ctl", "start", "-D", str(host.data), "-l", str(host.data / "restart.log"), "-w")
    looking.join()
    return back[0]


def look_for_server(back: list[float]) -> None:
    import psycopg

    while not back:
        try:
            psycopg.connect(os.environ["DATABASE_URL"], connect_timeout=5).close()
            back.append(time.monotonic())
        except psycopg.OperationalError:
            time.sleep(0.01)


def _session_of(user: Any) -> str:
    from django.test import Client

    browser = Client()
    browser.force_login(user)
    return browser.cookies["sessionid"].value
