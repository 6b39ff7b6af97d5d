"""A quote in the console: what was offered, and what was ordered of it."""

from tests.factories.orders import order_body
from tests.support.pages import text

QUOTE = {"Items": [{"ProductID": "card", "Quantity": 100}], "ShipTo": {"CountryCode": "US"}}


def page_of(client, quote) -> str:
    return text(client.get(f"/admin/stores/quote/{quote['QuoteID']}/change/"))


def test_quote_shows_its_options_items_and_orders(shop, client):
    quote = shop.world.as_application().call("POST", "/store/associated/quote", QUOTE).json()
    client.force_login(shop.world.operator)

    page = page_of(client, quote)

    assert {option["OptionID"] for option in quote["Options"]} > {"GROUND-3", "OVERNIGHT-1"}
    for option in quote["Options"]:
        assert f"<td>{option['OptionID']}</td>" in page
        assert f"<b>{option['Total']:.2f}</b>" in page
    assert "<td>card</td>" in page
    assert "Ordered as" not in page

    order = shop.place(body=order_body(QuoteID=quote["QuoteID"], OptionID="GROUND-3")).json()
    assert f"order {order['OrderNumber']}</a>" in page_of(client, quote)
