"""Worst-case callers of nine kinds, one kind after the other, each beside a good caller of another account."""

import contextlib
import json
import math
import statistics
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

from fulfillment.local import supervision
from tests.benchmarks import callers
from tests.benchmarks.callers import MAX_SECONDS, Plan, Timed
from tests.benchmarks.databases import ROOT
from tests.benchmarks.servers import Server, running
from tests.benchmarks.soak.scene import fresh_world, rows
from tests.support.printing.made_templates import hard_texts, huge_picture, png, png_chunk

CONNECTIONS, QUIET_SECONDS, PROCESSES = 8, 3.0, 2
# As a person's pages in many tabs, or of a script, take every thread where nothing limits them.
CONNECTIONS_OF = {"pages-of-one": 150}
READ, READ_EVERY = "/api/v1/store/associated", 0.1
ORDER, ASSET = "/api/v1/store/demo/order", "/api/v1/store/demo/asset"
CARD, LETTER, ITEMS = "card-two-sided", "letterhead-8.5x11", 500
BODY_BYTES, LONG_HEADER = 930_000, 390_000
CSRF, UNIQUE = "c" * 32, callers.NUMBER.decode()
MARK = (
    "8 connections for 10 s: a good caller and /healthz always answered, median <= 5 x quiet or <= 50 ms, longest "
    "<= 1 s"
)
# As without settings, other than scene.LIMITS. Mails go nowhere.
ENVIRONMENT = {
    "ADDRESS_REQUESTS_PER_MINUTE": "600",
    "TOKEN_FAILURES_PER_MINUTE": "30",
    "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend",
    "LOG_LEVEL": "ERROR",
}
Headers = Mapping[str, str]


@dataclass(frozen=True)
class Marks:
    """In seconds, and times the quiet median."""

    quiet_times: float = 5
    median: float = 0.05
    longest: float = 1

    def missed(self, quiet: float, noticed: Sequence[Timed]) -> list[str]:
        """A refusal is no answer to a good caller."""
        times = [seconds for _, seconds in noticed] or [float(MAX_SECONDS)]
        missing = {
            "median": statistics.median(times) > max(self.quiet_times * quiet, self.median),
            "longest": max(times) > self.longest,
            "unanswered": any(status != "200" for status, _ in noticed),
        }
        return [name for name, is_missed in missing.items() if is_missed]


