import pytest
from django.urls import reverse

from stores.models import Order, OrderHistory
from stores.order_renderings import order_etag
from tests.factories.orders import card_data, make_card, order_body


@pytest.fixture
def board(shop, client):
    client.force_login(shop.world.operator)
    return client


@pytest.fixture
def order(shop):
    make_card(shop.store)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    return Order.objects.get(pk=shop.place(body=order_body(Items=[item])).json()["OrderID"])


def change(board, order, **values):
    address = reverse("admin:stores_order_change", args=[order.pk])
    empty = {"note": "", "carrier": "", "tracking_number": "", "seen": order_etag(order)}
    for name in ("items", "shipments", "history"):
        empty |= {f"{name}-TOTAL_FORMS": "0", f"{name}-INITIAL_FORMS": "0"}
    return board.post(address, {**empty, **values}, follow=True)


def test_board_lists_and_finds_orders(board, order):
    address = reverse("admin:stores_order_changelist")

    assert str(order.number) in board.get(address, {"q": order.number}).content.decode()
    assert str(order.number) not in board.get(address, {"status__exact": 60}).content.decode()
    assert b"Two-sided" not in board.get(reverse("admin:stores_quote_changelist")).content


def test_board_moves_chosen_orders_through_the_service(board, order):
    address = reverse("admin:stores_order_changelist")
    for action in ("accept", "deliver"):
        page = board.post(address, {"action": action, "_selected_action": [str(order.pk)]}, follow=True)

    order.refresh_from_db()
    entry = OrderHistory.objects.get(order=order, sequence=2)
    assert (order.status, entry.actor_kind, entry.actor.username) == (30, "Operator", "operator")
    assert f"{order.number}: The order is Accepted and cannot become Delivered" in page.content.decode()


def test_order_page_moves_ships_and_shows_history(board, order):
    change(board, order, move_to="30")
    order.refresh_from_db()
    change(board, order, move_to="40")
    order.refresh_from_db()
    change(board, order, move_to="60", carrier="UPS", tracking_number="1Z1", note="Two boxes")

    page = board.get(reverse("admin:stores_order_change", args=[order.pk]))
    order.refresh_from_db()
    assert (order.status, order.tracking_numbers) == (60, ["1Z1"])
    assert "Two boxes" in page.content.decode()


def test_order_page_refuses_a_move_made_on_an_old_view(board, order):
    Order.objects.filter(pk=order.pk).update(sequence=7)

    page = change(board, order, move_to="30")

    assert "The order has changed since" in page.content.decode()
    assert Order.objects.get().status == 10


def test_print_file_and_packing_slip_are_downloaded(board, shop, order):
    for name, arguments in (("print_file", [order.pk, 0]), ("packing_slip", [order.pk])):
        response = board.get(reverse(f"admin:stores_order_{name}", args=arguments))
        assert (response["Content-Type"], response.content[:5]) == ("application/pdf", b"%PDF-")


def test_board_is_for_operators_and_staff(shop, client, order):
    client.force_login(shop.world.outsider)

    address = reverse("admin:stores_order_print_file", args=[order.pk, 0])
    assert client.get(address).status_code in {302, 403}


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"created_from": "2026-03-01", "created_to": "2026-03-01"}, 1),
        ({"created_from": "2026-03-02"}, 0),
        ({"created_to": "2026-02-28"}, 0),
        ({"created_from": "no day"}, 1),
        ({"store": "associated", "status__exact": "10"}, 1),
        ({"store": "demo"}, 0),
        ({"store": "unknown"}, 0),
    ],
)
def test_board_is_filtered_by_day_and_store(board, order, query, count):
    Order.objects.update(created="2026-03-01T23:30:00Z")

    page = board.get(reverse("admin:stores_order_changelist"), query)

    assert len(page.context["cl"].result_list) == count
