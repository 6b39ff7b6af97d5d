import hashlib
from datetime import datetime, timedelta
from io import BytesIO
from secrets import token_hex
from unittest.mock import patch

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone
from PIL import Image
from pypdf import PdfReader

from applications.webhooks.models import Event
from printing.typesetting import RenderingFailed
from stores.catalog.models import DeliveredPrice, Product, Store
from stores.orders import pricing
from stores.orders.models import Order, OrderHistory, OrderItem, OrderTally, Quote
from stores.proofs.models import Asset
from tests.factories.orders import (
    RECIPIENT,
    card_data,
    make_card,
    make_product,
    order_body,
    price_values,
)
from tests.factories.presets import PrintPresetFactory
from tests.factories.templates import page
from tests.support.orders.refusals import REFUSALS
from tests.support.orders.sample_orders import count_all_orders

ORDERS = "/store/associated/order"
MONEY = ("ItemsTotal", "DeliveryTotal", "Total")


def quote(shop, *items, **changes):
    body = {
        "Items": [{"ProductID": p, "Quantity": q} for p, q in items or [("card", 100)]],
        "ShipTo": {"CountryCode": "US"},
        **changes,
    }
    return shop.world.as_application().call("POST", "/store/associated/quote", body).json()


def test_order_is_answered_whole(shop):
    response = shop.place(body=order_body(ExternalID="PO-1", Metadata={"campaign": "spring"}))

    order = response.json()
    assert response.status_code == 201, order
    assert response["Location"] == f"/api/v1{ORDERS}/{order['OrderID']}"
    assert (order["Status"], order["StatusName"], order["Sequence"]) == (10, "Received", 1)
    assert (order["ItemsTotal"], order["DeliveryTotal"], order["Total"]) == (12.0, 0.0, 12.0)
    assert (order["DeliveryMethodCode"], order["ProductionDays"]) == ("GROUND", 3)
    assert order["Recipient"]["Name"] == "Dana Whitfield"
    assert order["Items"][0]["PrintFile"] is None
    assert order["Metadata"] == {"campaign": "spring"}
    again = shop.world.as_application().call("GET", f"{ORDERS}/{order['OrderID']}")
    assert (again.json(), again["ETag"]) == (order, response["ETag"])
    assert shop.world.as_application().call("GET", f"{ORDERS}/@PO-1").json() == order


def test_order_takes_the_price_of_its_quote(shop):
    quoted = quote(shop)
    make = order_body(QuoteID=quoted["QuoteID"], OptionID="OVERNIGHT-1")
    DeliveredPrice.objects.update(price=99)
    order = shop.place(body=make).json()

    option = next(o for o in quoted["Options"] if o["OptionID"] == "OVERNIGHT-1")
    for name in ("ItemsTotal", "Total", "EarliestDelivery", "LatestDelivery", "DeliveryMethodCode"):
        assert order[name] == option[name]
    assert (order["QuoteID"], order["OptionID"]) == (quoted["QuoteID"], "OVERNIGHT-1")


def test_expired_quote_is_refused_with_a_fresh_one(shop):
    quoted = quote(shop)
    Quote.objects.update(expires=timezone.now() - timedelta(seconds=1))

    refused = shop.place(
        body=order_body(QuoteID=quoted["QuoteID"], OptionID="GROUND-3"), HTTP_IDEMPOTENCY_KEY="k"
    )

    body = refused.json()
    assert (refused.status_code, body["Code"]) == (409, "quote_expired")
    fresh = body["Quote"]
    assert fresh["QuoteID"] != quoted["QuoteID"]
    response = shop.place(body=order_body(QuoteID=fresh["QuoteID"], OptionID="GROUND-3"))
    assert response.status_code == 201


def test_expired_quote_is_refused_as_such_where_a_fresh_one_would_be_too_long(shop, monkeypatch):
    quoted = quote(shop)
    Quote.objects.update(expires=timezone.now() - timedelta(seconds=1))
    monkeypatch.setattr(pricing, "MAX_OPTIONS", 1)

    refused = shop.place(body=order_body(QuoteID=quoted["QuoteID"], OptionID="GROUND-3"))

    body = refused.json()
    assert (refused.status_code, body["Code"], "Quote" in body) == (409, "quote_expired", False)


