import csv
import io
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db.models import Q

from stores.orders.models import Order, OrderItem
from stores.orders.representations import EXPORT_COLUMNS
from stores.orders.selectors.export import FITTING
from tests.factories.orders import RECIPIENT, make_product, order_body
from tests.support.database.snapshots import Snapshot
from tests.support.orders.shop import Shop, build_shop
from tests.support.scenario import ApiClient

EXPORT = "/store/associated/order/exportview"
START = datetime(2026, 3, 1, tzinfo=UTC)


def build_orders() -> tuple[Shop, list[dict[str, Any]]]:
    """Ten orders a day apart: five Received, five Accepted; two of another product; alternately by two callers."""
    shop = build_shop()
    make_product(shop.store, "mug")
    placed = []
    for number in range(10):
        client = shop.world.as_application() if number % 2 else shop.world.as_user(shop.world.user)
        body = order_body(("mug" if number in {3, 4} else "card", 100), ("card", 100))
        placed.append(shop.place(client, body).json())
        if number >= 5:
            shop.act(placed[-1], "status", {"Status": 30})
        Order.objects.filter(pk=placed[-1]["OrderID"]).update(created=START + timedelta(days=number))
    return shop, placed


@pytest.fixture(scope="module")
def made_orders(snapshot_of) -> Snapshot[tuple[Shop, list[dict[str, Any]]]]:
    return snapshot_of(build_orders)


@pytest.fixture
def shop_with_orders(made_orders, db) -> tuple[Shop, list[dict[str, Any]]]:
    return made_orders.restore()


@pytest.fixture
def shop(request, made_shop: Snapshot[Shop], db) -> Shop:
    if "orders" in request.fixturenames:
        return request.getfixturevalue("shop_with_orders")[0]
    return made_shop.restore()


@pytest.fixture
def orders(shop_with_orders) -> list[dict[str, Any]]:
    return shop_with_orders[1]


def export(shop, client=None, **query):
    client = client or shop.world.as_user(shop.world.user)
    return client.call("GET", f"{EXPORT}?{urlencode(query, doseq=True)}")


def numbers(response, orders):
    """Which of the ten they are."""
    assert response.status_code == 200, response.content
    order_ids = [order["OrderID"] for order in orders]
    return [order_ids.index(row["OrderID"]) for row in response.json()]


def walk(shop, client, response):
    yield response
    while "Link" in response:
        path = re.fullmatch(r'<http://127.0.0.1:8000/api/v1(.*)>; rel="next"', response["Link"])[1]
        response = client.call("GET", path)
        yield response


FILTERS = [
    ({}, range(10)),
    ({"skip": 3}, range(3, 10)),
    ({"take": 4}, range(4)),
    ({"skip": 2, "take": 3}, [2, 3, 4]),
    ({"skip": 10}, []),
    ({"status": 30}, range(5, 10)),
    ({"status": [10, 30]}, range(10)),
    ({"status": [10, 30], "skip": 4, "take": 2}, [4, 5]),
    ({"status": 95}, []),
    ({"productID": "mug"}, [3, 4]),
    ({"productID": "card", "status": 30, "skip": 1}, range(6, 10)),
    ({"productID": "none"}, []),
    ({"orderNumber": "none"}, []),
    ({"orderNumber": "9" * 19}, []),
    ({"orderNumber": "9" * 5000}, []),
    ({"createdAfter": "2026-03-03T00:00:00Z"}, range(2, 10)),
    ({"createdAfter": "2026-03-03T00:00:00.000001Z"}, range(3, 10)),
    ({"createdBefore": "2026-03-03T00:00:00Z"}, range(2)),
    ({"createdBefore": "2026-03-03T00:00:00.000001Z"}, range(3)),
    ({"createdAfter": "2026-03-03T02:00:00+02:00", "createdBefore": "2026-03-04T19:00:00-05:00"}, [2, 3]),
    ({"createdAfter": "2026-03-03T00:00:00"}, range(2, 10)),
    ({"createdAfter": "2026-03-05T00:00:00Z", "createdBefore": "2026-03-02T00:00:00Z"}, []),
    ({"createdAfter": "2026-03-03T00:00:00Z", "status": 10, "skip": 1}, [3, 4]),
    ({"createdAfter": "2030-01-01T00:00:00Z"}, []),
]


