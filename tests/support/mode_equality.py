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
}
# The mark, and what it makes of a file.
MARKS = {"IsTest", "SHA256", "Bytes"}
COUNTRIES = ("US", "US", "US", "CA", "DE", "XX")


def random_items(chance: random.Random, products: list[Product]) -> list[dict[str, Any]]:
    """Mostly what can be had, and some that breaks each rule."""
    return [
        {"ProductID": chance.choice([*(p.external_id for p in products), "none"]), "Quantity": quantity}
        for quantity in chance.choices(
            (100, 100, 200, 250, 500, 1000, 1, 101, 10_000_000), k=chance.choice((1, 1, 2, 3))
        )
    ]


def random_quote(chance: random.Random, products: list[Product]) -> dict[str, Any]:
    body: dict[str, Any] = {
        "Items": random_items(chance, products),
        "ShipTo": {"CountryCode": chance.choice(COUNTRIES)},
    }
    if chance.random() < 0.3:
        body["DeliveryMethodCode"] = chance.choice(("GROUND", "OVERNIGHT", "PIGEON"))
    if chance.random() < 0.3:
        body["ProductionDays"] = chance.choice((1, 3, 77))
    return body


def random_order(chance: random.Random, products: list[Product]) -> dict[str, Any]:
    body = random_quote(chance, products)
    country = body.pop("ShipTo")["CountryCode"]
    body["Recipient"] = {**RECIPIENT, "CountryCode": country}
    if chance.random() < 0.2:
        body["Recipient"]["Name"] = chance.choice(("", "\u2603 \U000e0041", "Q" * 101))
    for item in body["Items"]:
        if item["ProductID"] == "card-two-sided":
            item["TemplateData"] = {**card_data(), "Name": chance.choice(("Ada", "W" * 300, "Grace Hopper"))}
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
