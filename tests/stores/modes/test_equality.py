"""The same requests with live and with test credentials, and their answers without what must differ."""

import random
import re
from typing import Any

import pytest

from accounts.models import Subscription
from stores.catalog.models import Product
from tests.factories.orders import RECIPIENT, card_data, make_card, make_product
from tests.support.api.modes import add_test_application
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
    live, test = ((response.status_code, _same(response.json())) for response in answers)
    return live[0], live, test


def _same(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _same(inner) for name, inner in value.items() if name not in OWN | MARKS}
    if isinstance(value, list):
        return [_same(inner) for inner in value]
    if isinstance(value, str):
        return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", value)
    return value


@pytest.fixture
def clients(shop):
    Subscription.objects.update(requests_per_minute=10_000_000)
    application = add_test_application(shop.world)
    Subscription.objects.filter(application=application).update(requests_per_minute=10_000_000)
    return shop.world.as_application(), shop.world.as_application(application)


@pytest.fixture
def products(shop):
    products = [make_product(shop.store, "flyer"), make_card(shop.store)]
    return [*shop.store.products.exclude(pk__in=[product.pk for product in products]), *products]


def differing(clients, products, *, quotes, orders, seed):
    """Answers that differ, of so many that were given and those that were refused meanwhile; and how many of these."""
    chance = random.Random(seed)
    found, refused = [], 0
    for thing, make, count in (("quote", random_quote, quotes), ("order", random_order, orders)):
        given = 0
        while given < count:
            body = make(chance, products)
            status, live, test = compared(clients, thing, body)
            given += status == 201
            refused += status == 400
            if live != test:
                found.append((body, live, test))
    return found, refused


def test_both_modes_answer_the_same(clients, products):
    found, refused = differing(clients, products, quotes=25, orders=6, seed=3)

    assert found == []
    assert refused


@pytest.mark.slow
def test_many_quotes_and_orders_are_the_same(clients, products):
    found, refused = differing(clients, products, quotes=200, orders=40, seed=11)

    assert found == []
    assert refused