def test_quote_of_a_kind_of_place_stays_with_it(shop):
    quoted = quote(shop, ShipTo={"CountryCode": "US", "LocationType": "Residential"})
    order = shop.place(body=order_body(QuoteID=quoted["QuoteID"], OptionID="GROUND-3")).json()
    Quote.objects.update(expires=timezone.now() - timedelta(seconds=1))

    refused = shop.place(body=order_body(QuoteID=quoted["QuoteID"], OptionID="GROUND-3"))

    assert (order["Total"], order["Recipient"]["LocationType"]) == (13.0, "Residential")
    fresh = refused.json()["Quote"]
    assert fresh["Options"][0]["Total"] == 13.0
    assert Quote.objects.get(pk=fresh["QuoteID"]).location_type == "Residential"


@pytest.mark.parametrize(("changes", "pointer", "code"), REFUSALS)
def test_order_refusal_points_at_the_fault(shop, changes, pointer, code):
    response = shop.place(body=order_body(**changes))

    assert response.status_code == 400, response.content
    assert [(e["Pointer"], e["Code"]) for e in response.json()["Errors"]] == [(pointer, code)]
    assert (Order.objects.count(), Event.objects.count(), OrderTally.objects.count()) == (0, 0, 0)


def test_option_of_another_quote_is_refused_with_those_of_this(shop):
    quoted = quote(shop)

    refused = shop.place(body=order_body(QuoteID=quoted["QuoteID"], OptionID="PIGEON-1"))

    [error] = refused.json()["Errors"]
    assert (error["Pointer"], error["Code"]) == ("/OptionID", "option_unknown")
    assert all(option["OptionID"] in error["Message"] for option in quoted["Options"])


@pytest.mark.parametrize("minutes", [0, 90])
def test_order_may_be_cancelled_for_the_hold_window_of_its_store(shop, minutes):
    Store.objects.filter(pk=shop.store.pk).update(hold_window_minutes=minutes)

    order = shop.place().json()

    created, until = (datetime.fromisoformat(order[name]) for name in ("Created", "CancellableUntil"))
    assert until - created == timedelta(minutes=minutes)


def test_order_of_several_items_costs_what_its_quote_said(shop):
    make_product(shop.store, "flyer", DeliveredPrices=[price_values("GROUND", "0.33")])
    items = [("card", 100), ("flyer", 350), ("card", 850)]
    quoted = quote(shop, *items)

    for option in quoted["Options"]:
        chosen = {"QuoteID": quoted["QuoteID"], "OptionID": option["OptionID"]}
        order = shop.place(body=order_body(*items, **chosen)).json()
        assert {name: order[name] for name in MONEY} == {name: option[name] for name in MONEY}
        cents = sum(round(100 * item["LineTotal"]) for item in order["Items"])
        assert cents == round(100 * order["Total"])


def test_order_gets_no_dearer_delivery_unless_requested(shop):
    prices = [price_values("OVERNIGHT", "0.17", is_default=True), price_values("COURIER", "0.30")]
    make_product(shop.store, "mug", DeliveredPrices=prices)

    refused = shop.place(body=order_body(("mug", 100)))
    response = shop.place(body=order_body(("mug", 100), DeliveryMethodCode="OVERNIGHT"))

    [fault] = refused.json()["Errors"]
    assert (refused.status_code, fault["Pointer"]) == (400, "/DeliveryMethodCode")
    assert fault["Code"] == "delivery_method_unavailable"
    assert "OVERNIGHT, COURIER" in fault["Message"]
    assert response.json()["Total"] == 17.0


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ([None, None], ["1", "2"]),
        (["2", None], ["2", "3"]),
        (["2", None, "4", None, "1"], ["2", "6", "4", "7", "1"]),
        ([None, "3", None, "4"], ["1", "3", "5", "4"]),
    ],
)
def test_item_without_a_key_gets_an_unused_one(shop, sent, kept):
    items = [{"ProductID": "card", "Quantity": 100, **({"ItemKey": key} if key else {})} for key in sent]

    placed = shop.place(body=order_body(Items=items))

    assert placed.status_code == 201, placed.content
    assert [item["ItemKey"] for item in placed.json()["Items"]] == kept


def test_order_must_be_what_was_quoted(shop):
    quoted = quote(shop)
    body = order_body(("card", 150), QuoteID=quoted["QuoteID"], OptionID="GROUND-3")

    refused = shop.place(body={**body, "Recipient": {**RECIPIENT, "CountryCode": "GB"}}).json()

    assert [(e["Pointer"], e["Code"]) for e in refused["Errors"]] == [
        ("/Items/0/Quantity", "quote_mismatch"),
        ("/Recipient/CountryCode", "quote_mismatch"),
    ]


