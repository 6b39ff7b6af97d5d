"""`fulfillment trigger`."""

from __future__ import annotations

import time
from enum import Enum
from typing import Annotated

import typer

from store_fulfillment import Client, models
from store_fulfillment.command.listening import application_of
from store_fulfillment.command.orders import show_order, usual_quantity
from store_fulfillment.command.profiles import COMMAND_LINE, Profile, signed_in
from store_fulfillment.command.screen import AsJson, notes, reported

DEMO_STORE = "demo"
SAMPLE: models.RecipientRequest = {
    "Name": "Dana Whitfield",
    "Address1": "1200 17th Street",
    "City": "Denver",
    "State": "CO",
    "PostalCode": "80202",
    "CountryCode": "US",
}
# A worker takes half a second a step.
SECONDS_TO_ARRIVE = 30.0
POLL_SECONDS = 0.3


class Story(str, Enum):
    RECEIVED = "order.received"
    ON_HOLD = "order.on_hold"
    ACCEPTED = "order.accepted"
    IN_PRODUCTION = "order.in_production"
    PARTIALLY_SHIPPED = "order.partially_shipped"
    SHIPPED = "order.shipped"
    DELIVERED = "order.delivered"
    RETURNED = "order.returned"
    CANCELLED = "order.cancelled"
    CANCELLATION_REQUESTED = "order.cancellation_requested"
    REJECTED = "order.rejected"


STEPS = (Story.RECEIVED, Story.ACCEPTED, Story.IN_PRODUCTION, Story.SHIPPED, Story.DELIVERED)
# What only a store does: a worker of the service plays it for orders of test applications, up to this status.
OUTCOMES = {
    Story.ON_HOLD: ("OnHold", 20),
    Story.PARTIALLY_SHIPPED: ("PartiallyShipped", 50),
    Story.RETURNED: ("Returned", 80),
    Story.REJECTED: ("Rejected", 95),
    Story.CANCELLATION_REQUESTED: ("CancelRefused", 10),
}


@reported
def trigger(
    story: Annotated[Story, typer.Argument(help="The event to trigger.")],
    product: Annotated[
        str | None, typer.Option(help="Of the demo store. Default: one without a template.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bring an event about: orders at the demo store, and moves the order on. Nothing is produced.

    Events that only a store causes (on_hold, partially_shipped, returned, rejected, cancellation_requested) need a
    test application.
    """
    client, profile = signed_in()
    if story in OUTCOMES:
        require_test_application(client, profile, story)
        show_order(play_outcome(client, story, product), as_json)
        return
    placed = place(client, product)
    if story == Story.CANCELLED:
        placed = client.orders.cancel(DEMO_STORE, placed["OrderID"], {"Reason": "fulfillment trigger"})
    else:
        for _ in range(STEPS.index(story)):
            placed = client.orders.advance(DEMO_STORE, placed["OrderID"])
    show_order(placed, as_json)


def place(client: Client, product: str | None, outcome: str | None = None) -> models.Order:
    product_id = product or plain_product(client)
    item: models.OrderItemRequest = {
        "ProductID": product_id,
        "Quantity": usual_quantity(client, DEMO_STORE, product_id),
    }
    body: models.OrderRequest = {"Recipient": SAMPLE, "Items": [item]}
    if outcome is not None:
        body["Metadata"] = {"TestOutcome": outcome}
    return client.orders.create(DEMO_STORE, body)


def play_outcome(client: Client, story: Story, product: str | None) -> models.Order:
    outcome, status = OUTCOMES[story]
    placed = place(client, product, outcome)
    if story == Story.CANCELLATION_REQUESTED:
        return client.orders.cancel(DEMO_STORE, placed["OrderID"], {"Reason": "fulfillment trigger"})
    ends = time.monotonic() + SECONDS_TO_ARRIVE
    with notes.status(f"Waiting for {story.value}"):
        while placed["Status"] != status:
            if time.monotonic() > ends:
                raise ValueError(
                    f"The order is still {placed['StatusName']} after {SECONDS_TO_ARRIVE:.0f} seconds: "
                    "does a worker of the service run?"
                )
            time.sleep(POLL_SECONDS)
            placed = client.orders.get(DEMO_STORE, placed["OrderID"])
    return placed


def require_test_application(client: Client, profile: Profile, story: Story) -> None:
    own = application_of(client, profile)
    if own == COMMAND_LINE or not client.applications.get(own, verbose=True).get("IsTest"):
        raise ValueError(
            f"{story.value} needs a test application: only a store moves other orders there. Register one in the "
            "developer portal, or trigger one of "
            + ", ".join(step.value for step in (*STEPS, Story.CANCELLED))
            + "."
        )


def plain_product(client: Client) -> str:
    for product in client.products.list(DEMO_STORE):
        if not product["HasTemplate"]:
            return product["ID"]
    raise ValueError("The demo store has no product without a template; name one with --product.")
