"""The same requests with live and with test credentials, and their answers without what must differ."""

import random
import re
from typing import Any

from stores.catalog.models import Product
from tests.factories.orders import RECIPIENT, card_data
from tests.support.scenario import ApiClient

# Members that name this very record or its moment.
OWN = {
    "QuoteID",
    "OrderID",
    "OrderNumber",
    "ApplicationID",
    "Created",
    "Updated",
    "ExpiresAt",
    "CancellableUntil",
    "RequestID",
}
# The mark, and what it makes of a file.
MARKS = {"IsTest", "SHA256", "Bytes"}


def random_items(chance: random.Random, products: list[Product], *, broken: bool) -> list[dict[str, Any]]:
    names = [product.external_id for product in products]
    quantities = [100, 200, 300, 500, 1000]
    if broken:
        names, quantities = [*names, "none"], [*quantities, 1, 101, 10_000_000]
    return [
        {"ProductID": chance.choice(names), "Quantity": chance.choice(quantities)}
        for _ in range(chance.choice((1, 1, 2, 3)))
    ]


def random_quote(chance: random.Random, products: list[Product]) -> dict[str, Any]:
    """One in five breaks some rule."""
    broken = chance.random() < 0.2
    body: dict[str, Any] = {
        "Items": random_items(chance, products, broken=broken),
        "ShipTo": {"CountryCode": chance.choice(("XX", "DE", "US") if broken else ("US",))},
    }
    if chance.random() < 0.3:
        body["DeliveryMethodCode"] = chance.choice(
            ("PIGEON", "GROUND") if broken else ("GROUND", "OVERNIGHT")
        )
        body["ProductionDays"] = chance.choice((77, 3) if broken else (1, 3))
    return body


def random_order(chance: random.Random, products: list[Product]) -> dict[str, Any]:
    body = random_quote(chance, products)
    body["Recipient"] = {**RECIPIENT, **body.pop("ShipTo")}
    if chance.random() < 0.1:
        body["Recipient"]["Name"] = chance.choice(("", "\U000e0041", "Q" * 101))
    for item in body["Items"]:
        if item["ProductID"] == "card-two-sided":
            name = chance.choices(("Ada", "Grace Hopper", "W" * 300), (10, 10, 1))[0]
            item["TemplateData"] = {**card_data(), "Name": name}
    if chance.random() < 0.3:
        body["Metadata"] = {"campaign": chance.choice(("spring", "autumn"))}
    return body


def compared(clients: tuple[ApiClient, ApiClient], thing: str, body: dict[str, Any]) -> tuple[int, Any, Any]:
    """The status of the live answer, and both answers as far as they must be the same."""
    answers = [client.call("POST", f"/store/associated/{thing}", body) for client in clients]
    live, test = ((answer.status_code, _same(answer.json())) for answer in answers)
    return live[0], live, test


def _same(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _same(inner) for name, inner in value.items() if name not in OWN | MARKS}
    if isinstance(value, list):
        return [_same(inner) for inner in value]
    if isinstance(value, str):
        return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", value)
    return value
