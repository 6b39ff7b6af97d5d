"""`fulfillment quote`, `order`, `budgets`, and `orders tail`, `show`, `approve` and `deny`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from store_fulfillment import Client, models
from store_fulfillment.command.catalog import Data, Fields, template_data
from store_fulfillment.command.listening import Application, application_of, follow, moment_before
from store_fulfillment.command.profiles import signed_in
from store_fulfillment.command.screen import AsJson, notes, plain, reported, screen, show_json, show_table

Quantity = Annotated[
    int | None, typer.Option("--quantity", "-n", help="Default: the product's usual one.", min=1)
]


@reported
def quote(
    store: str,
    product: str,
    quantity: Quantity = None,
    country: Annotated[str, typer.Option(help="Two letters.")] = "US",
    postal_code: Annotated[str | None, typer.Option()] = None,
    state: Annotated[str | None, typer.Option()] = None,
    as_json: AsJson = False,
) -> None:
    """What it costs, and when it arrives. Binding for 48 hours."""
    client, _ = signed_in()
    created = client.quotes.create(
        store,
        {
            "Items": [{"ProductID": product, "Quantity": quantity or usual_quantity(client, store, product)}],
            "ShipTo": {"CountryCode": country, "PostalCode": postal_code, "State": state},
        },
    )
    if as_json:
        show_json(created)
        return
    screen.print(plain(f"Quote {created['QuoteID']}, until {created['ExpiresAt']}"))
    rows = [
        (
            option["OptionID"],
            f"{option['Total']:.2f} {created['Currency']}",
            option["EarliestDelivery"],
            option["LatestDelivery"],
        )
        for option in created["Options"]
    ]
    show_table(("Option", "Total", "Earliest", "Latest"), rows, "It cannot be delivered there.")


@reported
def order(
    store: str,
    product: Annotated[str | None, typer.Argument(help="Or the whole order with --body.")] = None,
    fields: Fields = None,
    quantity: Quantity = None,
    data: Data = None,
    to: Annotated[
        Path | None, typer.Option(help="A JSON file of the recipient.", exists=True, dir_okay=False)
    ] = None,
    body: Annotated[
        str | None, typer.Option(help="A JSON file of the whole order; - is standard input.")
    ] = None,
    external_id: Annotated[
        str | None, typer.Option(help="Your own ID: a second order with it is refused.")
    ] = None,
    idempotency_key: Annotated[
        str | None, typer.Option(help="The same key orders once, for 24 hours.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Order, once: however often the request has to be sent."""
    client, _ = signed_in()
    if body is not None:
        request = json.loads(sys.stdin.read() if body == "-" else Path(body).read_text("utf-8"))
    elif product is None or to is None:
        raise typer.BadParameter("name a product and --to, or give the whole order with --body")
    else:
        item = {
            "ProductID": product,
            "Quantity": quantity or usual_quantity(client, store, product),
            "TemplateData": template_data(client, store, fields, data),
        }
        request = {"Recipient": json.loads(to.read_text("utf-8")), "Items": [item]}
    if external_id:
        request["ExternalID"] = external_id
    with notes.status("Ordering"):
        placed = client.orders.create(
            store, cast("models.OrderRequest", request), idempotency_key=idempotency_key
        )
    show_order(placed, as_json)


@reported
def show(
    store: str,
    order_id: Annotated[str, typer.Argument(help="Or @ and your ExternalID.")],
    as_json: AsJson = False,
) -> None:
    """One order, as it is now."""
    client, _ = signed_in()
    show_order(client.orders.get(store, order_id), as_json)


@reported
def tail(
    store: str,
    since: Annotated[str, typer.Option(help="Begin this long ago: 30s, 10m, 2h, 7d.")] = "0s",
    application: Application = None,
    as_json: AsJson = False,
) -> None:
    """Orders of a store as they change, until Ctrl-C."""
    client, profile = signed_in()
    start = moment_before(since)
    log = application_of(client, profile, application)
    notes.print(plain(f"Waiting for order changes at {store}. Press Ctrl-C to stop."))
    for event in follow(client, log, created_after=start, types=["order.*"], store=store):
        if as_json:
            show_json(event, is_line=True)
            continue
        text = cast("dict[str, Any]", event["Data"])
        cells = (event["Timestamp"], text["OrderNumber"], text["StatusName"], text["ExternalID"] or "")
        screen.print("  ".join(map(plain, cells)), soft_wrap=True)


def usual_quantity(client: Client, store: str, product: str) -> int:
    return client.products.get(store, product)["DefaultQty"]


def show_order(placed: models.Order, as_json: bool) -> None:
    if as_json:
        show_json(placed)
        return
    total = f"{placed['Total']:.2f} {placed['Currency']}"
    screen.print(plain(f"Order {placed['OrderNumber']}: {placed['StatusName']}, {total}"))
    screen.print(plain(f"OrderID {placed['OrderID']}, until {placed['LatestDelivery']}"))


@reported
def approve(
    store: str,
    order_id: Annotated[str, typer.Argument(help="Of an order that needs approval.")],
    note: Annotated[str | None, typer.Option(help="For the person who ordered.")] = None,
    as_json: AsJson = False,
) -> None:
    """Approve an order of another person, so that the store can print it."""
    client, _ = signed_in()
    show_order(client.orders.approve(store, order_id, {"Note": note} if note else {}), as_json)


@reported
def deny(
    store: str,
    order_id: Annotated[str, typer.Argument(help="Of an order that needs approval.")],
    reason: Annotated[str, typer.Option(help="For the person who ordered.")],
    as_json: AsJson = False,
) -> None:
    """Deny an order of another person. A denied order is over."""
    client, _ = signed_in()
    show_order(client.orders.deny(store, order_id, {"Reason": reason}), as_json)


@reported
def budgets(store: str, as_json: AsJson = False) -> None:
    """The budgets that bind your orders at a store, and what is left of each."""
    client, _ = signed_in()
    records = list(client.budgets.list(store))
    if as_json:
        show_json(records)
        return
    rows = [
        (
            budget["Name"],
            budget["Type"],
            budget["Period"]["Remaining"],
            budget["Period"]["Limit"],
            budget["Period"]["End"],
        )
        for budget in records
    ]
    show_table(("Budget", "Measure", "Left", "Limit", "Until"), rows, "No budget limits your orders there.")
