"""`fulfillment events` and `listen`."""

from __future__ import annotations

from typing import Annotated, Any, cast
from urllib.parse import urlsplit

import typer

from store_fulfillment import models
from store_fulfillment.command import listening
from store_fulfillment.command.profiles import signed_in
from store_fulfillment.command.screen import AsJson, notes, plain, reported, screen, show_json

Types = Annotated[
    list[str] | None, typer.Option("--type", help="A name or a pattern such as order.*; repeat it.")
]


@reported
def events(
    types: Types = None,
    store: Annotated[str | None, typer.Option(help="Only for this store.")] = None,
    since: Annotated[str, typer.Option(help="Begin this long ago: 30s, 10m, 2h, 7d.")] = "1d",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Continue until Ctrl-C.")] = False,
    application: listening.Application = None,
    as_json: AsJson = False,
) -> None:
    """What happened to your orders and requests, oldest first; 30 days are kept."""
    client, profile = signed_in()
    log = listening.application_of(client, profile, application)
    start = listening.moment_before(since)
    if follow:
        stream = listening.follow(client, log, created_after=start, types=types or (), store=store)
    else:
        event_types = cast("Any", types or None)
        stream = iter(
            client.events.list(log, created_after=start, type=event_types, store_id=store, take=500)
        )
    for event in stream:
        if as_json:
            show_json(event, is_line=True)
        else:
            screen.print(line_of(event), soft_wrap=True)


@reported
def listen(
    forward_to: Annotated[
        str, typer.Option(help="The address of your endpoint, such as http://localhost:3000/hook.")
    ],
    types: Types = None,
    since: Annotated[
        str, typer.Option(help="Of the first start: begin this long ago: 30s, 10m, 2h, 7d.")
    ] = "0s",
    restart: Annotated[
        bool, typer.Option(help="Ignore the saved position, and begin as on the first start.")
    ] = False,
    skip_refused: Annotated[bool, typer.Option(help="Continue if the endpoint refuses an event.")] = False,
    application: listening.Application = None,
    as_json: AsJson = False,
) -> None:
    """Forward events to an endpoint on this machine, signed as webhooks are.

    It reads the log of events: no address has to be open to the service. It goes on where it was left, so
    nothing is lost between two starts; each event is sent until the endpoint answers with 2xx.
    """
    if urlsplit(forward_to).scheme not in {"http", "https"}:
        raise typer.BadParameter("--forward-to is an address that begins with http:// or https://")
    client, profile = signed_in()
    log = listening.application_of(client, profile, application)
    path = listening.place_file(log, forward_to)
    place = None if restart else listening.read_place(path)
    if place is None:
        place = listening.new_place(since)
        listening.write_place(path, place)
    notes.print(plain(f"Forwarding to {forward_to}. Press Ctrl-C to stop. The secret of the signatures:"))
    notes.print(place.secret, soft_wrap=True)
    for forwarded in listening.forward_all(
        client, log, forward_to, path=path, place=place, types=types or (), skips_refused=skip_refused
    ):
        _show_forwarded(forwarded, as_json)


def _show_forwarded(result: listening.Forwarded, as_json: bool) -> None:
    if as_json:
        show_json(
            {"Event": result.event, "Status": result.status, "Milliseconds": result.milliseconds},
            is_line=True,
        )
    elif result.is_taken:
        screen.print(
            f"{line_of(result.event)}  [green]{result.status}[/green] {result.milliseconds} ms",
            soft_wrap=True,
        )
    else:
        text = result.problem or f"answered {result.status}"
        screen.print(f"{line_of(result.event)}  [red]{plain(text)}[/red]", soft_wrap=True)


def line_of(event: models.Event) -> str:
    text = cast("dict[str, Any]", event["Data"])
    about = text.get("OrderNumber") or text.get("AssociationID") or text.get("WebhookID") or ""
    return plain(f"{event['Timestamp']}  {event['Type']:<24} {about}")
