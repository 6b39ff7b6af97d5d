import itertools
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from stores.orders.models import ActorKind, Order, OrderTally
from stores.orders.representations import render_export_row
from stores.orders.services.changes import Actor, lock_orders
from stores.orders.services.simulation import advance_demo_orders
from stores.orders.services.transitions import transition_order
from tests.factories.orders import make_product
from tests.support.orders.sample_orders import count_all_orders, create_sample_orders


@pytest.fixture
def orders(shop):
    placed = [shop.place().json() for _ in range(3)]
    for order in placed[:2]:
        for status in (30, 40):
            shop.act(order, "status", {"Status": status})
    return placed


def run(tmp_path, capsys, text, *options):
    file = tmp_path / "statuses.csv"
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    try:
        call_command("import_order_status", str(file), *options)
    except CommandError as error:
        return capsys.readouterr().out.splitlines(), str(error)
    return capsys.readouterr().out.splitlines(), ""


def test_status_too_long_to_be_a_number_is_refused(orders, tmp_path, capsys):
    number = orders[0]["OrderNumber"]

    lines, _ = run(tmp_path, capsys, f"Order number,Status,Carrier,Tracking\n{number},{'9' * 5000},,\n")

    assert "refused" in lines[0]


def test_statuses_are_imported_line_by_line(orders, tmp_path, capsys):
    first, second, third = (order["OrderNumber"] for order in orders)
    lines, failure = run(
        tmp_path,
        capsys,
        f"Order number,Status,Carrier,Tracking\n{first},Shipped,UPS,1Z1\n{first},60,UPS,1Z1\n"
        f"{first},In Production,,\n{second},Delivered,,\n{third},30,,\n999,60,,\n{third},Lost,,\n",
    )

    assert [line.partition(":")[2].split(":")[0].strip() for line in lines[:7]] == [
        "moved",
        "same",
        "late",
        "refused",
        "moved",
        "refused",
        "refused",
    ]
    assert failure == "3 of 7 lines refused; the others are done."
    kept = dict(Order.objects.values_list("number", "status"))
    assert kept == {int(first): 60, int(second): 40, int(third): 30}
    assert Order.objects.get(number=first).tracking_numbers == ["1Z1"]


def test_one_refusal_takes_back_every_line_by_choice(orders, tmp_path, capsys):
    text = f"status,order number\n60,{orders[0]['OrderNumber']}\n70,{orders[1]['OrderNumber']}\n"
    lines, failure = run(tmp_path, capsys, text, "--all-or-nothing")

    assert lines[0] == f"line 2: would move: {orders[0]['OrderNumber']}: InProduction to Shipped"
    assert lines[1].startswith("line 3: refused")
    assert failure == "1 of 2 lines refused; no order was changed."
    assert set(Order.objects.values_list("status", flat=True)) == {10, 40}


def test_repeated_events_delay_no_follower(orders, tmp_path, capsys):
    same = f"{orders[0]['OrderNumber']},40\n{orders[1]['OrderNumber']},Received\n" * 50

    with CaptureQueriesContext(connection) as statements:
        lines, failure = run(tmp_path, capsys, f"order number,status\n{same}", "--all-or-nothing")

    assert (lines[-1], failure) == ("100 lines: 50 same, 50 late.", "")
    assert not [query for query in statements.captured_queries if "advisory" in query["sql"]]
    assert len(statements.captured_queries) < 10


def test_file_applied_as_a_whole_moves_an_order_twice(orders, tmp_path, capsys):
    number = orders[0]["OrderNumber"]
    text = f"order number,status\n{number},60\n{number},60\n{number},70\n"
    lines, failure = run(tmp_path, capsys, text, "--all-or-nothing")

    assert (lines[-1], failure) == ("3 lines: 2 moved, 1 same.", "")
    assert Order.objects.get(number=number).status == 70


def test_refusal_while_writing_takes_back_every_line(orders, tmp_path, capsys, monkeypatch):
    first, second = (int(order["OrderNumber"]) for order in orders[:2])

    def overtake(*, store_pks):
        lock_orders(store_pks=store_pks)
        Order.objects.filter(number=second).update(status=90, sequence=9)

    monkeypatch.setattr("stores.orders.services.status_import.lock_orders", overtake)
    text = f"order number,status\n{first},60\n{second},60\n"
    lines, failure = run(tmp_path, capsys, text, "--all-or-nothing")

    assert lines[0].startswith("line 2: would move")
    assert "Cancelled and cannot become Shipped" in lines[1]
    assert failure == "1 of 2 lines refused; no order was changed."
    assert set(Order.objects.values_list("status", flat=True)) == {10, 40}


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ("60,UPS,1Z1,a\0b", "note: "),
        ("60,UPS,1Z1,a\u202eb", "note: This contains a control character."),
        ("60,UPS,1Z\x1b1,", "tracking: This contains a control character."),
        ("60,UPS,1Z1,one\u2028two", "note: This contains a control character."),
        (f"60,UPS,{'1' * 101},", "tracking: Ensure this field has no more than 100 characters."),
        (f"60,{'U' * 61},1,", "carrier: Ensure this field has no more than 60 characters."),
        (f"60,,,{'n' * 1001}", "note: Ensure this field has no more than 1000 characters."),
        ("60,UPS,1Z1,note,more", "it has 6 cells for 5 columns"),
    ],
)
def test_line_the_api_would_refuse_is_refused(orders, tmp_path, capsys, cells, fault):
    first, second = (order["OrderNumber"] for order in orders[:2])
    text = f"order number,status,carrier,tracking,note\n{first},{cells}\n{second},60,UPS,1Z2,Left\n"
    lines, failure = run(tmp_path, capsys, text)

    assert lines[0].startswith(f"line 2: refused: {fault}")
    assert lines[1].startswith("line 3: moved")
    assert failure == "1 of 2 lines refused; the others are done."
    assert Order.objects.get(number=first).status == 40


