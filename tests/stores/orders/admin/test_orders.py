import hashlib
import io
import zipfile
from uuid import uuid4

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Role
from fulfillment.core.admin import lists
from stores.admin import OrderAdmin
from stores.orders.admin import actions
from stores.orders.models import Order, OrderHistory, OrderItem, OrderStatus
from stores.orders.representations import order_etag
from tests.factories.orders import card_data, make_card, order_body
from tests.support.browser.submissions import form_of


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
    refusal = "The order is Accepted and cannot become Delivered; allowed: On hold, In production, Cancelled."
    assert f"{order.number}: {refusal}" in page.content.decode()


def everything(action: str) -> dict[str, str]:
    """What the list sends when "Select all" was chosen."""
    return {"action": action, "select_across": "1", "_selected_action": str(Order.objects.first().pk)}


def test_order_that_arrives_after_the_question_is_not_cancelled(board, shop, order):
    address = reverse("admin:stores_order_changelist")
    question = board.post(address, everything("cancel"))
    late = Order.objects.get(pk=shop.place().json()["OrderID"])
    sent: dict[str, list[str]] = {}
    for name, value in question.context["sent"]:
        sent.setdefault(name, []).append(str(value))

    board.post(address, {**sent, "confirmed": "1"})

    order.refresh_from_db()
    late.refresh_from_db()
    assert (order.status, late.status) == (OrderStatus.CANCELLED, OrderStatus.RECEIVED)


def test_action_works_through_no_more_orders_than_one_request_can(board, shop, order, monkeypatch):
    shop.place()
    address = reverse("admin:stores_order_changelist")
    monkeypatch.setattr(lists, "MAX_AT_ONCE", 1)

    page = board.post(address, everything("accept"), follow=True)
    assert "At most 1 at once. Filter the list, or select fewer." in page.content.decode()
    assert set(Order.objects.values_list("status", flat=True)) == {10}

    monkeypatch.setattr(lists, "MAX_AT_ONCE", 2)
    assert "2 orders moved." in board.post(address, everything("accept"), follow=True).content.decode()


def test_first_refusals_are_listed_and_the_rest_counted(board, shop, order, monkeypatch):
    shop.place()
    shop.place()
    monkeypatch.setattr(actions, "REASONS_SHOWN", 1)

    page = board.post(reverse("admin:stores_order_changelist"), everything("deliver"), follow=True)

    reported = [str(message) for message in page.context["messages"]]
    assert reported[0].startswith(f"{order.number}: The order is Received and cannot become Delivered")
    assert reported[1:] == ["2 more were refused."]


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


@pytest.mark.parametrize(
    ("move", "status", "question"), [("90", 90, "Cancel this order?"), ("95", 95, "Reject this order?")]
)
def test_order_page_confirms_irreversible_actions(board, order, move, status, question):
    requested = change(board, order, move_to=move, note="Wrong address").content.decode()

    order.refresh_from_db()
    assert question in requested
    assert 'name="note" rows="2" maxlength="1000">Wrong address</textarea>' in requested
    assert order.status == 10
    change(board, order, move_to=move, note="Wrong address", confirmed="1")
    order.refresh_from_db()
    assert (order.status, order.history.get(sequence=2).note) == (status, "Wrong address")


@pytest.mark.parametrize("move", ["90", "95", "refuse"])
def test_final_step_of_an_order_that_is_not_there_is_not_found(board, move):
    address = reverse("admin:stores_order_change", args=[uuid4()])

    assert board.post(address, {"move_to": move, "seen": ""}).status_code == 404


def test_order_page_refuses_a_move_made_on_an_old_view(board, order):
    Order.objects.filter(pk=order.pk).update(sequence=7)

    page = change(board, order, move_to="30")

    assert "The order has changed since" in page.content.decode()
    assert Order.objects.get().status == 10


def test_print_file_and_packing_slip_are_downloaded(board, shop, order):
    for name, arguments in (("print_file", [order.pk, 0]), ("packing_slip", [order.pk])):
        response = board.get(reverse(f"admin:stores_order_{name}", args=arguments))
        assert (response["Content-Type"], response.content[:5]) == ("application/pdf", b"%PDF-")


def print_files(board, *orders):
    chosen = {"action": "download_print_files", "_selected_action": [str(order.pk) for order in orders]}
    return board.post(reverse("admin:stores_order_changelist"), chosen)


def unpacked(answer) -> dict[str, bytes]:
    assert answer.headers["Content-Type"] == "application/zip"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="print-files.zip"'
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def three_files(shop, order):
    """Two orders, three items with print files and one without."""
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    other = {**item, "TemplateData": {**card_data(), "Name": "Grace Hopper"}}
    plain = {"ProductID": "card", "Quantity": 100}
    made = shop.place(body=order_body(Items=[{**item, "ItemKey": "a_b"}, plain, other])).json()
    return order, Order.objects.get(pk=made["OrderID"])