@pytest.mark.parametrize(("query", "expected"), FILTERS)
def test_export_shows_what_the_filters_say(shop, orders, query, expected):
    response = export(shop, **query)

    assert numbers(response, orders) == list(expected)
    whole = export(shop, **{k: v for k, v in query.items() if k not in {"skip", "take"}})
    assert int(whole["X-Total-Count"]) == len(whole.json()) == int(response["X-Total-Count"])


@pytest.mark.parametrize(("query", "expected"), FILTERS)
def test_own_orders_are_filtered_the_same(shop, orders, query, expected):
    plain = {k: v for k, v in query.items() if k not in {"skip", "take"}}
    everything = numbers(export(shop, **plain), orders)
    response = export(shop, shop.world.as_application(), **plain)

    assert numbers(response, orders) == [number for number in everything if number % 2]
    assert int(response["X-Total-Count"]) == len(response.json())


def test_order_number_finds_one(shop, orders):
    response = export(shop, orderNumber=orders[6]["OrderNumber"])

    assert (numbers(response, orders), response["X-Total-Count"]) == ([6], "1")
    assert export(shop, orderNumber=f"0{orders[6]['OrderNumber']}").json() == []
    assert export(shop, shop.world.as_application(), orderNumber=orders[6]["OrderNumber"]).json() == []


def test_offset_with_a_bare_plus_sign_is_understood(shop, orders):
    client = shop.world.as_user(shop.world.user)

    assert len(client.call("GET", f"{EXPORT}?createdAfter=2026-03-03T02:00:00+02:00").json()) == 8


@pytest.mark.parametrize("query", [{}, {"status": [10, 30]}, {"productID": "card"}, {"skip": 1}])
@pytest.mark.parametrize("own", [False, True])
def test_walking_misses_and_doubles_nothing_while_orders_arrive(shop, orders, query, own):
    client = shop.world.as_application() if own else shop.world.as_user(shop.world.user)
    first = export(shop, client, take=2, **query)
    seen = []
    for step, page in enumerate(walk(shop, client, first)):
        seen += [row["OrderID"] for row in page.json()]
        if step < 3 and "Link" in page:
            orders.append(shop.place().json())

    mine = [order["OrderID"] for n, order in enumerate(orders) if n >= 10 or n % 2 or not own]
    assert seen == mine[query.get("skip", 0) :]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"skip": -1}, "?skip"),
        ({"skip": "x"}, "?skip"),
        ({"skip": 100_001}, "?skip"),
        ({"take": 0}, "?take"),
        ({"take": 1001}, "?take"),
        ({"status": 11}, "?status"),
        ({"status": ""}, "?status"),
        ({"createdAfter": "yesterday"}, "?createdAfter"),
        ({"createdBefore": "2026-13-01T00:00:00Z"}, "?createdBefore"),
        ({"verbose": "yes"}, "?verbose"),
        ({"after": "nonsense"}, "?after"),
        ({"after": "cDEy"}, "?after"),
        ({"format": "xml"}, "?format"),
        ({"createdafter": "2026-03-03T00:00:00Z"}, "?createdafter"),
        ({"Status": 95}, "?Status"),
    ],
)
def test_parameter_that_is_not_understood_is_named(shop, query, pointer):
    response = export(shop, **query)

    assert response.status_code == 400
    assert [(e["Pointer"], e["Code"]) for e in response.json()["Errors"]] == [(pointer, "parameter_invalid")]


def test_row_has_the_columns_of_the_reference(shop, orders):
    [row] = export(shop, take=1).json()

    assert tuple(row) == EXPORT_COLUMNS
    assert (row["ProductIDs"], row["ItemCount"], row["TotalQuantity"], row["Total"]) == (
        ["card"],
        2,
        200,
        24.0,
    )


