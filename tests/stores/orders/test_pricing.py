"""The rules for prices, without a database."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from fulfillment.core.errors import Invalid
from stores.orders.pricing import TOTAL_LIMIT, price_all_items
from stores.orders.requests import ListedProduct, Price, PriceRequest, PriceRequestItem, Speed


def product(name, *, speeds=((5, True),), prices=("GROUND Commercial 10",), **changes):
    """Each price is a delivery method, a location type and an amount."""
    listed = [price.split() for price in prices]
    product = ListedProduct(
        pk=1,
        product_id=name,
        name=name,
        version=1,
        minimum_quantity=1,
        maximum_quantity=1000,
        quantity_increment=1,
        delivery_method=listed[0][0],
        default_location_type="Commercial",
        prices=tuple(Price(method, kind, Decimal(amount), "") for method, kind, amount in listed),
        speeds=tuple(Speed(*speed) for speed in speeds),
        takes_data=False,
    )
    return replace(product, **changes)


def quoted(*products, quantity=1, **wanted):
    items = tuple(PriceRequestItem(product.product_id, product.product_id, quantity) for product in products)
    product_by_id = {product.product_id: product for product in products}
    request = PriceRequest(items, "US", **wanted)
    return price_all_items(
        request, product_by_id, today=date(2026, 3, 2), places_served=lambda ids: {}
    ), product_by_id


def refusal(*products, **wanted):
    with pytest.raises(Invalid) as refused:
        quoted(*products, **wanted)
    return [(fault.pointer, fault.code) for fault in refused.value.faults]


@pytest.mark.parametrize("order", [1, -1])
def test_default_speed_is_the_slowest_default_of_all_items(order):
    products = [
        product("fast", speeds=((2, True), (5, False), (7, False))),
        product("slow", speeds=((2, False), (5, True), (7, False))),
    ]

    prices, known = quoted(*products[::order])

    assert prices.speeds == [2, 5, 7]
    assert prices.default_option(known).option_id == "GROUND-5"


def test_speed_that_is_faster_than_an_item_can_be_made_is_not_offered():
    rush, slow = product("rush", speeds=((1, False), (3, True))), product("slow", speeds=((3, True),))

    assert quoted(rush, slow)[0].speeds == [3]
    assert refusal(rush, slow, production_days=1) == [("/ProductionDays", "production_days_unavailable")]


def test_total_stays_below_the_limit():
    most = TOTAL_LIMIT / 1000
    below, at = (
        product("below", prices=[f"GROUND Commercial {most - Decimal('0.01')}"]),
        product("at", prices=[f"GROUND Commercial {most}"]),
    )

    [option] = quoted(below, quantity=1000)[0].options

    assert option.total == TOTAL_LIMIT - 10
    assert refusal(at, quantity=1000) == [("/Items", "total_too_large")]


def test_price_is_that_of_the_location_type_or_of_the_default_one():
    one = product("one", prices=["GROUND Residential 12", "GROUND Commercial 10", "PICKUP Residential 8"])

    def amounts(**wanted):
        return {code: found[0].price for code, found in quoted(one, **wanted)[0].prices_by_method.items()}

    assert amounts() == {"GROUND": 10, "PICKUP": 8}
    assert amounts(location_type="Residential") == {"GROUND": 12, "PICKUP": 8}
    assert amounts(location_type="Commercial") == {"GROUND": 10}


def test_price_without_any_location_type_is_the_residential_one():
    one = product("one", prices=["GROUND Commercial 10", "GROUND Residential 12"], default_location_type="")

    [option] = quoted(one)[0].options

    assert option.total == 12


def test_quantity_is_the_minimum_or_steps_above_it():
    one = product("one", minimum_quantity=25, quantity_increment=50)

    assert quoted(one, quantity=25)[0].options[0].lines[0].quantity == 25
    assert quoted(one, quantity=75)[0].options[0].lines[0].quantity == 75
    assert refusal(one, quantity=100) == [("/Items/0/Quantity", "quantity_not_in_steps")]


def test_500_options_are_quoted_and_501_are_refused():
    def methods(count, speeds):
        prices = [f"M{number} Commercial 10" for number in range(count)]
        return quoted(product("one", prices=prices, speeds=speeds))[0]

    most = methods(250, ((1, True), (2, False)))
    above = methods(167, ((1, True), (2, False), (3, False)))

    assert (most.has_too_many_options, len(most.options)) == (False, 500)
    with pytest.raises(Invalid, match="there are 501 options; at most 500"):
        above.options  # noqa: B018 - a property that refuses


@pytest.mark.parametrize(("count", "end"), [(20, "p18, p19"), (21, "p18, p19, 1 more")])
def test_refused_destination_names_20_products(count, end):
    unserved = [product(f"p{number:02}") for number in range(count)]

    with pytest.raises(Invalid) as refused:
        quoted(*unserved, location_type="Residential")

    assert f"{end}. Where they are delivered: p00 nowhere; " in refused.value.faults[0].message


def test_method_that_one_item_lacks_is_left_out_with_its_reason():
    both = product("both", prices=["GROUND Commercial 10", "PICKUP Commercial 8"])

    prices, _ = quoted(both, product("ground"))

    assert [option.option_id for option in prices.options] == ["GROUND-5"]
    assert [(issue.pointer, issue.code) for issue in prices.issues] == [
        ("/Items/1", "delivery_method_left_out")
    ]