def test_files_and_lists_read_no_values_and_findings_of_items(board, three_files):
    _, order = three_files

    with CaptureQueriesContext(connection) as queries:
        assert len(unpacked(print_files(board, order))) == 2
        assert board.get(reverse("admin:stores_order_reprint", args=[order.pk])).status_code == 200
        assert board.get(reverse("admin:stores_order_packing_slip", args=[order.pk])).status_code == 200

    selected = [
        query["sql"].partition(" FROM ")[0] for query in queries if 'FROM "stores_orderitem"' in query["sql"]
    ]
    assert len(selected) >= 3
    assert not [sql for sql in selected if '"preflight"' in sql or '"template_data"' in sql]


def test_print_files_of_several_orders_are_one_zip(board, three_files):
    first, second = three_files

    files = unpacked(print_files(board, second, first))

    items = OrderItem.objects.exclude(print_file="").order_by("order__number", "position")
    assert list(files) == [
        f"{first.number}-1-{items[0].item_key}.pdf",
        f"{second.number}-1-a_b.pdf",
        f"{second.number}-3-{items[2].item_key}.pdf",
    ]
    assert [hashlib.sha256(content).hexdigest() for content in files.values()] == [
        item.print_sha256 for item in items
    ]


def test_print_file_that_is_missing_is_reported_in_the_zip(board, three_files):
    first, second = three_files
    lost = second.items.get(position=0)
    default_storage.delete(lost.print_file)

    files = unpacked(print_files(board, first, second))

    assert len(files) == 3
    assert files["missing.txt"].decode() == (
        f"{second.number}-1-a_b.pdf: The print file is missing from the file storage.\n"
    )


def test_no_order_and_no_print_file_are_reported_on_the_board(board, shop):
    plain = Order.objects.get(pk=shop.place().json()["OrderID"])

    assert "None of these orders has a print file" in print_files_followed(board, plain)
    page = board.post(
        reverse("admin:stores_order_changelist"),
        {"action": "download_print_files", "index": "0"},
        follow=True,
    )
    assert "Items must be selected" in page.content.decode()


def print_files_followed(client, *orders) -> str:
    response = print_files(client, *orders)
    return (
        client.get(response.url).content.decode()
        if response.status_code == 302
        else response.content.decode()
    )


def test_too_many_orders_are_refused_and_none_is_left_out_silently(board, three_files, monkeypatch):
    monkeypatch.setattr(actions, "MAX_FILES_PER_ZIP", 1)
    monkeypatch.setattr(OrderAdmin, "list_per_page", 1)

    assert "At most 1 orders at once." in print_files_followed(board, *three_files)
    chosen = {"action": "ship", "_selected_action": [str(order.pk) for order in three_files]}
    page = board.post(reverse("admin:stores_order_changelist"), chosen, follow=True)
    assert "At most 1 orders at once." in page.content.decode()


def test_staff_get_the_print_files_of_their_store_alone(shop, client, three_files):
    own, foreign = three_files
    make_card(shop.world.unassociated)
    Order.objects.filter(pk=foreign.pk).update(store=shop.world.unassociated)
    client.force_login(shop.world.user)

    files = unpacked(print_files(client, own, foreign))

    assert [name.partition("-")[0] for name in files] == [str(own.number)]
    Role.objects.filter(user=shop.world.user).update(store=shop.world.demo)
    assert str(own.number) not in print_files_followed(client, own, foreign)
    client.force_login(shop.world.outsider)
    assert print_files(client, own).status_code in {302, 403}


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
        ({"created_from": "9999-12-31", "created_to": "9999-12-31"}, 0),
        ({"created_to": "9999-12-31"}, 1),
        ({"store": "associated", "status__exact": "10"}, 1),
        ({"store": "demo"}, 0),
        ({"store": "unknown"}, 1),
    ],
)
def test_board_is_filtered_by_day_and_store(board, order, query, count):
    Order.objects.update(created="2026-03-01T23:30:00Z")

    page = board.get(reverse("admin:stores_order_changelist"), query, follow=True)

    assert len(page.context["cl"].result_list) == count


def test_saving_an_order_with_nothing_chosen_changes_nothing(board, order):
    page = reverse("admin:stores_order_change", args=[order.pk])
    form = form_of(board.get(page), "order_form")

    reported = [
        str(message) for message in board.post(page, form.submission({}), follow=True).context["messages"]
    ]

    assert reported == ["Nothing was changed: no step was chosen."]
    assert OrderHistory.objects.filter(order=order).count() == 1


def test_note_without_a_next_step_is_not_lost_silently(board, order):
    page = reverse("admin:stores_order_change", args=[order.pk])
    form = form_of(board.get(page), "order_form")

    again = board.post(page, form.submission({"note": "Call first"})).content.decode()

    assert "Choose the next step: a note or a parcel is saved only with it." in again
    assert "Call first" in again


def test_address_of_deleting_an_order_is_refused(world, shop, client):
    """Orders are never deleted; a saved view was once, by a method of the same name."""
    order = shop.place().json()
    client.force_login(world.operator)

    assert client.get(f"/admin/stores/order/{order['OrderID']}/delete/").status_code == 403
