"""What test orders are, where they are seen, and where not."""

import csv
from datetime import timedelta
from io import BytesIO, StringIO
from itertools import pairwise

import pytest
from django.utils import timezone
from pypdf import PdfReader

from applications.webhooks.models import Event
from applications.webhooks.selectors.webhooks import event_record
from stores.catalog.models import StoreUsage
from stores.catalog.services.usage import flush_store_usage
from stores.console import dashboard_cards, needs_attention
from stores.orders.models import Order, OrderDay, OrderTally
from stores.orders.selectors.board import orders_by_status
from stores.orders.services.simulation import advance_demo_orders
from tests.factories.orders import card_data, make_card, make_product, order_body
from tests.support.api.modes import add_test_application
from tests.support.orders.sample_orders import count_all_orders

QUOTE = {"Items": [{"ProductID": "card", "Quantity": 100}], "ShipTo": {"CountryCode": "US"}}
EXPORT = "/store/associated/order/exportview"


@pytest.fixture
def tester(shop):
    """The credentials of a test application with the associations of the other one."""
    return shop.world.as_application(add_test_application(shop.world))


@pytest.fixture
def staff(shop):
    return shop.world.as_user(shop.world.user)


def exported(client, query=""):
    response = client.call("GET", f"{EXPORT}{query}")
    assert response.status_code == 200, response.content
    return response.json()


def test_order_and_its_events_say_that_they_are_a_test(shop, tester):
    order = shop.place(tester).json()
    live = shop.place().json()

    assert (order["IsTest"], live["IsTest"]) == (True, False)
    reported = {event.data["OrderID"]: event.data["IsTest"] for event in Event.objects.all()}
    assert reported == {order["OrderID"]: True, live["OrderID"]: False}
    assert [event_record(event)["Data"]["IsTest"] for event in Event.objects.order_by("pk")] == [True, False]


def test_test_orders_count_nowhere(shop, tester, rf):
    for _ in range(3):
        shop.place(tester)
    shop.place()

    assert orders_by_status(None) == {10: 1}
    count_all_orders()
    assert OrderTally.objects.get().orders == 1
    request = rf.get("/admin/")
    request.user = shop.world.operator
    chart, _, card = dashboard_cards(request)
    assert (card.context["total"], card.context["waiting"]) == (1, 1)
    assert (chart.context["placed"], OrderDay.objects.get().placed) == (1, 1)
    flush_store_usage()
    assert StoreUsage.objects.get().calls == 1
    Order.objects.filter(is_test=True).update(cancellation="Requested", latest_delivery="2026-01-02")
    assert needs_attention(request) == []


def test_export_view_has_test_orders_only_when_requested(shop, tester, staff):
    test, live = shop.place(tester).json(), shop.place().json()

    assert [row["OrderID"] for row in exported(staff)] == [live["OrderID"]]
    assert [row["OrderID"] for row in exported(staff, "?verbose=true")] == [live["OrderID"]]
    assert "IsTest" not in exported(staff)[0]
    both = exported(staff, "?includeTest=true")
    assert [(row["OrderID"], row["IsTest"]) for row in both] == [
        (test["OrderID"], True),
        (live["OrderID"], False),
    ]
    assert [row["IsTest"] for row in exported(staff, "?includeTest=true&verbose=true")] == [True, False]
    application = shop.world.as_application()
    assert [row["OrderID"] for row in exported(application, "?includeTest=true")] == [live["OrderID"]]
    assert exported(tester) == []
    assert [row["OrderID"] for row in exported(tester, "?includeTest=true")] == [test["OrderID"]]


def test_csv_with_test_orders_has_one_column_more(shop, tester, staff):
    shop.place(tester)
    shop.place()

    plain, both = (
        list(csv.DictReader(StringIO(b"".join(staff.call("GET", f"{EXPORT}{query}")).decode())))
        for query in ("?format=csv", "?format=csv&includeTest=true")
    )

    assert ("IsTest" in plain[0], len(plain)) == (False, 1)
    assert [row["IsTest"] for row in both] == ["True", "False"]


@pytest.mark.parametrize("query", ["", "&status=10", "&productID=card", "&createdAfter=2020-01-01T00:00:00Z"])
def test_export_with_test_orders_is_walked_in_their_order(shop, tester, staff, query):
    placed = [shop.place(client).json()["OrderID"] for client in (tester, None, None, tester, tester, None)]
    skipped = exported(staff, f"?includeTest=true&skip=2&take=2{query}")
    assert [row["OrderID"] for row in skipped] == placed[2:4]

    seen, path = [], f"{EXPORT}?includeTest=true&take=2{query}"
    while path:
        page = staff.call("GET", path)
        assert page["X-Total-Count"] == "6"
        seen += [row["OrderID"] for row in page.json()]
        link = page.headers.get("Link", "")
        path = link.partition("/api/v1")[2].partition(">")[0]

    assert seen == placed