def accept_long(_: Headers) -> list[bytes]:
    """Media types with asterisks, all different, in as long a header as the server takes."""
    parts = ",".join(f"*a*b*{number}*/x" for number in range(LONG_HEADER // 12))
    return [request("GET", "/api/v1/store", {"Accept": parts[:LONG_HEADER]})]


def token_wrong(_: Headers) -> list[bytes]:
    grant = {"grant_type": "client_credentials", "client_id": f"client-{UNIQUE}", "client_secret": "wrong"}
    refresh = {"grant_type": "refresh_token", "client_id": "client", "refresh_token": UNIQUE}
    return [form("/oauth/token", fields) for fields in (grant, refresh)]


def sign_in_wrong(_: Headers) -> list[bytes]:
    """Each try with another name, so that only the address is limited."""
    fields = {"username": f"name{UNIQUE}", "password": "x" * 4_000, "csrfmiddlewaretoken": CSRF}
    return [form("/accounts/login/", fields)]


def slow_body(credentials: Headers) -> list[bytes]:
    return [post(ORDER, credentials, b" " * 900_000)]


def unknown_members(credentials: Headers) -> list[bytes]:
    members = ",".join(f'"{number:05}":1' for number in range(BODY_BYTES // 10))
    return [post(ORDER, credentials, f"{{{members}}}".encode())]


def orders_of_500(credentials: Headers) -> list[bytes]:
    """Each item a print file of its own."""
    from tests.factories.orders import RECIPIENT, card_data

    lines = [
        {"ProductID": CARD, "Quantity": 100, "TemplateData": card_data() | {"Name": f"Ada {number} {UNIQUE}"}}
        for number in range(ITEMS)
    ]
    return [post(ORDER, credentials, json.dumps({"Recipient": RECIPIENT, "Items": lines}).encode())]


def proofs_hard_text(credentials: Headers) -> list[bytes]:
    return [
        post(
            f"/api/v1/store/demo/product/{LETTER}/proof",
            credentials,
            json.dumps({"Company": f"Company {UNIQUE}", "Contact": text[:200], "Letter": text}).encode(),
        )
        for text in (*hard_texts(700), *hard_texts(4_000))
    ]


def picture_bombs(credentials: Headers) -> list[bytes]:
    """More pixels than allowed, and chunks that unpack to gigabytes."""
    packed = zlib.compress(bytes(60_000_000), 9)
    pixels = zlib.compress((b"\0" + bytes(3 * 40)) * 40)
    bodies = [
        huge_picture(60_000),
        png(40, png_chunk(b"zTXt", b"a\0\0" + packed) * 20, pixels),
        png(40, png_chunk(b"iCCP", b"a\0\0" + packed), pixels),
        png(40, pixels=packed),
    ]
    return [post(ASSET, credentials, body, "image/png") for body in bodies]


def pages_of_one(_: Headers) -> list[bytes]:
    """Of one person, who is refused soon."""
    from django.test import Client

    from accounts.models import User

    browser = Client()
    browser.force_login(User.objects.get(username="outsider"))
    cookies = "; ".join(f"{name}={cookie.value}" for name, cookie in browser.cookies.items())
    return [request("GET", "/mailings", {"Cookie": cookies})]


KINDS: dict[str, Callable[[Headers], list[bytes]]] = {
    "accept-long": accept_long,
    "token-wrong": token_wrong,
    "sign-in-wrong": sign_in_wrong,
    "slow-body": slow_body,
    "unknown-members": unknown_members,
    "orders-of-500": orders_of_500,
    "proofs-hard-text": proofs_hard_text,
    "picture-bombs": picture_bombs,
    "pages-of-one": pages_of_one,
}


def measure(
    count: float = 10,
    *,
    kinds: Sequence[str] = (),
    connections: int = CONNECTIONS,
    processes: int = PROCESSES,
    marks: Marks | None = None,
) -> Iterator[str]:
    """Each kind lasts `count` seconds."""
    bad, good = _make_world()
    reads = [request("GET", READ, good), request("GET", "/healthz")]
    with running("ours", workers=processes, environment=ENVIRONMENT) as server:
        for number, name in enumerate(kinds or KINDS):
            # What the kind before used of its caller's minute is no part of this one.
            rows("DELETE FROM accounts_ratewindow RETURNING 1")
            with _calling(server, reads, seconds=min(count, QUIET_SECONDS), every=READ_EVERY) as calm:
                quiet = sorted(took for _, took in _result(calm))
            attack = _calling(
                server,
                KINDS[name](bad),
                source=f"127.1.0.{number + 1}",
                seconds=count,
                connections=CONNECTIONS_OF.get(name, connections),
                is_dripped=name == "slow-body",
            )
            with attack as attacker, _calling(server, reads, seconds=count, every=READ_EVERY) as caller:
                noticed, sent = _result(caller), _result(attacker)
            times = sorted(took for _, took in noticed)
            yield (
                f"{name}: {len(sent):,} requests, answered {dict(Counter(status for status, _ in sent))}; the good "
                f"caller's times {_summary(times)}, quiet {_summary(quiet)}"
            )
            if missed := (marks or Marks()).missed(statistics.median(quiet), noticed):
                yield f"FAILED: {name}: {', '.join(missed)}"


def _summary(times: Sequence[float]) -> str:
    """Of sorted seconds."""
    p95 = times[math.ceil(0.95 * len(times)) - 1]
    return (
        f"{statistics.median(times) * 1000:.0f} ms (median), {p95 * 1000:.0f} ms (p95), "
        f"{times[-1] * 1000:.0f} ms (longest)"
    )


def _make_world() -> tuple[Headers, Headers]:
    """The credentials of a user without any role, with the usual limit, and of an application without one."""
    from accounts.models import Role, Subscription
    from accounts.permissions import DEFAULT_STORE_GRANTS
    from tests.factories.orders import make_card, make_design

    world = fresh_world()
    Subscription.objects.update(requests_per_minute=600)
    good = world.other_application
    Subscription.objects.filter(application=good).update(requests_per_minute=1_000_000_000)
    Role.objects.bulk_create(
        Role(application=good, store=world.associated, grant=grant) for grant in DEFAULT_STORE_GRANTS
    )
    make_card(world.demo, CARD)
    make_design(world.demo, LETTER)
    return world.as_user(world.outsider).credentials, world.as_application(good).credentials


@contextlib.contextmanager
def _calling(
    server: Server, requests: Sequence[bytes], *, source: str = "127.0.0.2", **options: Any
) -> Iterator[subprocess.Popen[str]]:
    plan = Plan(server.port, source, lengths=[len(each) for each in requests], **options)
    # In a file: through a pipe both sides would wait for each other.
    with tempfile.TemporaryFile() as sent:
        sent.write(json.dumps(asdict(plan)).encode() + b"\n" + b"".join(requests))
        sent.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-m", callers.__name__],
            cwd=ROOT,
            stdin=sent,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=supervision.end_with_parent,
        )
    with process:
        try:
            yield process
        finally:
            process.kill()


def _result(process: subprocess.Popen[str]) -> list[Timed]:
    calls: list[Timed] = json.loads(process.communicate()[0])
    return calls


def request(method: str, target: str, headers: Headers | None = None, body: bytes = b"") -> bytes:
    """A method that may have a body always says how long it is."""
    fields = {"Host": "127.0.0.1", "Connection": "close", **(headers or {})}
    if method != "GET":
        fields["Content-Length"] = str(len(body))
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def post(path: str, credentials: Headers, body: bytes, kind: str = "application/json") -> bytes:
    return request("POST", path, {**credentials, "Content-Type": kind}, body)


def form(path: str, fields: Headers) -> bytes:
    """What a browser sends that was shown the form before; Django takes it when field and cookie are the same."""
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": f"csrftoken={CSRF}"}
    # The number's place stays readable.
    return request("POST", path, headers, urlencode(fields, safe="@").encode())
