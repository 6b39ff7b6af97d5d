"""A refused order or quote lists every mistake of its shape; when the shape is right, every rule that it breaks."""

import pytest

from stores.orders.models import Order, Quote
from stores.orders.services import order_prints
from tests.factories.orders import RECIPIENT, make_card, make_product, order_body
from tests.factories.templates import field, page, text_box
from tests.support.orders.refusals import REFUSALS

CARD = {"ProductID": "card-two-sided", "Quantity": 100}
HERE = {"CountryCode": "US"}
UNPRINTABLE = "Ann \U0001d518"
# Codes of rules, which are applied to bodies of the right shape.
RULES = {
    "character_not_printable",
    "delivery_method_unavailable",
    "destination_not_served",
    "order_unknown",
    "product_unknown",
    "quote_unknown",
}


@pytest.fixture
def card(shop, monkeypatch):
    """A product with a template; nothing is rendered here."""
    make_card(shop.store)
    monkeypatch.setattr(
        order_prints, "render_print_file", lambda **_: pytest.fail("A refused order was rendered.")
    )


def faults(response) -> set[tuple[str, str]]:
    body = response.json()
    assert (response.status_code, body["ErrorCount"]) == (400, len(body["Errors"])), body
    return {(error["Pointer"], error["Code"]) for error in body["Errors"]}


def request_quote(shop, **body):
    return shop.world.as_application().call("POST", "/store/associated/quote", body)


def test_refused_order_lists_what_each_rule_finds(shop, card):
    items = [
        {"ProductID": "none", "Quantity": 100},
        {"ProductID": "card", "Quantity": 1, "TemplateData": {"Name": "Ada"}},
        {**CARD, "TemplateData": {"Nmae": "Ada", "Email": "at home"}},
    ]
    body = order_body(
        Items=items,
        Recipient={**RECIPIENT, "Name": UNPRINTABLE},
        ReprintOfOrderID="none",
        DeliveryMethodCode="PIGEON",
    )

    assert faults(shop.place(body=body)) == {
        ("/Recipient/Name", "character_not_printable"),
        ("/ReprintOfOrderID", "order_unknown"),
        ("/DeliveryMethodCode", "delivery_method_unavailable"),
        ("/Items/0/ProductID", "product_unknown"),
        ("/Items/1/Quantity", "quantity_below_minimum"),
        ("/Items/1/TemplateData", "template_data_not_allowed"),
        ("/Items/2/TemplateData/Name", "required"),
        ("/Items/2/TemplateData/Nmae", "unknown_field"),
        ("/Items/2/TemplateData/Email", "not_a_email"),
    }
    assert Order.objects.count() == 0


def test_order_is_refused_for_its_shape_first(shop, card):
    items = [
        {"ProductID": "card", "Quantity": "100"},
        {"ProductID": "none", "Quantity": 0},
        {**CARD, "Qty": 5, "TemplateData": {}},
        "card",
        {"ItemKey": "e", "Note": None},
    ]
    body = order_body(
        Items=items,
        Recipient={**RECIPIENT, "City": 7, "PostalCode": "8020", "Company": UNPRINTABLE},
        QuoteID="none",
        Priority=None,
    )

    assert faults(shop.place(body=body)) == {
        ("/Priority", "unknown_field"),
        ("/OptionID", "required"),
        ("/Recipient/City", "invalid"),
        ("/Recipient/PostalCode", "invalid_postal_code"),
        ("/Items/0/Quantity", "invalid"),
        ("/Items/1/Quantity", "min_value"),
        ("/Items/2/Qty", "unknown_field"),
        ("/Items/3", "invalid"),
        ("/Items/4/Note", "unknown_field"),
        ("/Items/4/ProductID", "required"),
        ("/Items/4/Quantity", "required"),
    }


@pytest.mark.parametrize(
    ("changes", "pointer", "code"),
    [case for case in REFUSALS if case[2] in RULES and "Items" not in case[0]],
)
def test_every_broken_rule_is_listed_beside_an_unknown_product(shop, changes, pointer, code):
    both = faults(shop.place(body=order_body(("card", 100), ("none", 100), **changes)))

    if "QuoteID" in changes:
        # The items of an order by a quote are compared with those of the quote.
        assert both == {(pointer, code)}
    else:
        assert both == {(pointer, code), ("/Items/1/ProductID", "product_unknown")}


def test_order_that_differs_from_its_quote_lists_its_template_data_too(shop, card):
    items = {"Items": [CARD], "ShipTo": HERE}
    quote = request_quote(shop, **items).json()
    chosen = {"QuoteID": quote["QuoteID"], "OptionID": "GROUND-3"}
    item = {**CARD, "Quantity": 150, "TemplateData": {"Email": "ada@example.com"}}

    expected = {("/Items/0/Quantity", "quote_mismatch"), ("/Items/0/TemplateData/Name", "required")}
    assert faults(shop.place(body=order_body(Items=[item], **chosen))) == expected
    Quote.objects.update(expires="2020-01-01T00:00:00Z")
    assert faults(shop.place(body=order_body(Items=[item], **chosen))) == expected
    assert faults(shop.place(body=order_body(Items=[item], Priority=1, **chosen))) == {
        ("/Priority", "unknown_field")
    }
    assert Quote.objects.count() == 1


def test_quote_lists_its_shape_first_and_then_every_broken_rule(shop):
    items = [{"ProductID": "none", "Quantity": 1}, {"ProductID": "card", "Quantity": 7}]

    both = request_quote(shop, Items=items, ShipTo=HERE, DeliveryMethodCode="PIGEON")
    wrong = request_quote(shop, Items=items, ShipTo={"CountryCode": "us"}, DeliveryMethodCode="PIGEON")

    unknown = {("/Items/0/ProductID", "product_unknown"), ("/Items/1/Quantity", "quantity_below_minimum")}
    assert faults(both) == unknown | {("/DeliveryMethodCode", "delivery_method_unavailable")}
    assert faults(wrong) == {("/ShipTo/CountryCode", "invalid")}


def test_speed_is_refused_only_where_every_product_is_known(shop):
    fine = {"Items": [{"ProductID": "card", "Quantity": 100}], "ShipTo": HERE, "ProductionDays": 2}
    unknown = {**fine, "Items": [*fine["Items"], {"ProductID": "none", "Quantity": 100}]}

    assert faults(request_quote(shop, **fine)) == {("/ProductionDays", "production_days_unavailable")}
    assert faults(request_quote(shop, **unknown)) == {("/Items/1/ProductID", "product_unknown")}


def test_proof_lists_unknown_pictures_beside_other_mistakes(shop):
    make_product(
        shop.store,
        "photo-card",
        TemplateFields=[field("Name", Required=True), field("Photo", Type="Image", SubType="Upload")],
        Template={"Pages": [page(text_box("Name"))]},
    )
    path = "/store/associated/product/photo-card/proof"

    refused = shop.world.as_application().call("POST", path, {"Photo": "none"})

    assert faults(refused) == {("/Name", "required"), ("/Photo", "unknown_asset")}


def test_more_than_a_hundred_broken_rules_are_counted(shop):
    items = [{"ProductID": "none", "Quantity": 100} for _ in range(120)]

    body = shop.place(body=order_body(Items=items)).json()

    assert (len(body["Errors"]), body["ErrorCount"]) == (100, 120)
    assert body["detail"] == "The body has 120 errors."