@pytest.mark.parametrize(
    ("broken", "line"), [('{0},60,"unclosed\n{0},60,\n', 3), ('{0},60,"a"b\n', 3), ("{0},60,{1}\n", 3)]
)
def test_file_that_is_not_csv_moves_nothing_and_names_the_line(orders, tmp_path, capsys, broken, line):
    first, second = (order["OrderNumber"] for order in orders[:2])
    text = f"order number,status,note\n{second},60,\n" + broken.format(first, "n" * 140_000)
    lines, failure = run(tmp_path, capsys, text)

    assert lines == []
    assert failure.startswith(f"The row at line {line} is not valid CSV: ")
    assert failure.endswith(". No order was changed.")
    assert set(Order.objects.values_list("status", flat=True)) == {10, 40}


def test_late_line_keeps_its_parcel_or_says_that_it_does_not(orders, tmp_path, capsys):
    first, second = (order["OrderNumber"] for order in orders[:2])
    text = (
        f"order number,status,carrier,tracking\n{first},60,UPS,1Z1\n{first},50,UPS,1Z2\n{first},50,UPS,1Z2\n"
        f"{first},70,,\n{first},60,UPS,1Z1\n{first},60,UPS,1Z3\n"
    )
    lines, failure = run(tmp_path, capsys, text)

    assert [line.split(": ")[1] for line in lines[:6]] == [
        "moved",
        "parcel added",
        "late",
        "moved",
        "late",
        "refused",
    ]
    assert "its parcel was not recorded" in lines[5]
    assert failure == "1 of 6 lines refused; the others are done."
    assert Order.objects.get(number=first).tracking_numbers == ["1Z1", "1Z2"]
    dry = f"order number,status,carrier,tracking\n{second},60,UPS,1\n{second},60,UPS,2\n{second},10,UPS,3,\n0,,,\n"
    lines, _ = run(tmp_path, capsys, dry, "--all-or-nothing")
    assert [line.split(": ")[1] for line in lines[:3]] == [
        "would move",
        "would add its parcel",
        "would add its parcel",
    ]


def test_lines_are_reported_as_they_are_done(orders, tmp_path, capsys, monkeypatch):
    first, second = (order["OrderNumber"] for order in orders[:2])

    def away(**values):
        if str(values["order"].number) == second:
            raise OperationalError("the connection is lost")
        return transition_order(**values)

    monkeypatch.setattr("stores.orders.services.status_import.transition_order", away)
    lines, failure = run(tmp_path, capsys, f"order number,status\n{first},60\n{second},60\n")

    assert lines == [f"line 2: moved: {first}: InProduction to Shipped"]
    assert failure == "Stopped by the database: the connection is lost; the lines reported above are done."
    assert Order.objects.get(number=first).status == 60


def test_order_that_changes_meanwhile_is_checked_again(orders, tmp_path, capsys, monkeypatch):
    number = orders[0]["OrderNumber"]
    overtaken = []

    def overtake(**values):
        if not overtaken:
            overtaken.append(transition_order(order=values["order"], status=60, actor=Actor(ActorKind.STORE)))
        return transition_order(**values)

    monkeypatch.setattr("stores.orders.services.status_import.transition_order", overtake)
    lines, failure = run(tmp_path, capsys, f"order number,status\n{number},60\n")

    assert (lines, failure) == ([f"line 2: same: {number} is Shipped already", "1 lines: 1 same."], "")


@pytest.mark.parametrize("text", ["", "number;status\n", "order number\n1\n", "order number,status,price\n"])
def test_file_without_the_columns_is_refused(db, tmp_path, capsys, text):
    assert run(tmp_path, capsys, text)[1].startswith("The first line must name the columns")


def test_made_orders_are_like_placed_ones(shop):
    shop.place()
    create_sample_orders(count=300, stores=[shop.world.associated])
    after = shop.place().json()

    rows = list(Order.objects.order_by("created", "id"))
    assert len(rows) == 302
    assert all(a.created < b.created for a, b in itertools.pairwise(rows))
    assert all(order.total == sum(item.line_total for item in order.items.all()) for order in rows[:20])
    assert all(order.rendering == render_export_row(order, "associated") for order in rows)
    assert all(order.history.count() == order.sequence for order in rows[:20])
    assert after["OrderNumber"] == str(max(order.number for order in rows))
    kept = sorted(OrderTally.objects.exclude(orders=0).values_list("status", "orders"))
    count_all_orders()
    assert kept == sorted(OrderTally.objects.values_list("status", "orders"))


def test_demo_orders_advance_by_themselves_when_old_enough(shop):
    make_product(shop.world.demo)
    young, old, elsewhere = (shop.place(store=s).json() for s in ("demo", "demo", "associated"))
    Order.objects.exclude(pk=young["OrderID"]).update(updated=timezone.now() - timedelta(minutes=5))

    assert advance_demo_orders(older_than=timedelta(minutes=1)) == 1
    statuses = {str(order.pk): order.status for order in Order.objects.all()}
    assert statuses == {young["OrderID"]: 10, old["OrderID"]: 30, elsewhere["OrderID"]: 10}