def test_quote_binds_its_items_in_any_order(shop):
    make_product(shop.world.associated, "flyer")
    quoted = quote(shop, ("card", 100), ("flyer", 200), ("card", 300))
    [option] = [option for option in quoted["Options"] if option["OptionID"] == "GROUND-3"]
    terms = {"QuoteID": quoted["QuoteID"], "OptionID": "GROUND-3"}

    placed = shop.place(body=order_body(("card", 300), ("card", 100), ("flyer", 200), **terms))
    repeated = shop.place(body=order_body(("card", 100), ("card", 100), ("flyer", 200), **terms))

    prices = {(item["ProductID"], item["Quantity"]): item["LineTotal"] for item in option["Items"]}
    assert placed.status_code == 201, placed.content
    assert placed.json()["Total"] == option["Total"]
    assert [(item["ProductID"], item["Quantity"], item["LineTotal"]) for item in placed.json()["Items"]] == [
        ("card", 300, prices["card", 300]),
        ("card", 100, prices["card", 100]),
        ("flyer", 200, prices["flyer", 200]),
    ]
    assert repeated.status_code == 400


def test_external_id_is_unique_for_ever(shop):
    first = shop.place(body=order_body(ExternalID="PO-1")).json()
    shop.act(first, "cancel", client=shop.world.as_application())
    again = shop.place(body=order_body(ExternalID="PO-1"))
    by_another_application = shop.place(shop.world.as_user(shop.world.user), order_body(ExternalID="PO-1"))
    elsewhere = make_product(shop.world.demo) and shop.place(body=order_body(ExternalID="PO-1"), store="demo")

    assert (again.status_code, again.json()["Code"]) == (409, "external_id_exists")
    assert again.json()["OrderID"] == first["OrderID"]
    assert (by_another_application.status_code, elsewhere.status_code) == (201, 201)


def test_users_of_a_first_party_application_share_no_external_ids(shop):
    user, outsider = shop.world.as_user(shop.world.user), shop.world.as_user(shop.world.outsider)
    make_product(shop.world.demo)
    first = shop.place(user, order_body(ExternalID="PO-1"), store="demo").json()

    by_another = shop.place(outsider, order_body(ExternalID="PO-1"), store="demo")
    again = shop.place(user, order_body(ExternalID="PO-1"), store="demo")

    assert by_another.status_code == 201
    assert (again.status_code, again.json()["OrderID"]) == (409, first["OrderID"])
    for client, order in ((user, first), (outsider, by_another.json())):
        found = client.call("GET", "/store/demo/order/@PO-1").json()
        assert found["OrderID"] == order["OrderID"]


def test_order_written_before_users_had_external_ids_of_their_own_keeps_its_own(shop):
    user = shop.world.as_user(shop.world.user)
    first = shop.place(user, order_body(ExternalID="PO-1")).json()
    Order.objects.update(external_id_user=None)

    again = shop.place(user, order_body(ExternalID="PO-1"))

    assert (again.status_code, again.json()["OrderID"]) == (409, first["OrderID"])


def test_external_id_of_another_user_of_an_application_is_refused_without_the_order(shop):
    make_product(shop.world.demo)
    user, outsider = (
        shop.world.as_user(person, application=shop.world.application)
        for person in (shop.world.user, shop.world.outsider)
    )
    shop.place(user, order_body(ExternalID="PO-1"), store="demo")

    refused = shop.place(outsider, order_body(ExternalID="PO-1"), store="demo")

    assert (refused.status_code, refused.json()["Code"]) == (409, "external_id_exists")
    assert "OrderID" not in refused.json()


def test_reprint_names_its_order(shop):
    first = shop.place(body=order_body(ExternalID="PO-1")).json()
    reprint = shop.place(body=order_body(ExternalID="PO-1-again", ReprintOfOrderID="@PO-1")).json()

    assert reprint["ReprintOfOrderID"] == first["OrderID"]


