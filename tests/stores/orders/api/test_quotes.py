import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
import time_machine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stores.catalog.models import Store
from stores.orders.models import Order, Quote
from stores.orders.pricing import price_all_items
from stores.orders.requests import ListedProduct, Price, PriceRequest, PriceRequestItem
from stores.orders.selectors.quotes import quoted_prices
from tests.factories.orders import make_product, order_body, price_values

HERE = {"CountryCode": "US"}


@pytest.fixture
def store(world):
    make_product(world.associated, "card")
    make_product(
        world.associated,
        "mug",
        MinimumQty=1,
        DefaultQty=1,
        IncrementQty=1,
        DeliveredPrices=[price_values("GROUND", "9.99", is_default=True)],
        ProductionSpeeds=[{"Days": 5, "IsDefault": True}, {"Days": 3, "IsDefault": False}],
    )
    return world.associated


def ask(client, *items, **changes):
    lines = [{"ProductID": product, "Quantity": quantity} for product, quantity in items]
    return client.call("POST", "/store/associated/quote", {"Items": lines, "ShipTo": HERE, **changes})


def test_quote_has_one_option_for_each_delivery_method_and_speed(world, store):
    response = ask(world.as_application(), ("card", 150))

    body = response.json()
    assert response.status_code == 201, body
    assert response["Location"] == f"/api/v1/store/associated/quote/{body['QuoteID']}"
    shown = [(o["DeliveryMethodCode"], o["ProductionDays"], o["Total"]) for o in body["Options"]]
    assert shown == [
        ("GROUND", 1, 18.0),
        ("GROUND", 3, 18.0),
        ("OVERNIGHT", 1, 25.5),
        ("OVERNIGHT", 3, 25.5),
    ]
    assert body["Options"][0]["Items"] == [
        {"ItemKey": "1", "ProductID": "card", "Quantity": 150, "UnitPrice": 0.12, "LineTotal": 18.0}
    ]
    assert body["Options"][0]["EarliestDelivery"] < body["Options"][1]["EarliestDelivery"]


def test_long_quote_is_read_and_ordered_in_a_slot(world, store, settings):
    client = world.as_application()
    quote = ask(client, ("card", 100)).json()
    body = order_body(QuoteID=quote["QuoteID"], OptionID=quote["Options"][0]["OptionID"])
    path = f"/store/associated/quote/{quote['QuoteID']}"
    settings.LARGE_ORDERS_CONCURRENCY = settings.FILES_CONCURRENCY = settings.CONCURRENCY_WAIT_SECONDS = 0

    assert client.call("GET", path).status_code == 200
    assert client.call("POST", "/store/associated/order", body).status_code == 201
    Quote.objects.update(rendering=json.dumps({**quote, "Preflight": ["x" * 512 * 1024]}))
    assert client.call("GET", path).json()["Code"] == "service_busy"
    assert client.call("POST", "/store/associated/order", body).json()["Code"] == "service_busy"


def test_quote_of_more_than_20_items_takes_a_slot(world, store, settings):
    client = world.as_application()
    settings.LARGE_ORDERS_CONCURRENCY = settings.CONCURRENCY_WAIT_SECONDS = 0

    assert ask(client, *[("card", 100)] * 20).status_code == 201
    assert ask(client, *[("card", 100)] * 21).json()["Code"] == "service_busy"


def test_quote_has_at_most_500_options(world):
    prices = [price_values(f"M{number}", "0.12") for number in range(251)]
    make_product(world.associated, DeliveryMethod="M1", DeliveredPrices=prices)
    client = world.as_application()

    refused = ask(client, ("card", 100)).json()
    assert [(error["Pointer"], error["Code"]) for error in refused["Errors"]] == [
        ("/Items", "too_many_options")
    ]
    assert len(ask(client, ("card", 100), ProductionDays=3).json()["Options"]) == 251
    assert client.call("POST", "/store/associated/order", order_body()).status_code == 201


def test_quote_is_read_again_by_its_caller_only(world, store):
    body = ask(world.as_application(), ("card", 100)).json()
    path = f"/store/associated/quote/{body['QuoteID']}"

    assert world.as_application().call("GET", path).json() == body
    assert world.as_user(world.user).call("GET", path).json() == body  # holds Order.All.Read
    assert world.as_user(world.outsider).call("GET", path).status_code == 403
    assert world.as_application().call("GET", "/store/associated/quote/none").status_code == 404