def test_verbose_adds_what_hangs_on_an_order(shop, orders, django_assert_max_num_queries):
    client = shop.world.as_user(shop.world.user)
    with django_assert_max_num_queries(10):
        rows = export(shop, client, verbose="true").json()

    assert len(rows) == 10
    assert tuple(rows[9]) == (*EXPORT_COLUMNS, "Items", "Shipments", "History", "Recipient")
    assert [len(rows[9][name]) for name in ("Items", "Shipments", "History")] == [2, 0, 2]
    assert rows[9]["Recipient"]["Address1"] == RECIPIENT["Address1"]


def test_export_refuses_unknown_parameters_with_the_known_ones(db, shop):
    response = export(shop, store="demo", page=2)

    assert [e["Pointer"] for e in response.json()["Errors"]] == ["?store", "?page"]
    assert response.json()["Errors"][0]["Message"].endswith(
        "Allowed: skip, take, status, createdAfter, createdBefore, verbose, productID, orderNumber, externalID, "
        "updatedAfter, includeTest, after, format."
    )


@pytest.mark.parametrize("query", [{}, {"status": [10, 30]}, {"skip": 3}])
def test_verbose_pages_end_at_a_number_of_bytes_and_are_walked_whole(shop, orders, monkeypatch, query):
    client = shop.world.as_user(shop.world.user)
    note = "n" * 900
    for order in orders[:3]:
        shop.act(order, "status", {"Status": 20, "Note": note})
    whole = export(shop, **query)
    plain = [row["OrderID"] for row in whole.json()]
    monkeypatch.setattr("stores.orders.selectors.export.PAGE_BYTES", 12_000)

    pages = list(walk(shop, client, export(shop, verbose="true", **query)))

    assert len(pages) > 1
    assert all(len(page.content) <= 12_000 for page in pages)
    assert [row["OrderID"] for page in pages for row in page.json()] == plain
    assert {page["X-Total-Count"] for page in pages} == {whole["X-Total-Count"]}
    monkeypatch.setattr("stores.orders.selectors.export.PAGE_BYTES", 1)
    assert len(list(walk(shop, client, export(shop, verbose="true", **query)))) == len(plain)


def test_verbose_pages_count_the_routes_of_mailings(shop, orders, monkeypatch):
    routes = [["84101", f"C{number:03}", 9, ""] for number in range(100)]
    OrderItem.objects.update(eddm={"SelectionID": "1", "Vintage": "2026-10", "Routes": routes})
    monkeypatch.setattr("stores.orders.selectors.export.PAGE_BYTES", 40_000)
    client = shop.world.as_user(shop.world.user)

    pages = list(walk(shop, client, export(shop, verbose="true")))

    assert sum(len(page.json()) for page in pages) == len(orders)
    assert all(len(page.content) <= 40_000 for page in pages)


def test_verbose_page_reads_no_orders_beyond_those_that_fit(shop, orders, monkeypatch):
    """A thousand orders with values of a megabyte each kept the database busy until its time-out."""
    fails_for_others = FITTING.replace(
        "octet_length(o.rendering)", f"1 / (o.number = {orders[0]['OrderNumber']})::int"
    )
    monkeypatch.setattr("stores.orders.selectors.export.FITTING", fails_for_others)
    monkeypatch.setattr("stores.orders.selectors.export.PAGE_BYTES", 1)

    [row] = export(shop, verbose="true").json()

    assert row["OrderID"] == orders[0]["OrderID"]


def test_large_verbose_pages_have_a_slot_and_others_need_none(shop, orders, settings, monkeypatch):
    """Each took a second of processor time and 100 MB: one caller's pages kept all others waiting for 10 s."""
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = 0

    assert export(shop, verbose="true").status_code == export(shop).status_code == 200
    monkeypatch.setattr("stores.orders.selectors.export.LARGE_PAGE_BYTES", 1000)
    refused = export(shop, verbose="true")

    assert (refused.status_code, refused.json()["Code"]) == (503, "service_busy")
    assert refused["Retry-After"]
    assert export(shop).status_code == 200