def test_print_file_of_an_old_order_keeps_its_bytes_when_the_preset_changes(shop):
    make_card(shop.store)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    path = (
        shop.place(body=order_body(Items=[item]))
        .json()["Items"][0]["PrintFile"]["URL"]
        .partition("/api/v1")[2]
    )
    before = shop.world.as_application().call("GET", path).content

    Product.objects.update(preset=PrintPresetFactory(policy="CMYK", marks=False))
    order = shop.place(body=order_body(ExternalID="PO-2", Items=[item])).json()

    assert shop.world.as_application().call("GET", path).content == before
    assert order["Items"][0]["PrintFile"]["SHA256"] != hashlib.sha256(before).hexdigest()


def test_print_file_is_rendered_from_the_very_data_and_frozen(shop):
    make_card(shop.store)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    order = shop.place(body=order_body(Items=[item])).json()

    shown = order["Items"][0]["PrintFile"]
    path = shown["URL"].partition("/api/v1")[2]
    for client in (shop.world.as_application(), shop.world.as_user(shop.world.user)):
        response = client.call("GET", path, HTTP_ACCEPT="application/pdf")
        assert response["Content-Type"] == "application/pdf"
        assert hashlib.sha256(response.content).hexdigest() == shown["SHA256"]
        assert (response.content[:5], len(response.content)) == (b"%PDF-", shown["Bytes"])
        again = client.call("GET", path, HTTP_IF_NONE_MATCH=response["ETag"])
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", f'"{shown["SHA256"]}"')
    name = OrderItem.objects.get().print_file
    with default_storage.open(name, "r+b") as stored:
        stored.write(b"x")
    damaged = shop.world.as_application().call("GET", path)
    assert (damaged.status_code, damaged.json()["Code"]) == (500, "print_file_damaged")


def test_template_without_fields_is_printed_as_well(shop):
    fixed = {"Text": "Thank you", "Kind": "Text", "X": 5, "Y": 5, "Width": 60, "Height": 8, "Size": 12}
    make_product(shop.store, "fixed", Template={"Pages": [page(fixed)]})

    item = shop.place(body=order_body(("fixed", 100))).json()["Items"][0]

    assert item["PrintFile"]["Bytes"] > 0
    [name] = OrderItem.objects.values_list("print_file", flat=True)
    with default_storage.open(name) as stored:
        assert "Thank you" in PdfReader(stored).pages[0].extract_text()


@pytest.mark.parametrize("quantity", [100, 150, 850, 1000])
def test_order_costs_what_its_quote_said_and_what_it_costs_without(shop, quantity):
    quoted = quote(shop, ("card", quantity))
    plain = shop.place(body=order_body(("card", quantity))).json()

    for option in quoted["Options"]:
        chosen = {"QuoteID": quoted["QuoteID"], "OptionID": option["OptionID"]}
        order = shop.place(body=order_body(("card", quantity), **chosen)).json()
        assert {name: order[name] for name in MONEY} == {name: option[name] for name in MONEY}
        assert order["Total"] == sum(item["LineTotal"] for item in order["Items"])
        same = (plain["DeliveryMethodCode"], plain["ProductionDays"])
        if (option["DeliveryMethodCode"], option["ProductionDays"]) == same:
            assert plain["Total"] == option["Total"]