def test_quote_in_another_currency_than_the_store_has_now_is_not_ordered(world, store):
    client = world.as_application()
    quote = ask(client, ("card", 100)).json()
    Store.objects.filter(pk=store.pk).update(currency="JPY")
    chosen = {"QuoteID": quote["QuoteID"], "OptionID": quote["Options"][0]["OptionID"]}

    response = client.call("POST", "/store/associated/order", order_body(**chosen))

    assert (response.status_code, response.json()["Code"]) == (400, "quote_mismatch")
    assert "USD" in response.json()["detail"]
    assert not Order.objects.exists()


def test_quote_binds_for_48_hours(world, store):
    ask(world.as_application(), ("card", 100))

    quote = Quote.objects.get()
    assert quote.expires - quote.created == timedelta(hours=48)


def test_dates_are_counted_from_today_in_the_zone_of_the_store(world, store):
    """In Kiritimati it is Friday already."""
    Store.objects.filter(pk=store.pk).update(time_zone="Pacific/Kiritimati")
    with time_machine.travel(datetime(2026, 3, 5, 10, 30, tzinfo=UTC), tick=False):
        quick, slow = ask(world.as_application(), ("card", 100), DeliveryMethodCode="GROUND").json()[
            "Options"
        ]

    assert (quick["EarliestDelivery"], quick["LatestDelivery"]) == ("2026-03-12", "2026-03-16")
    assert (slow["EarliestDelivery"], slow["LatestDelivery"]) == ("2026-03-16", "2026-03-18")


def test_options_are_those_all_items_have_and_issues_say_what_is_missing(world, store):
    body = ask(world.as_application(), ("card", 100), ("mug", 2)).json()

    assert [o["OptionID"] for o in body["Options"]] == ["GROUND-3", "GROUND-5"]
    assert body["Options"][0]["Total"] == 31.98
    assert body["Issues"] == [
        {
            "Code": "delivery_method_left_out",
            "Pointer": "/Items/1",
            "Message": "OVERNIGHT does not deliver this item there.",
        }
    ]


def test_named_method_and_speed_leave_one_option(world, store):
    body = ask(world.as_application(), ("card", 100), DeliveryMethodCode="OVERNIGHT", ProductionDays=1).json()

    assert [o["OptionID"] for o in body["Options"]] == ["OVERNIGHT-1"]


def test_place_decides_the_price(world, store):
    body = ask(
        world.as_application(), ("card", 100), ShipTo={"CountryCode": "US", "LocationType": "Residential"}
    ).json()

    assert [(o["OptionID"], o["Total"]) for o in body["Options"]] == [("GROUND-1", 13.0), ("GROUND-3", 13.0)]


REFUSALS = [
    ({"Items": []}, "/Items", "empty"),
    ({"Items": [{"ProductID": "none", "Quantity": 100}]}, "/Items/0/ProductID", "product_unknown"),
    ({"Items": [{"ProductID": "card", "Quantity": 50}]}, "/Items/0/Quantity", "quantity_below_minimum"),
    ({"Items": [{"ProductID": "card", "Quantity": 1050}]}, "/Items/0/Quantity", "quantity_above_maximum"),
    ({"Items": [{"ProductID": "card", "Quantity": 101}]}, "/Items/0/Quantity", "quantity_not_in_steps"),
    ({"Items": [{"ProductID": "card", "Quantity": "100"}]}, "/Items/0/Quantity", "invalid"),
    ({"Items": [{"ProductID": "card", "Quantity": 100, "Qty": 1}]}, "/Items/0/Qty", "unknown_field"),
    ({"ShipTo": {"CountryCode": "DE"}}, "/ShipTo/CountryCode", "destination_not_served"),
    ({"ShipTo": {"CountryCode": "us"}}, "/ShipTo/CountryCode", "invalid"),
    ({"ShipTo": {"CountryCode": "US", "PostalCode": "X"}}, "/ShipTo/PostalCode", "invalid_postal_code"),
    ({"ShipTo": {}}, "/ShipTo/CountryCode", "required"),
    ({"DeliveryMethodCode": "PIGEON"}, "/DeliveryMethodCode", "delivery_method_unavailable"),
    ({"ProductionDays": 2}, "/ProductionDays", "production_days_unavailable"),
    (
        {"Items": [{"ProductID": "card", "Quantity": 100, "ItemKey": k} for k in ("a", "a")]},
        "/Items/1/ItemKey",
        "item_key_repeated",
    ),
]


@pytest.mark.parametrize("kind", ["Home", 1, ["Commercial"]])
def test_refused_kind_of_place_names_those_there_are(world, store, kind):
    place = {"CountryCode": "US", "LocationType": kind}

    body = ask(world.as_application(), ("card", 100), ShipTo=place).json()

    assert body["detail"] == "ShipTo/LocationType: Write one of Commercial, Residential."


