"""Whether answers, or the time they take, tell who has an account: known and unknown names in turn.

At a sign-up user names are no secret (docs/security.md), e-mail addresses are: also beside a name that is taken.
"""

import random
import re
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import requests

from tests.benchmarks.servers import running
from tests.benchmarks.soak_scene import fresh_world, session

ROUNDS, PEOPLE = 300, 40
MARK_MILLISECONDS = 2.0
MARK = f"the same answers, the median pair less than {MARK_MILLISECONDS:.0f} ms apart"
VARYING = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"|<time.*?</time>')
# What is different in each answer anyway; of cookies see `cookies_of`. Bodies are compared: packed ones vary in length.
OF_A_REQUEST = {
    "date",
    "expires",
    "last-modified",
    "set-cookie",
    "traceparent",
    "x-request-id",
    "content-length",
}
# Requests are counted, but none is refused.
ENVIRONMENT = {
    "SIGN_IN_TRIES_PER_ACCOUNT": "1000000000",
    "SIGN_IN_TRIES_PER_ADDRESS": "1000000000",
    "SIGN_UP_ENABLED": "1",
    # Of those who sign up: the names that are taken are of this tenant.
    "DEFAULT_TENANT_DOMAIN": "print.example",
    # Each request comes from an address of its own: limits of password resets and sign-ups have no setting.
    "BEHIND_TLS_PROXY": "1",
}


@dataclass(frozen=True)
class Form:
    """`fields` of a name; `known` and `unknown` names are of one length."""

    path: str
    fields: Callable[[str], dict[str, str]]
    names: Iterator[tuple[str, str]]


def measure(rounds: int = ROUNDS) -> list[str]:
    fresh_world()
    pairs = _people(max(rounds, PEOPLE))
    lines = []
    with running("ours", workers=2, environment=ENVIRONMENT) as server:
        for name, form in _forms(pairs).items():
            lines += _compare(server.url, name, form, rounds)
    print(*lines, sep="\n", flush=True)
    return lines


def _people(number: int) -> list[tuple[str, str]]:
    """Existing names, each with an unknown one; their e-mail addresses alike."""
    from accounts.models import Tenant, User

    tenant = Tenant.objects.get(domain="print.example")
    first = User(tenant=tenant)
    first.set_password("a long pass phrase")
    User.objects.bulk_create(
        User(
            tenant=tenant,
            username=f"known{position:04}",
            email=f"known{position:04}@print.example",
            password=first.password,
        )
        for position in range(number)
    )
    return [(f"known{position:04}", f"empty{position:04}") for position in range(number)]


def _forms(pairs: list[tuple[str, str]]) -> dict[str, Form]:
    numbers = count()

    def signing_up(name: str) -> dict[str, str]:
        # Too short a password: nothing is made, and the form comes back.
        more = {"first_name": "Nora", "last_name": "New", "username": f"nora{next(numbers):06}"}
        return {**more, "email": f"{name}@print.example", "password": "short"}

    def with_taken_name(name: str) -> dict[str, str]:
        # The password would do: it is hashed before the name turns out to be taken.
        return {**signing_up(name), "username": pairs[0][0].upper(), "password": "a long pass phrase"}

    return {
        "sign-in": Form(
            "/accounts/login/", lambda name: {"username": name, "password": "wrong"}, _endless(pairs[:PEOPLE])
        ),
        "new password": Form(
            "/accounts/password-reset/", lambda name: {"email": f"{name}@print.example"}, iter(pairs)
        ),
        "sign-in in wide letters": Form(
            "/accounts/login/",
            lambda name: {"username": f"{_wide(name)}@PRINT.example", "password": "wrong"},
            _endless(pairs[PEOPLE : 2 * PEOPLE] or pairs),
        ),
        "sign-up": Form("/accounts/signup/", signing_up, _endless(pairs[:PEOPLE])),
        "sign-up with a taken name": Form("/accounts/signup/", with_taken_name, _endless(pairs[:PEOPLE])),
    }


def _wide(name: str) -> str:
    """In the full-width letters that its prepared form does away with."""
    return "".join(chr(ord(letter) + 0xFEE0) for letter in name)


def _endless(pairs: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    while True:
        yield from pairs


def _compare(url: str, name: str, form: Form, rounds: int) -> list[str]:
    token = _token(url, form.path)
    milliseconds: tuple[list[float], list[float]] = ([], [])
    answers: tuple[set[Any], set[Any]] = (set(), set())
    chance = random.Random(1)
    for known, unknown in (next(form.names) for _ in range(rounds)):
        for kind in chance.sample((0, 1), 2):
            asked = (known, unknown)[kind]
            began = time.perf_counter()
            answer = session().post(
                f"{url}{form.path}",
                data={**form.fields(asked), "csrfmiddlewaretoken": token},
                headers={"X-Forwarded-For": f"10.{chance.randrange(256)}.{chance.randrange(256)}.7"},
                allow_redirects=False,
                timeout=60,
            )
            milliseconds[kind].append(1000 * (time.perf_counter() - began))
            answers[kind].add(_normalized(answer, asked))
    medians = [statistics.median(each) for each in milliseconds]
    # Of each pair, which other work on the machine slows down alike.
    gap = abs(statistics.median(known - unknown for known, unknown in zip(*milliseconds, strict=True)))
    lines = [
        f"{name}: {rounds} of each in turn, median {medians[0]:.2f} ms for known and {medians[1]:.2f} ms for unknown "
        f"names, the two of a pair {gap:.2f} ms apart; {len(answers[0] | answers[1])} kind of answer"
    ]
    if gap >= MARK_MILLISECONDS:
        lines.append(f"FAILED: {name}: {gap:.2f} ms")
    if answers[0] != answers[1] or len(answers[0]) != 1:
        lines.append(f"FAILED: {name}: the answers differ: {sorted(map(repr, answers[0] ^ answers[1]))[:2]}")
    return lines


def _token(url: str, path: str) -> str:
    session().cookies.clear()
    page = session().get(f"{url}{path}", timeout=60).text
    return re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[-1]


def _normalized(answer: requests.Response, asked: str) -> tuple[Any, ...]:
    text = VARYING.sub("", answer.text).replace(asked, "").replace(_wide(asked), "")
    body = re.sub(r"nora\d+", "", text)
    headers = {name.lower(): value for name, value in answer.headers.items()}
    headers = {name: headers[name] for name in sorted(headers) if name not in OF_A_REQUEST}
    return answer.status_code, tuple(headers.items()), cookies_of(answer), body


def cookies_of(answer: requests.Response) -> tuple[Any, ...]:
    """Name and attributes of each: values are different in each answer anyway, and so is the moment one ends."""
    cookies = []
    # Of several headers of one name `answer.headers` makes one.
    for header in answer.raw.headers.getlist("set-cookie"):
        pair, *attributes = (part.strip() for part in header.split(";"))
        name, _, value = pair.partition("=")
        kept = sorted(each for each in attributes if not each.lower().startswith("expires="))
        cookies.append((name, bool(value.strip('"')), *kept))
    return tuple(sorted(cookies))
