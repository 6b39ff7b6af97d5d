"""`fulfillment logs`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Annotated

import typer

from store_fulfillment import Client, ConnectionFailed, RateLimited, ServerError, models
from store_fulfillment.command import listening
from store_fulfillment.command.profiles import COMMAND_LINE, signed_in
from store_fulfillment.command.screen import AsJson, notes, plain, reported, screen, show_json

POLL_SECONDS = 2.0
PAGE = 1000
# The service's processes write calls with some seconds of delay, so the latest are read again.
OVERLAP = timedelta(seconds=30)
OWN_PATH = "/api/v1/application/{applicationID}/request"


@reported
def logs(
    status: Annotated[
        str | None, typer.Option(help="A status such as 404, or a class: 2xx, 3xx, 4xx, 5xx.")
    ] = None,
    code: Annotated[str | None, typer.Option(help="Calls refused with this error code.")] = None,
    since: Annotated[str, typer.Option(help="Begin this long ago: 30s, 10m, 2h, 7d.")] = "1h",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Continue until Ctrl-C.")] = False,
    application: listening.Application = None,
    as_json: AsJson = False,
) -> None:
    """API calls of the application, oldest first; 7 days are kept.

    A call appears some seconds after it was answered. The calls of this command itself are left out.
    """
    client, profile = signed_in()
    log = listening.application_of(client, profile, application)
    if log == COMMAND_LINE:
        raise typer.BadParameter("name an application of yours with --application; this command has no log")
    start = listening.moment_before(since)
    read_log = follow_calls if follow else read_calls
    for call in read_log(client, log, start, status, code):
        if call["Path"] == OWN_PATH:
            continue
        if as_json:
            show_json(call, is_line=True)
        else:
            screen.print(line_of(call), soft_wrap=True)


def read_calls(
    client: Client, application: str, since: datetime, status: str | None, code: str | None
) -> list[models.LoggedRequest]:
    """Calls since a time, oldest first; the service lists the newest first."""
    calls = client.requests.list(application, created_after=since, status=status, code=code, take=PAGE)
    return list(calls)[::-1]


def follow_calls(
    client: Client, application: str, since: datetime, status: str | None, code: str | None
) -> Iterator[models.LoggedRequest]:
    shown_places: set[tuple[str, str]] = set()
    while True:
        try:
            calls = read_calls(client, application, since, status, code)
        except (ConnectionFailed, RateLimited, ServerError) as error:
            notes.print(f"[yellow]{plain(error)}; trying again[/yellow]")
            time.sleep(listening.MAX_PAUSE)
            continue
        yield from (call for call in calls if place_of(call) not in shown_places)
        # Remembers repeated calls; times are the service's.
        shown_places = {place_of(call) for call in calls}
        if calls:
            newest = datetime.fromisoformat(calls[-1]["Timestamp"].replace("Z", "+00:00"))
            since = max(since, newest - OVERLAP)
        time.sleep(POLL_SECONDS)


def place_of(call: models.LoggedRequest) -> tuple[str, str]:
    return call["RequestID"], call["Timestamp"]


def line_of(call: models.LoggedRequest) -> str:
    status = call["Status"]
    color = "green" if status < 400 else "yellow" if status < 500 else "red"
    why = " ".join(part for part in (call["Code"], call["Pointer"]) if part)
    return (
        f"{plain(call['Timestamp'])}  [{color}]{status}[/{color}]  {plain(call['Method']):<6} {plain(call['Path'])}  "
        f"{call['Milliseconds']:.1f} ms  {plain(why)}{'  ' if why else ''}{plain(call['RequestID'])}"
    )