def test_walk_continues_where_the_last_test_order_was_pruned(shop, tester, staff):
    placed = [shop.place(client).json()["OrderID"] for client in (None, tester, None, tester)]
    link = staff.call("GET", f"{EXPORT}?includeTest=true&take=2")["Link"]
    Order.objects.filter(pk=placed[1]).delete()

    next_page = staff.call("GET", link.partition("/api/v1")[2].partition(">")[0]).json()

    assert [row["OrderID"] for row in next_page] == placed[2:]


def test_created_bounds_hold_for_both_kinds(shop, tester, staff):
    placed = [shop.place(client).json() for client in (None, tester, None, tester)]
    moments = [order["Created"] for order in placed]

    for low, high in pairwise(range(4)):
        query = f"?includeTest=true&createdAfter={moments[low]}&createdBefore={moments[high]}"
        assert [row["OrderID"] for row in exported(staff, query)] == [placed[low]["OrderID"]]
    live = exported(staff, f"?createdAfter={moments[1]}")
    assert [row["OrderID"] for row in live] == [placed[2]["OrderID"]]


def test_quote_of_one_mode_is_unknown_to_the_other(shop, tester, staff):
    live = shop.world.as_application()
    for maker, other in ((tester, live), (live, tester)):
        quote = maker.call("POST", "/store/associated/quote", QUOTE).json()
        body = order_body(QuoteID=quote["QuoteID"], OptionID="GROUND-3")

        refused = other.call("POST", "/store/associated/order", body)

        assert refused.json()["Errors"][0]["Code"] == "quote_unknown"
        assert other.call("GET", f"/store/associated/quote/{quote['QuoteID']}").status_code == 404


def test_live_order_of_a_user_is_never_made_from_tests(shop, tester, staff):
    """Through the service's own applications a person sees both modes, and makes live orders."""
    quote = tester.call("POST", "/store/associated/quote", QUOTE).json()
    order = shop.place(tester).json()
    assert staff.call("GET", f"/store/associated/order/{order['OrderID']}").status_code == 200

    by_quote = shop.place(staff, order_body(QuoteID=quote["QuoteID"], OptionID="GROUND-3")).json()
    reprint = shop.place(staff, order_body(ReprintOfOrderID=order["OrderID"])).json()

    assert by_quote["Errors"][0]["Code"] == "quote_unknown"
    assert reprint["Errors"][0]["Code"] == "order_unknown"
    assert shop.place(staff).json()["IsTest"] is False


def test_ids_and_keys_of_both_modes_never_clash(shop, tester):
    answers = [
        shop.place(client, order_body(ExternalID="PO-7"), HTTP_IDEMPOTENCY_KEY="k")
        for client in (tester, shop.world.as_application())
    ]

    assert [response.status_code for response in answers] == [201, 201]
    assert answers[0].json()["OrderID"] != answers[1].json()["OrderID"]
    again = shop.place(tester, order_body(ExternalID="PO-7"))
    assert again.json()["OrderID"] == answers[0].json()["OrderID"]


def test_test_order_is_advanced_in_every_store(shop, tester):
    order = shop.place(tester).json()

    statuses = [shop.act(order, "advance", client=tester).json()["Status"] for _ in range(4)]

    assert statuses == [30, 40, 60, 70]
    live = shop.place().json()
    refused = shop.act(live, "advance", client=shop.world.as_application())
    assert refused.json()["Code"] == "not_demo_store"


def test_print_file_and_packing_slip_carry_the_mark(shop, tester):
    make_card(shop.store)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    body = {**order_body(), "Items": [{**item, "ItemKey": "1"}]}
    texts = []
    for client in (tester, shop.world.as_application()):
        path = f"/store/associated/order/{shop.place(client, body).json()['OrderID']}"
        for document in ("item/1/print-file", "packing-slip"):
            response = client.call("GET", f"{path}/{document}")
            assert response.status_code == 200, response.content
            pages = PdfReader(BytesIO(response.content)).pages
            texts.append(["TEST" in page.extract_text() for page in pages])

    assert texts == [[True, True], [True], [False, False], [False]]


@pytest.mark.parametrize("outcome", ["Lost", "rejected", ""])
def test_unknown_outcome_is_refused_in_a_test_order_alone(shop, tester, outcome):
    body = order_body(Metadata={"TestOutcome": outcome})

    refused = shop.place(tester, body)

    assert refused.status_code == 400
    [error] = refused.json()["Errors"]
    assert (error["Pointer"], error["Code"]) == ("/Metadata/TestOutcome", "test_outcome_unknown")
    assert "PartiallyShipped" in error["Message"]
    live = shop.place(body=body)
    assert (live.status_code, live.json()["Metadata"]) == (201, {"TestOutcome": outcome})


def test_demo_orders_with_an_outcome_are_left_to_it(shop):
    make_test = shop.world.as_application(add_test_application(shop.world, store="demo"))
    make_product(shop.world.demo)
    for metadata in ({}, {"TestOutcome": "OnHold"}):
        assert shop.place(make_test, order_body(Metadata=metadata), store="demo").status_code == 201
    Order.objects.update(updated=timezone.now() - timedelta(hours=1))

    assert advance_demo_orders(older_than=timedelta(minutes=1)) == 1
    assert sorted(Order.objects.values_list("status", flat=True)) == [10, 30]
