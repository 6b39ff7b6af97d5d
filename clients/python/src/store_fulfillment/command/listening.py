"""Follows the event log from the last position, and forwards signed events."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from standardwebhooks import Webhook

from store_fulfillment import Client, ConnectionFailed, InvalidRequest, RateLimited, ServerError, models
from store_fulfillment.command.profiles import COMMAND_LINE, Profile, folder, write_privately
from store_fulfillment.command.screen import notes, plain

# The service answers as soon as there is an event, or after this time.
WAIT_SECONDS = 25
# The pause where the service does not let the request wait.
POLL_SECONDS = 1.0
MAX_PAUSE = 10.0
# How old what the disk has may be: a machine that stops sends these events again. A killed process loses none of it.
DISK_SECONDS = 1.0
PAGE = 500
SPANS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class Place:
    """A listener's position in the log: after an event, or the time it started."""

    secret: str
    created_after: str
    event_id: str | None = None


@dataclass(frozen=True)
class Forwarded:
    event: models.Event
    status: int | None
    milliseconds: int
    problem: str = ""

    @property
    def is_taken(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def moment_before(span: str) -> datetime:
    match = re.fullmatch(r"(\d+)([smhd])", span)
    if not match:
        raise typer.BadParameter(f"{span!r} is no time such as 30s, 10m, 2h or 7d")
    return datetime.now(timezone.utc) - timedelta(seconds=int(match[1]) * SPANS[match[2]])


Application = Annotated[
    str | None,
    typer.Option(help="External ID of one of your applications. Default: the one you signed in with."),
]


def application_of(client: Client, profile: Profile, name: str | None = None) -> str:
    """The ID of the application whose log is read. In the log of this command's own people read their own events."""
    client_id = name or profile.client_id
    if client_id == COMMAND_LINE:
        return COMMAND_LINE
    ids = {application["External_ID"]: application["ID"] for application in client.applications.list()}
    if client_id not in ids:
        yours = f"Yours: {', '.join(ids)}." if ids else "You have none."
        raise ValueError(f"You have no role in the application {client_id}. {yours}")
    return ids[client_id]


def follow(
    client: Client,
    application: str,
    *,
    created_after: datetime | str,
    after: str | None = None,
    types: Sequence[str] = (),
    store: str | None = None,
) -> Iterator[models.Event]:
    """Yields events endlessly, in the order of the log."""
    while True:
        sent_at = time.monotonic()
        try:
            page = client.events.list(
                application,
                after=after,
                created_after=created_after,
                take=PAGE,
                type=list(types) or None,  # type: ignore[arg-type]
                store_id=store,
                wait=WAIT_SECONDS,
            ).first()
        except InvalidRequest as error:
            # The last event is older than the log, which now begins later.
            if after is None or error.code != "parameter_invalid":
                raise
            after = None
            continue
        except (ConnectionFailed, RateLimited, ServerError) as error:
            notes.print(f"[yellow]{plain(error)}; trying again[/yellow]")
            time.sleep(MAX_PAUSE)
            continue
        yield from page.items
        # The cursor and the last event mark the same position; without events only the cursor exists.
        after = page.items[-1]["EventID"] if page.items else after
        if not page.items and time.monotonic() - sent_at < POLL_SECONDS:
            time.sleep(POLL_SECONDS)


def place_file(application: str, target: str) -> Path:
    name = hashlib.sha256(f"{application} {target}".encode()).hexdigest()[:20]
    return folder() / "listeners" / f"{name}.json"


def read_place(path: Path) -> Place | None:
    try:
        return Place(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_place(path: Path, place: Place, *, to_disk: bool = True) -> None:
    write_privately(path, asdict(place), to_disk=to_disk)


def new_place(since: str) -> Place:
    secret = "whsec_" + b64encode(secrets.token_bytes(32)).decode()
    return Place(secret, moment_before(since).isoformat())


def forward_all(
    client: Client,
    application: str,
    target: str,
    *,
    path: Path,
    place: Place,
    types: Sequence[str],
    skips_refused: bool,
) -> Iterator[Forwarded]:
    """Each event until it is taken, one after the other, so that the events of an order keep their order.

    The place is written after each: one that was taken just before a stop comes again, and none is left out.
    """
    events = follow(client, application, created_after=place.created_after, after=place.event_id, types=types)
    # The endpoint is local, so proxies of the environment are ignored.
    with httpx.Client(timeout=15.0, trust_env=False) as http:
        on_disk = 0.0
        for event in events:
            pause = POLL_SECONDS
            while True:
                outcome = forward(http, target, place.secret, event)
                yield outcome
                if outcome.is_taken or (skips_refused and outcome.status is not None):
                    break
                time.sleep(pause)
                pause = min(pause * 2, MAX_PAUSE)
            place = replace(place, event_id=event["EventID"])
            is_due = time.monotonic() - on_disk >= DISK_SECONDS
            write_place(path, place, to_disk=is_due)
            on_disk = time.monotonic() if is_due else on_disk


def forward(http: httpx.Client, target: str, secret: str, event: models.Event) -> Forwarded:
    body = json.dumps(event, separators=(",", ":"), ensure_ascii=False)
    now = datetime.now(timezone.utc)
    headers: dict[str, Any] = {
        "Content-Type": "application/json",
        "User-Agent": "fulfillment-listen",
        "webhook-id": event["EventID"],
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(event["EventID"], now, body),
    }
    began = time.monotonic()
    try:
        response = http.post(target, content=body.encode(), headers=headers)
    except httpx.HTTPError as error:
        return Forwarded(event, None, _since(began), str(error) or type(error).__name__)
    return Forwarded(event, response.status_code, _since(began))


def _since(began: float) -> int:
    return int((time.monotonic() - began) * 1000)