def test_country_without_delivery_is_refused_with_those_delivered_to(world, store):
    make_product(
        store, "flag", DeliveredPrices=[price_values("GROUND", "1", country_code=c) for c in ("DE", "FR")]
    )
    make_product(store, "kite", DeliveredPrices=[])

    elsewhere = ask(world.as_application(), ("card", 100), ("flag", 100), ("kite", 100)).json()
    private = ask(
        world.as_application(), ("flag", 100), ShipTo={"CountryCode": "FR", "LocationType": "Residential"}
    ).json()

    assert elsewhere["Code"] == private["Code"] == "destination_not_served"
    assert elsewhere["detail"] == (
        "CountryCode: not delivered in US: flag, kite."
        " Where they are delivered: flag DE (Commercial), FR (Commercial); kite nowhere."
    )
    assert private["detail"] == (
        "CountryCode: not delivered to Residential places in FR: flag."
        " Where they are delivered: flag DE (Commercial), FR (Commercial)."
    )


@pytest.mark.parametrize(("changes", "pointer", "code"), REFUSALS)
def test_quote_refusal_points_at_the_fault(world, store, changes, pointer, code):
    response = ask(world.as_application(), ("card", 100), **changes)

    assert response.status_code == 400
    assert [(e["Pointer"], e["Code"]) for e in response.json()["Errors"]] == [(pointer, code)]
    assert Quote.objects.count() == 0


def test_every_wrong_item_is_named(world, store):
    body = ask(world.as_application(), ("card", 1), ("none", 1), ("mug", 1), ("card", 125)).json()

    assert [e["Pointer"] for e in body["Errors"]] == [
        "/Items/0/Quantity",
        "/Items/1/ProductID",
        "/Items/3/Quantity",
    ]


def test_2000_items_are_refused(world, store):
    response = ask(world.as_application(), *[("card", 100)] * 2000)

    assert response.status_code == 400
    assert [(e["Pointer"], e["Code"]) for e in response.json()["Errors"]] == [("/Items", "max_length")]


money = st.decimals(Decimal("0.01"), Decimal("9999999999.99"), places=2)
lines = st.lists(st.tuples(money, st.integers(1, 2_000)), min_size=1, max_size=6)


@given(lines)
def test_totals_never_lose_a_cent(priced):
    products = {
        str(n): ListedProduct(
            n, str(n), "", 1, 1, 2_000, 1, "G", "", (Price("G", "Residential", cost, ""),), (), False
        )
        for n, (cost, _) in enumerate(priced)
    }
    requested = PriceRequest(
        tuple(PriceRequestItem(str(n), str(n), q) for n, (_, q) in enumerate(priced)), "US"
    )
    exact = sum(int(cost * 100) * quantity for cost, quantity in priced)
    if exact >= 10**14:
        return

    [option] = price_all_items(
        requested, products, today=date(2026, 3, 6), places_served=lambda ids: {}
    ).options

    assert int(option.total * 100) == exact
    assert option.items_total == sum(line.total for line in option.lines)


def test_order_arrives_with_its_slowest_item():
    promised = ("2-3 business days", "4-6 business days")
    products = {
        name: ListedProduct(
            1, name, "", 1, 1, 9, 1, "G", "", (Price("G", "Residential", Decimal(1), name),), (), False
        )
        for name in promised
    }
    requested = PriceRequest(tuple(PriceRequestItem(name, name, 1) for name in promised), "US")

    friday = date(2026, 3, 6)
    [option] = price_all_items(requested, products, today=friday, places_served=lambda ids: {}).options

    assert (option.earliest, option.latest) == (date(2026, 3, 12), date(2026, 3, 16))


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(1, 40_000_000), st.integers(1, 20))
def test_quoted_decimals_survive_storage(world, cents, quantity):
    product = make_product(
        world.demo,
        f"p{cents}-{quantity}-{Quote.objects.count()}",
        MinimumQty=1,
        IncrementQty=1,
        DeliveredPrices=[price_values("GROUND", str(Decimal(cents) / 100), is_default=True)],
    )
    body = {"Items": [{"ProductID": product.external_id, "Quantity": quantity}], "ShipTo": HERE}
    quote_id = world.as_application().call("POST", "/store/demo/quote", body).json()["QuoteID"]

    option = quoted_prices(Quote.objects.get(pk=quote_id)).option("GROUND-3")

    assert option.total == Decimal(cents) * quantity / 100