@pytest.mark.parametrize("take", [1, 3])
def test_page_costs_the_same_statements_at_any_size(shop, orders, django_assert_num_queries, take):
    client = shop.world.as_user(shop.world.user)
    with django_assert_num_queries(4):  # credentials, access, page, count
        export(shop, client, take=take)


def test_subscription_key_is_optional_but_valid_if_sent(shop, orders):
    token = shop.world.as_user(shop.world.user).token

    assert ApiClient(token).call("GET", EXPORT).status_code == 200
    assert ApiClient(token, "nonsense").call("GET", EXPORT).status_code == 401


def as_csv(shop, **query):
    path = f"{EXPORT}?{urlencode(query, doseq=True)}"
    response = shop.world.as_user(shop.world.user).call("GET", path, HTTP_ACCEPT="text/csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(io.StringIO(response.getvalue().decode())))


def test_csv_streams_the_same_columns(shop, orders):
    heading, *rows = as_csv(shop)

    assert tuple(heading) == EXPORT_COLUMNS
    assert [row[0] for row in rows] == [order["OrderID"] for order in orders]
    assert len(as_csv(shop, status=30, take=2, skip=1)) == 3
    assert as_csv(shop, productID="none") == [heading]


def test_format_parameter_wins_over_the_accept_header(shop, orders):
    client = shop.world.as_user(shop.world.user)

    rows = client.call("GET", f"{EXPORT}?format=csv")
    records = client.call("GET", f"{EXPORT}?format=json&take=2", HTTP_ACCEPT="text/csv")

    assert (rows["Content-Type"], len(rows.getvalue().splitlines())) == ("text/csv; charset=utf-8", 11)
    assert len(records.json()) == 2
    assert [len(page.json()) for page in walk(shop, client, records)] == [2] * 5


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\uff1d"])
def test_csv_runs_no_formula(shop, start):
    evil = f'{start}HYPERLINK("http://evil.example")'
    shop.place(
        body=order_body(ExternalID=f"{start}1+1".replace("/", ""), Recipient={**RECIPIENT, "Name": evil})
    )

    heading, row = as_csv(shop)

    shown = dict(zip(heading, row, strict=True))
    assert (shown["RecipientName"], shown["ExternalID"]) == (f"'{evil}", f"'{start}1+1")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Ann;=1+1", "Ann;'=1+1"),
        ("Ann; @SUM(1)", "Ann;' @SUM(1)"),
        ('Ann;"=1+1"', 'Ann;\'"=1+1"'),
        ("Ann;Bob-Carl", "Ann;Bob-Carl"),
        ("Ann=1", "Ann=1"),
    ],
)
def test_csv_runs_no_formula_where_cells_end_at_semicolons(db, shop, written, shown):
    order = shop.place(body=order_body(Recipient={**RECIPIENT, "Name": written})).json()
    for status in (30, 40):
        shop.act(order, "status", {"Status": status})
    parcels = [{"Carrier": "UPS", "TrackingNumber": number} for number in ("1Z", "=1+1")]
    shop.act(order, "status", {"Status": 60, "Shipments": parcels})

    heading, row = as_csv(shop)

    cells = dict(zip(heading, row, strict=True))
    assert (cells["RecipientName"], cells["TrackingNumbers"]) == (shown, "1Z;'=1+1")


def test_external_id_and_change_find_orders(shop, orders):
    order = Order.objects.order_by("created", "id")[1]
    Order.objects.filter(pk=order.pk).update(external_id="acme-1", updated="2099-01-01T00:00:00Z")

    by_name = export(shop, externalID="acme-1")
    changed = export(shop, updatedAfter="2099-01-01T00:00:00Z")

    for response in (by_name, changed):
        assert [row["OrderID"] for row in response.json()] == [str(order.pk)]
        assert response["X-Total-Count"] == "1"
    assert export(shop, externalID="nothing").json() == []
    assert export(shop, updatedAfter="yesterday").json()["Errors"][0]["Pointer"] == "?updatedAfter"


