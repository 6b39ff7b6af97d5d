"""Every page of the portal and of the admin beside 1,000,000 orders and 10,000 applications:
`python -m tests.benchmarks.pages`.

Walks the links as each kind of person, searches every list of the admin and chooses by typing wherever that can be
done, and prints page, milliseconds and queries. Writes the figures between the marks
of docs/performance.md. The database is kept in var/ for the next run.
"""

import argparse
import os
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from tests.benchmarks.documents import write_between

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "performance.md"
MAX_MILLISECONDS, MAX_QUERIES = 150, 12
NOT_WALKED = ("/accounts/logout", "/admin/logout")


@dataclass(frozen=True)
class Role:
    title: str
    username: str | None
    starts: tuple[str, ...]
    below: str = "/"
    without: tuple[str, ...] = NOT_WALKED
    # A page is asked for with as many names in its query; filters join.
    most_names: int = 1
    # Instead of the pages: every search box and every choice by typing.
    searches: bool = False
    # Instead of the pages: what their forms send, and nothing of it stays.
    forms: bool = False


PORTAL_ONLY = (*NOT_WALKED, "/admin")
ROLES = [
    Role("signed out", None, ("/", "/accounts/login/", "/accounts/password-reset/"), without=PORTAL_ONLY),
    Role("a user with 3 applications", "everyday", ("/", "/accounts/password-change/"), without=PORTAL_ONLY),
    Role("a user with 10,000 applications", "collector", ("/",), without=PORTAL_ONLY),
    Role("an operator in the portal", "operator", ("/",), without=PORTAL_ONLY),
    Role("an operator in the console", "operator", ("/admin/",), below="/admin"),
    Role("an operator filtering by two things", "operator", ("/admin/",), below="/admin", most_names=2),
    Role("an operator searching in the console", "operator", (), below="/admin", searches=True),
    Role("staff of one store in the console", "customer-00000", ("/admin/",), below="/admin"),
    Role(
        "signed out, sending forms", None, ("/", "/accounts/password-reset/"), without=PORTAL_ONLY, forms=True
    ),
    Role("a user sending forms", "everyday", ("/",), without=PORTAL_ONLY, forms=True),
    Role(
        "a user with 10,000 applications sending forms", "collector", ("/",), without=PORTAL_ONLY, forms=True
    ),
    Role("an operator sending forms", "operator", ("/admin/",), below="/admin", forms=True),
]


@dataclass(frozen=True)
class Figure:
    path: str
    route: str
    status: int
    milliseconds: float
    best: float
    queries: int

    @property
    def is_exceeded(self) -> bool:
        """A page over a mark; what was done and leads on to a page is none, and grows with what is chosen."""
        return self.status != 302 and (self.milliseconds > MAX_MILLISECONDS or self.queries > MAX_QUERIES)