def test_unprintable_data_is_refused_by_field(shop):
    make_card(shop.store)
    items = [
        {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": {"Nickname": "x"}},
        {"ProductID": "card-two-sided", "Quantity": 100},
    ]
    response = shop.place(body=order_body(Items=items))

    pointers = {(e["Pointer"], e["Code"]) for e in response.json()["Errors"]}
    assert response.status_code == 400
    assert {
        ("/Items/0/TemplateData/Nickname", "unknown_field"),
        ("/Items/0/TemplateData/Name", "required"),
        ("/Items/1/TemplateData/Name", "required"),
    } <= pointers
    assert Order.objects.count() == 0


def test_failure_to_render_refuses_the_order(shop):
    make_card(shop.store)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    with patch("stores.proofs.services.print_rendering.render_print", side_effect=RenderingFailed("no")):
        refused = shop.place(body=order_body(Items=[item]))

    assert (refused.status_code, refused.json()["Code"]) == (409, "template_unusable")
    assert (Order.objects.count(), OrderItem.objects.count(), Event.objects.count()) == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("broken", ["append_history", "record_order_event", "count_new_order"])
def test_nothing_stays_of_an_order_killed_on_the_way(shop, broken):
    make_card(shop.store)
    before = stored_files()
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    with (
        patch(f"stores.orders.services.orders.{broken}", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        shop.place(body=order_body(Items=[item], ExternalID="PO-1"), HTTP_IDEMPOTENCY_KEY="k")

    assert [m.objects.count() for m in (Order, OrderItem, OrderHistory, Event, OrderTally)] == [0] * 5
    assert stored_files() == before
    again = shop.place(body=order_body(Items=[item], ExternalID="PO-1"), HTTP_IDEMPOTENCY_KEY="k")
    assert again.status_code == 201
    assert len(stored_files()) == len(before) + 1


def stored_files(folder="print-files"):
    if not default_storage.exists(folder):
        return []
    folders, names = default_storage.listdir(folder)
    return [f"{folder}/{n}" for n in names] + [f for sub in folders for f in stored_files(f"{folder}/{sub}")]


def test_event_names_the_application_and_nothing_of_the_recipient(shop):
    order = shop.place(body=order_body(ExternalID="PO-1")).json()
    shop.act(order, "status", {"Status": 30})

    first, second = Event.objects.order_by("pk")
    assert (first.type, second.type) == ("order.received", "order.accepted")
    assert (first.application, first.store_id) == (shop.world.application, "associated")
    assert (second.data["Sequence"], second.data["PreviousStatus"], second.data["Status"]) == (2, 10, 30)
    assert second.data["OrderURL"].endswith(f"/api/v1{ORDERS}/{order['OrderID']}")
    assert "Whitfield" not in str(first.data)


def test_own_orders_only_without_the_grant_for_all(shop):
    order = shop.place(shop.world.as_user(shop.world.user)).json()
    own = shop.place().json()
    path = f"{ORDERS}/{order['OrderID']}"

    assert shop.world.as_application().call("GET", path).status_code == 404
    assert shop.world.as_application().call("POST", f"{path}/cancel").status_code == 404
    assert shop.world.as_user(shop.world.user).call("GET", f"{ORDERS}/{own['OrderID']}").status_code == 200


def test_unchanged_order_is_answered_304(shop):
    placed = shop.place()
    path = f"{ORDERS}/{placed.json()['OrderID']}"

    same = shop.world.as_application().call("GET", path, HTTP_IF_NONE_MATCH=placed["ETag"])
    shop.act(placed.json(), "status", {"Status": 30})
    other = shop.world.as_application().call("GET", path, HTTP_IF_NONE_MATCH=placed["ETag"])

    assert (same.status_code, other.status_code) == (304, 200)


@pytest.mark.parametrize(("items", "status"), [(20, 200), (21, 503)])
def test_order_of_many_items_is_read_and_changed_in_a_slot(shop, settings, items, status):
    order = shop.place().json()
    Order.objects.update(item_count=items)
    settings.CONCURRENCY_WAIT_SECONDS = settings.LONG_ORDERS_CONCURRENCY = 0

    assert {response.status_code for response in read_and_changed(shop, order)} == {status}


@pytest.mark.parametrize("column", ["template_data", "eddm", "preflight"])
def test_order_of_few_long_items_is_read_and_changed_in_a_slot(shop, settings, column):
    order = shop.place().json()
    OrderItem.objects.update(**{column: {"Name": token_hex(20_000)}})
    settings.CONCURRENCY_WAIT_SECONDS = settings.LONG_ORDERS_CONCURRENCY = 0

    assert {response.status_code for response in read_and_changed(shop, order)} == {503}
    assert OrderHistory.objects.count() == 1


def test_long_order_is_read_and_changed_while_its_caller_reads_an_export(shop, settings):
    order = shop.place().json()
    Order.objects.update(item_count=21)
    settings.CONCURRENCY_WAIT_SECONDS = 0

    export = shop.world.as_application().call("GET", f"{ORDERS}/exportview?format=csv")
    second = shop.world.as_application().call("GET", f"{ORDERS}/exportview?format=csv")
    answers = [response.status_code for response in read_and_changed(shop, order)]
    export.close()

    assert (export.status_code, second.status_code, answers) == (200, 429, [200, 200, 200])


def read_and_changed(shop, order):
    yield shop.world.as_application().call("GET", f"{ORDERS}/{order['OrderID']}")
    yield shop.act(order, "status", {"Status": 30})
    yield shop.act(order, "cancel")


def test_stale_if_match_is_refused(shop):
    placed = shop.place()
    order, etag = placed.json(), placed["ETag"]

    moved = shop.act(order, "status", {"Status": 30}, HTTP_IF_MATCH=etag)
    stale = [
        shop.act(order, "status", {"Status": 40}, HTTP_IF_MATCH=etag),
        shop.act(order, "cancel", HTTP_IF_MATCH=f"W/{moved['ETag']}"),
        shop.act(order, "cancel", HTTP_IF_MATCH="nonsense"),
        shop.act(order, "cancel", HTTP_IF_MATCH=""),
    ]

    assert moved.status_code == 200
    assert [(r.status_code, r.json()["Code"]) for r in stale] == [(412, "precondition_failed")] * 4
    assert shop.act(order, "status", {"Status": 40}, HTTP_IF_MATCH=f'"x", {moved["ETag"]}').status_code == 200


@pytest.mark.parametrize("hostile", ["a\0b", "\ud800"])
def test_text_no_column_can_hold_is_pointed_at(shop, hostile):
    named = order_body(Items=[{"ProductID": hostile, "Quantity": 100}])
    within = order_body(Metadata={"a/b~c": hostile})

    refused = [shop.place(body=body) for body in (named, within, hostile)]

    assert [response.status_code for response in refused] == [400] * 3
    assert [e["Pointer"] for r in refused for e in r.json()["Errors"]] == [
        "/Items/0/ProductID",
        "/Metadata/a~1b~0c",
        "",
    ]
    assert refused[0].json()["Code"] == "invalid_body"


def test_packing_slip_is_a_pdf_for_any_text(shop):
    recipient = {**RECIPIENT, "Name": '#eval("1") $x$ *bold* \u6771\u4eac', "Company": "\\"}
    order = shop.place(body=order_body(Recipient=recipient)).json()

    response = shop.world.as_application().call("GET", f"{ORDERS}/{order['OrderID']}/packing-slip")

    assert (response["Content-Type"], response.content[:5]) == ("application/pdf", b"%PDF-")


def test_tally_follows_the_orders(shop):
    orders = [shop.place().json() for _ in range(3)]
    shop.act(orders[0], "status", {"Status": 30})
    shop.act(orders[1], "cancel")

    kept = sorted(OrderTally.objects.exclude(orders=0).values_list("application", "status", "orders"))
    count_all_orders()

    assert kept == sorted(OrderTally.objects.values_list("application", "status", "orders"))
    assert len(kept) == 3


def test_product_of_fields_without_a_template_is_ordered_without_a_print_file(shop):
    fields = [
        {"FieldName": "Name", "Type": "Text", "SubType": "SingleLine", "Required": True},
        {"FieldName": "Photo", "Type": "Image", "SubType": "Upload"},
    ]
    make_product(shop.store, "plain", TemplateFields=fields)
    client = shop.world.as_application()
    picture = BytesIO()
    Image.new("RGB", (9, 9)).save(picture, "PNG")
    asset = client.post("/api/v1/store/associated/asset", picture.getvalue(), content_type="image/png").json()
    quoted = quote(shop, ("plain", 100))
    option = {"QuoteID": quoted["QuoteID"], "OptionID": "GROUND-3"}
    data = {"Name": "Dana", "Photo": asset["AssetID"]}

    def order(template_data):
        item = {"ProductID": "plain", "Quantity": 100, "TemplateData": template_data}
        return shop.place(body=order_body(Items=[item], **option))

    refused = order({"Nick": "D", "Photo": "holiday"}).json()
    [item] = order(data).json()["Items"]

    assert [fault["Pointer"] for fault in refused["Errors"]] == [
        f"/Items/0/TemplateData/{name}" for name in ("Nick", "Name", "Photo")
    ]
    assert (item["TemplateData"], item["PrintFile"]) == (data, None)
    assert Asset.objects.get().is_ordered, "the store needs the picture, and it has no other copy"
    proof = client.call("POST", "/store/associated/product/plain/proof", data)
    assert (proof.status_code, proof.json()["Code"]) == (409, "template_missing")


def test_order_without_a_print_file_costs_twelve_statements(shop, django_assert_num_queries):
    client, body = shop.world.as_application(), order_body(("card", 100))
    client.call("POST", "/store/associated/order", body)

    with django_assert_num_queries(12):
        placed = client.call("POST", "/store/associated/order", body)

    assert placed.status_code == 201