# Each filter beside `updatedAfter`, and the orders that it leaves.
BESIDE: list[tuple[dict[str, Any], Q]] = [
    ({}, Q()),
    ({"status": 30}, Q(status=30)),
    ({"status": [10, 30]}, Q()),
    ({"productID": "mug"}, Q(product_ids__contains=["mug"])),
    ({"productID": "card", "status": 10}, Q(status=10)),
    ({"createdBefore": "2026-03-07T00:00:00Z"}, Q(created__lt="2026-03-07T00:00:00Z")),
    (
        {"createdAfter": "2026-03-03T00:00:00Z", "status": 30},
        Q(created__gte="2026-03-03T00:00:00Z", status=30),
    ),
    ({"createdAfter": "2026-03-05T00:00:00Z", "createdBefore": "2026-03-02T00:00:00Z"}, Q(pk=None)),
    ({"includeTest": "true", "status": 10}, Q(status=10)),
]


@pytest.mark.parametrize("days", [-1, 0, 2.5, 6, 20])
def test_changed_orders_are_found_wherever_the_moment_lies(shop, orders, days):
    """Before, among and behind the orders; those from before the moment were changed early or late."""
    for number, order in enumerate(Order.objects.order_by("created", "id")):
        changed = order.created + timedelta(days=(0, 7, 1, 3)[number % 4])
        Order.objects.filter(pk=order.pk).update(updated=changed)
    since = START + timedelta(days=days)
    changed_orders = Order.objects.filter(updated__gte=since).order_by("created", "id")
    callers = [(shop.world.as_user(shop.world.user), Q()), (shop.world.as_application(), Q(user=None))]
    for client, own in callers:
        for filters, left in BESIDE:
            expected = [str(pk) for pk in changed_orders.filter(own, left).values_list("pk", flat=True)]
            sought = {"updatedAfter": since.isoformat(), **filters}

            pages = list(walk(shop, client, export(shop, client, take=2, **sought)))

            assert [row["OrderID"] for page in pages for row in page.json()] == expected, sought
            assert {page["X-Total-Count"] for page in pages} == {str(len(expected))}, sought
            skipped = export(shop, client, skip=1, take=3, **sought)
            assert [row["OrderID"] for row in skipped.json()] == expected[1:4], sought


def test_changed_orders_of_one_store_are_not_sought_in_another(shop, orders):
    other = shop.world.unassociated
    moved = Order.objects.order_by("created", "id")[3]
    Order.objects.filter(pk=moved.pk).update(store=other)
    since = (START + timedelta(days=8)).isoformat()

    rows = export(shop, updatedAfter=since)

    assert str(moved.pk) not in [row["OrderID"] for row in rows.json()]
    assert rows["X-Total-Count"] == str(len(rows.json())) == "9"


def test_skip_beyond_its_limit_names_the_link(shop):
    [error] = export(shop, skip=100_001).json()["Errors"]

    assert error["Message"] == 'skip: at most 100,000; for more, follow rel="next" of the header Link.'


def test_total_is_counted_up_to_its_limit_and_left_out_beyond(shop, orders, monkeypatch):
    monkeypatch.setattr("stores.orders.selectors.export.MAX_COUNTED", 4)

    counted = [
        export(shop, **filters).get("X-Total-Count")
        for filters in ({"productID": "mug"}, {"productID": "card"})
    ]

    assert counted == ["2", None]
    assert export(shop)["X-Total-Count"] == export(shop, status=[10, 30])["X-Total-Count"] == "10"


def test_orders_placed_at_the_same_moment_are_walked_by_their_ids(shop, orders):
    client = shop.world.as_user(shop.world.user)
    Order.objects.update(created=START)

    pages = list(walk(shop, client, export(shop, client, take=3)))

    order_ids = [row["OrderID"] for page in pages for row in page.json()]
    assert order_ids == sorted(order["OrderID"] for order in orders)
