"""PostgreSQL is stopped and started again under load: which answers clients get, and how soon the service recovers."""

import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.benchmarks.servers import running
from tests.benchmarks.soak.scene import fresh_world, restart_postgres, session

CLIENTS = 8
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
                response = ask()
                well = (200, 200, 401)[position]
                self.answers.append((time.monotonic(), response.status_code))
                if response.status_code == 503 and "Retry-After" not in response.headers:
                    self.odd["503 without Retry-After"] += 1
                elif response.status_code not in {well, 503}:
                    self.odd[f"{response.status_code} of {response.request.path_url}"] += 1
            # Fewer pages a minute than one person may have.
            time.sleep(0.12)


def measure(count: int = 20) -> Iterator[str]:
    from tests.factories.accounts import UserFactory

    headers = fresh_world().as_application().credentials
    people = [{"sessionid": _session_of(UserFactory())} for _ in range(CLIENTS)]
    seconds, refused, odd = [], 0, Counter[str]()
    with (
        tempfile.TemporaryFile() as log,
        running("ours", workers=2, log=log) as server,
    ):
        for number in range(count):
            watch = Watch()
            clients = [
                threading.Thread(target=watch.ask, args=(server.url, headers, cookies)) for cookies in people
            ]
            for thread in clients:
                thread.start()
            time.sleep(0.5)
            back = restart_postgres("immediate" if number % 2 else "fast", away=AWAY_SECONDS)
            time.sleep(WATCHED_SECONDS)
            watch.over.set()
            for thread in clients:
                thread.join()
            late = [at - back for at, status in watch.answers if status == 503]
            refused += len(late)
            seconds.append(max(late, default=0.0))
            odd += watch.odd
    yield (
        f"{count} times away: {refused} answers 503; the last of them {statistics.median(seconds):.2f} s "
        f"(median) and {max(seconds):.2f} s (longest) after the database was back"
    )
    if max(seconds) > MARK_SECONDS:
        yield f"FAILED: it took {max(seconds):.2f} s"
    if not refused:
        yield "FAILED: no client saw an error, so nothing was tested"
    yield from (f"FAILED: {number} x {what}" for what, number in odd.items())


def _session_of(user: Any) -> str:
    from django.test import Client

    browser = Client()
    browser.force_login(user)
    return browser.cookies["sessionid"].value
