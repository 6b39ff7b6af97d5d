import itertools
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from stores.models import Order, OrderTally
from stores.order_renderings import render_export_row
from stores.services.order_moves import advance_demo_orders
from stores.services.order_tallies import count_all_orders
from tests.factories.orders import make_product


@pytest.fixture
def orders(shop):
    placed = [shop.place().json() for _ in range(3)]
    for order in placed[:2]:
        for status in (30, 40):
            shop.act(order, "status", {"Status": status})
    return placed


def run(tmp_path, capsys, text, *options):
    file = tmp_path / "statuses.csv"
    file.write_text(text, encoding="utf-8-sig")
    try:
        call_command("import_order_status", str(file), *options)
    except CommandError as error:
        return capsys.readouterr().out.splitlines(), str(error)
    return capsys.readouterr().out.splitlines(), ""


def test_a_status_too_long_to_be_a_number_is_refused(orders, tmp_path, capsys):
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

    assert lines[0].startswith("line 2: moved")
    assert lines[1].startswith("line 3: refused")
    assert failure == "1 of 2 lines refused; no order was moved."
    assert set(Order.objects.values_list("status", flat=True)) == {10, 40}


@pytest.mark.parametrize("text", ["", "number;status\n", "order number\n1\n", "order number,status,price\n"])
def test_file_without_the_columns_is_refused(db, tmp_path, capsys, text):
    assert run(tmp_path, capsys, text)[1].startswith("The first line must name the columns")


def test_made_orders_are_like_placed_ones(shop):
    shop.place()
    call_command("make_orders", count=300, store=["associated"])
    after = shop.place().json()

    rows = list(Order.objects.order_by("position"))
    assert [order.position for order in rows] == list(range(1, 303))
    assert all(a.created < b.created for a, b in itertools.pairwise(rows))
    assert all(order.total == sum(item.line_total for item in order.items.all()) for order in rows[:20])
    assert all(order.rendering == render_export_row(order, "associated") for order in rows)
    assert all(order.history.count() == order.sequence for order in rows[:20])
    assert after["OrderNumber"] == str(max(order.number for order in rows))
    kept = sorted(OrderTally.objects.exclude(orders=0).values_list("status", "orders"))
    count_all_orders()
    assert kept == sorted(OrderTally.objects.values_list("status", "orders"))


def test_orders_are_made_up_in_development_only(db, settings):
    settings.DEVELOPMENT = False
    with pytest.raises(CommandError):
        call_command("make_orders", count=1)


def test_demo_orders_advance_by_themselves_when_old_enough(shop):
    make_product(shop.world.demo)
    young, old, elsewhere = (shop.place(store=s).json() for s in ("demo", "demo", "associated"))
    Order.objects.exclude(pk=young["OrderID"]).update(updated=timezone.now() - timedelta(minutes=5))

    assert advance_demo_orders(older_than=timedelta(minutes=1)) == 1
    statuses = {str(order.pk): order.status for order in Order.objects.all()}
    assert statuses == {young["OrderID"]: 10, old["OrderID"]: 30, elsewhere["OrderID"]: 10}