def main() -> None:
    arguments = _arguments()
    _prepare_environment()
    import django

    django.setup()
    from tests.benchmarks.page_data import fill

    fill(orders=arguments.orders)
    lines = []
    load = os.getloadavg()[0]
    for role in ROLES:
        if arguments.only and arguments.only not in role.title:
            continue
        figures = _measure(role, arguments.rounds)
        for figure in sorted(figures, key=lambda figure: -figure.milliseconds):
            mark = " **over**" if figure.is_exceeded else ""
            times = f"{figure.milliseconds:8.1f} ms, at best {figure.best:8.1f} ms"
            print(
                f"{times} {figure.queries:4} queries, {figure.status}  {figure.path[:130]}{mark}", flush=True
            )
        lines.append(_line(role, figures))
        print(lines[-1], file=sys.stderr, flush=True)
    if arguments.write and not arguments.only:
        _write(arguments, lines, load)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="A part of a role's title, such as admin.")
    parser.add_argument("--write", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def _prepare_environment() -> None:
    from fulfillment.local.postgres import ensure_running

    kept = ROOT / "var" / "bench-pages.json"
    kept.parent.mkdir(exist_ok=True)
    if not kept.exists():
        names = ("SECRET_KEY", "FULFILLMENT_PEPPERS", "FULFILLMENT_ENCRYPTION_KEYS")
        kept.write_bytes(orjson.dumps({name: secrets.token_urlsafe(48) for name in names}))
    os.environ.update(
        FULFILLMENT_MODE="development",
        DJANGO_SETTINGS_MODULE="fulfillment.settings",
        DATABASE_URL=ensure_running(ROOT / "var" / "bench-pages-postgres"),
        MEDIA_ROOT=tempfile.mkdtemp(prefix="bench-media-"),
        PAGES_PER_MINUTE="100000000",
        ADDRESS_PAGES_PER_MINUTE="100000000",
        **orjson.loads(kept.read_bytes()),
    )


def _measure(role: Role, rounds: int) -> list[Figure]:
    """Medians over the rounds, after a first visit that is not counted; queries are those of the first."""
    from tests.benchmarks.page_searches import search_paths
    from tests.support.crawler import visit_page, walk

    client = _client(role.username)
    if role.searches:
        return [_figure(client, visit_page(client, path), rounds) for path in search_paths()]
    walked = walk(client, role.starts, below=role.below, without=role.without, most_names=role.most_names)
    # A download is no page: it takes what its rows take.
    pages = (visit for visit in walked if not visit.response.has_header("Content-Disposition"))
    if role.forms:
        sent: set[Any] = set()
        return [figure for visit in pages for figure in _figures_of_forms(client, visit, rounds, sent)]
    return [_figure(client, visit, rounds) for visit in pages]


def _figure(client: Any, visit: Any, rounds: int) -> Figure:
    times = [_milliseconds(client, visit.path) for _ in range(rounds)]
    status = visit.response.status_code
    return Figure(visit.path, visit.route, status, statistics.median(times), min(times), len(visit.queries))


def _figures_of_forms(client: Any, visit: Any, rounds: int, sent: set[Any]) -> Iterator[Figure]:
    """Of the forms that no other page before had."""
    from tests.benchmarks.page_forms import sendings, timed
    from tests.support.crawler import kind_of

    if not visit.response.get("Content-Type", "").startswith("text/html"):
        return
    for sending in sendings(visit.path, visit.response.content.decode()):
        kind = (kind_of(sending.path.partition("?")[0]), sending.how, frozenset(sending.values))
        if kind in sent:
            continue
        sent.add(kind)
        first, *tries = [timed(client, sending) for _ in range(rounds + 1)]
        if first[2].has_header("Content-Disposition"):
            continue
        times = [milliseconds for milliseconds, *_ in tries]
        path = f"{sending.method} {sending.path} ({sending.how})"
        yield Figure(path, visit.route, first[2].status_code, statistics.median(times), min(times), first[1])


def _client(username: str | None) -> Any:
    from django.test import Client

    from accounts.models import User

    client = Client(SERVER_NAME="127.0.0.1", SERVER_PORT="8000", raise_request_exception=False)
    if username:
        client.force_login(User.objects.get(username=username))
    return client


def _milliseconds(client: Any, path: str) -> float:
    started = time.perf_counter()
    client.get(path)
    return 1000 * (time.perf_counter() - started)


def _line(role: Role, figures: list[Figure]) -> str:
    done = [figure for figure in figures if role.forms and figure.status == 302]
    figures = [figure for figure in figures if figure not in done]
    slowest = max(figures, key=lambda figure: figure.milliseconds)
    busiest = max(figures, key=lambda figure: figure.queries)
    over = sum(figure.is_exceeded for figure in figures)
    wrong = sum(figure.status >= 400 for figure in figures)
    median = statistics.median(figure.milliseconds for figure in figures)
    return (
        f"| {role.title} | {len(figures)} | {median:.0f} ms | {slowest.milliseconds:.0f} ms, at best "
        f"{slowest.best:.0f} ms, `/{slowest.route}` | {busiest.queries} | {over} | {wrong} | {_done(done)} |"
    )


def _done(figures: list[Figure]) -> str:
    if not figures:
        return ""
    median = statistics.median(figure.milliseconds for figure in figures)
    slowest = max(figures, key=lambda figure: figure.milliseconds)
    return f"{len(figures)}, {median:.0f} ms, {slowest.milliseconds:.0f} ms, `/{slowest.route}`"


def _write(arguments: argparse.Namespace, lines: list[str], load: float) -> None:
    heading = (
        f"\nMeasured by `python -m tests.benchmarks.pages` beside {arguments.orders:,} orders and 10,000 applications, "
        f"one page of each kind, median of {arguments.rounds}, on {os.cpu_count()} cores at load {load:.1f}. Marks: "
        f"{MAX_MILLISECONDS} ms of server time and {MAX_QUERIES} queries. Forms are sent as they stand, emptied, and "
        "with each of their buttons and actions; what they write is undone.\n\n"
        "| as | pages | median | slowest | most queries | over a mark | errors | done by a form: median, slowest |\n"
        "|---|---|---|---|---|---|---|---|\n"
    )
    write_between(DOCUMENT, "pages", heading + "\n".join(lines) + "\n\n")


if __name__ == "__main__":
    main()
