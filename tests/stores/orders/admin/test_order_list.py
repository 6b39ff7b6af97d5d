"""The console's list of orders: what is due, saved views, papers of several orders."""

import io
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pypdf import PdfReader

from accounts.models import Role
from stores.catalog.models import Store
from stores.orders.admin import actions, list_filters
from stores.orders.models import Order, OrderView
from stores.orders.selectors.board import late_orders, order_views_for, orders_due_today
from stores.orders.services import packing_slips
from tests.factories.orders import card_data, make_card, make_product, order_body
from tests.support.pages import text

BOARD = "/admin/stores/order/"
MAX_QUERIES = 13


@pytest.fixture
def board(shop, client):
    client.force_login(shop.world.operator)
    return client


def place(shop, store: str = "associated", **changes) -> Order:
    order = Order.objects.get(pk=shop.place(store=store).json()["OrderID"])
    Order.objects.filter(pk=order.pk).update(**changes)
    return order


def due_in(days: int):
    return timezone.now().date() + timedelta(days=days)


def listed(response) -> list[int]:
    return [row.order.number for row in response.context["rows"]]


def test_late_orders_are_named_counted_and_found(board, shop):
    late = place(shop, latest_delivery=due_in(-2))
    place(shop, latest_delivery=due_in(-2), status=60)
    soon = place(shop, latest_delivery=due_in(1))

    page = board.get(BOARD, {"due": "late"})

    assert listed(page) == [late.number]
    assert "2 days late" in text(page)
    assert "Late <b>1</b>" in text(page)
    assert listed(board.get(BOARD, {"due": "open"})) == [late.number, soon.number]
    assert listed(board.get(BOARD, {"due": "soon"})) == [soon.number]
    assert len(listed(board.get(BOARD, {"due": "nonsense"}, follow=True))) == 3


def test_day_ends_where_the_store_is(shop):
    Store.objects.filter(pk=shop.store.pk).update(time_zone="America/Los_Angeles")
    Store.objects.exclude(pk=shop.store.pk).update(time_zone="Pacific/Auckland")
    place(shop, latest_delivery="2030-05-10")

    def found(moment: str) -> tuple[int, int]:
        with time_machine.travel(moment, tick=False):
            return late_orders(Order.objects.all()).count(), orders_due_today(Order.objects.all()).count()

    # Still the 10th in Los Angeles, the 11th in Auckland; then the 11th in both.
    assert found("2030-05-11T03:00:00Z") == (0, 1)
    assert found("2030-05-11T09:00:00Z") == (1, 0)


def test_tabs_count_the_store_that_the_list_is_of(board, shop):
    make_product(shop.world.unassociated)
    Role.objects.create(
        application=shop.world.application, store=shop.world.unassociated, grant="Order.Self.Write"
    )
    for store in ("associated", "unassociated", "unassociated"):
        place(shop, store)

    assert "All <b>3</b>" in text(board.get(BOARD))
    assert "All <b>2</b>" in text(board.get(BOARD, {"store": "unassociated"}))
    board.force_login(shop.world.user)
    assert "All <b>1</b>" in text(board.get(BOARD))
    # As an unknown store.
    assert board.get(BOARD, {"store": "unassociated"})["Location"] == f"{BOARD}?e=1"


def test_columns_sort_and_filters_are_in_the_address(board, shop):
    first, second = place(shop), place(shop, delivery_method_code="OVERNIGHT")

    page = board.get(BOARD, {"columns": ["external", "total"], "sort": "oldest"})
    assert listed(page) == [first.number, second.number]
    assert page.context["columns"] == ["total", "external"]
    assert 'class="col-status"' not in text(page)

    page = board.get(BOARD, {"delivery": "OVERNIGHT", "status__exact": "10"})
    assert listed(page) == [second.number]
    chips = {chip["words"]: chip["without"] for chip in page.context["chips"]}
    assert chips == {"Status: Received": "?delivery=OVERNIGHT", "Delivery: Overnight": "?status__exact=10"}


def test_by_due_date_only_orders_at_work_are_sorted(board, shop):
    later, sooner = place(shop, latest_delivery=due_in(9)), place(shop, latest_delivery=due_in(3))

    assert listed(board.get(BOARD, {"due": "open"})) == [sooner.number, later.number]
    assert listed(board.get(BOARD, {"status__exact": "10", "sort": "due-last"})) == [
        later.number,
        sooner.number,
    ]
    # Over everything ever ordered it would be a sort of the whole table.
    assert listed(board.get(BOARD, {"sort": "due"})) == [sooner.number, later.number]


def test_list_takes_few_queries_however_many_orders(board, shop):
    make_card(shop.store)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    for _ in range(3):
        shop.place(body=order_body(Items=[item]))
    for user in (shop.world.operator, shop.world.user):
        board.force_login(user)
        board.get(BOARD)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            board.get(BOARD, {"due": "open"})
        assert len(queries) <= MAX_QUERIES, [query["sql"][:80] for query in queries]


def save(client, name: str, query: str, **more):
    return client.post(f"{BOARD}views/save", {"name": name, "query": query, **more}, follow=True)


def test_view_keeps_the_list_as_it_is(board, shop):
    place(shop)

    page = save(board, "Rush", "status__exact=10&columns=total&p=3&evil=1")
    view = OrderView.objects.get()

    assert view.query == "status__exact=10&columns=total"
    assert "View “Rush” saved." in text(page)
    assert page.context["current_view"]["view"] == view
    save(board, "Rush", "due=late")
    assert OrderView.objects.get().query == "due=late"
    assert "enter a name for the view" in text(save(board, " ", ""))
    board.post(f"{BOARD}views/{view.pk}/delete")
    assert not OrderView.objects.exists()


@pytest.mark.parametrize("query", ["due=late&" * 101, "q=" + "x" * 2000])
def test_view_of_too_many_filters_is_refused(board, shop, query):
    assert "too long to be saved" in text(save(board, "Rush", query))
    assert not OrderView.objects.exists()


def test_views_are_shared_with_those_who_see_the_same_store(board, shop):
    world = shop.world
    save(board, "Mine", "due=late")
    save(board, "Operators", "due=late", is_shared="on")
    board.force_login(world.user)
    save(board, "Own", "due=today")
    save(board, "Store", "due=today", is_shared="on")
    Role.objects.create(user=world.outsider, store=world.unassociated, grant="Order.All.Read")

    def names(user, stores):
        return [view.name for view in order_views_for(user, stores)]

    assert names(world.user, [world.associated.pk]) == ["Own", "Store"]
    assert names(world.operator, None) == ["Mine", "Operators"]
    assert names(world.outsider, [world.unassociated.pk]) == []
    assert names(world.outsider, [world.associated.pk]) == ["Store"]
    board.force_login(world.outsider)
    page = board.post(f"{BOARD}views/{OrderView.objects.get(name='Store').pk}/delete", follow=True)
    assert "You have no such view." in text(page)
    assert OrderView.objects.count() == 4


def slips(board, *orders):
    chosen = {"action": "download_packing_slips", "_selected_action": [str(order.pk) for order in orders]}
    return board.post(BOARD, {"index": "0", **chosen})


def test_packing_slips_of_several_orders_are_one_pdf(board, shop):
    orders = [place(shop) for _ in range(3)]

    response = slips(board, *orders)

    assert response["Content-Disposition"] == 'attachment; filename="packing-slips.pdf"'
    pages = [page.extract_text() for page in PdfReader(io.BytesIO(response.content)).pages]
    assert len(pages) == 3
    for order, page in zip(orders, pages, strict=True):
        assert f"Order {order.number}" in page
        assert "page 1 of 1" in page


def test_packing_slips_read_no_values_and_routes_of_items(board, shop):
    orders = [place(shop) for _ in range(2)]

    with CaptureQueriesContext(connection) as queries:
        assert slips(board, *orders)["Content-Type"] == "application/pdf"

    items = [query["sql"] for query in queries if 'FROM "stores_orderitem"' in query["sql"]]
    assert items
    assert not [sql for sql in items if '"eddm"' in sql or '"template_data"' in sql]


def test_slip_that_cannot_be_made_is_named_and_the_others_come(board, shop, monkeypatch):
    good, bad = place(shop), place(shop)
    render = packing_slips.render_document

    def refuse(layout, slips, **more):
        if any(slip["number"] == str(bad.number) for slip in slips):
            raise packing_slips.RenderingFailed("No")
        return render(layout, slips, **more)

    monkeypatch.setattr(packing_slips, "render_document", refuse)

    assert len(PdfReader(io.BytesIO(slips(board, good, bad).content)).pages) == 1
    assert f"{bad.number}: The packing slip of this order cannot be rendered." in text(board.get(BOARD))
    monkeypatch.setattr(actions, "MAX_SLIPS", 1)
    assert slips(board, good, bad).status_code == 302
    assert "At most 1 orders at once." in text(board.get(BOARD))


@pytest.mark.parametrize("sizes", [[3], [3, 1]], ids=["together", "one by one"])
def test_packing_slips_that_take_too_long_are_not_tried_again(board, shop, monkeypatch, sizes):
    tried = []

    def run_out_of_time(layout, slips, **more):
        tried.append(len(slips))
        if len(tried) < len(sizes):
            raise packing_slips.RenderingFailed("No")
        raise packing_slips.RenderingTimedOut("Rendering took too long and was stopped.")

    monkeypatch.setattr(packing_slips, "render_document", run_out_of_time)

    assert slips(board, *[place(shop) for _ in range(3)]).status_code == 302
    assert tried == sizes
    assert "These packing slips take too long to be laid out. Select fewer orders." in text(board.get(BOARD))


def test_all_renderings_of_packing_slips_have_one_deadline(board, shop, monkeypatch):
    given = []

    def refuse(layout, slips, *, seconds, **more):
        given.append(seconds)
        raise packing_slips.RenderingFailed("No")

    monkeypatch.setattr(packing_slips, "render_document", refuse)
    orders = [place(shop) for _ in range(3)]
    slips(board, *orders)
    assert len(given) == 4
    assert given == sorted(given, reverse=True)
    assert packing_slips.SECONDS > given[0] > given[3]

    monkeypatch.setattr(packing_slips, "SECONDS", 0)
    given.clear()
    slips(board, *orders)
    assert given == []
    assert "These packing slips take too long to be laid out." in text(board.get(BOARD))


def test_packing_slips_of_too_many_items_are_refused(board, shop, monkeypatch):
    monkeypatch.setattr(packing_slips, "MAX_ITEMS", 1)
    orders = [place(shop) for _ in range(2)]

    assert slips(board, *orders).status_code == 302

    said = "The selected orders have 2 items. Packing slips of at most 1 items fit into one file; select fewer orders."
    assert said in text(board.get(BOARD))
    assert slips(board, orders[0])["Content-Type"] == "application/pdf"


def test_chosen_orders_are_exported(board, shop):
    chosen, _ = place(shop), place(shop)

    values = {"action": "export_csv", "index": "0", "_selected_action": [str(chosen.pk)]}
    lines = b"".join(board.post(BOARD, values).streaming_content).decode().splitlines()

    assert len(lines) == 2
    # A spreadsheet then reads it as UTF-8.
    assert lines[0].startswith("\ufeffOrderID,")
    assert str(chosen.number) in lines[1]


def test_staff_without_write_see_no_moves(board, shop):
    place(shop)
    Role.objects.filter(user=shop.world.user, grant="Order.All.Write").delete()
    board.force_login(shop.world.user)

    names = [action for action, _, _ in board.get(BOARD).context["bulk_actions"]]

    assert names == ["download_print_files", "download_packing_slips", "export_csv"]
    assert reverse("admin:stores_order_changelist") == BOARD


def test_filters_choose_from_names(board, shop):
    make_product(shop.world.unassociated, "only-there", Name="Poster Elsewhere")
    order = place(shop, delivery_method_code="OVERNIGHT")

    page = board.get(BOARD)
    for choice in (
        '<option value="associated">Associated Print</option>',
        '<option value="OVERNIGHT">Overnight</option>',
        '<option value="card">Product card</option>',
        '<option value="only-there">Poster Elsewhere</option>',
    ):
        assert choice in text(page)

    for query, numbers in (
        ({"product": "card"}, [order.number]),
        ({"product": "only-there"}, []),
        ({"delivery": "OVERNIGHT", "product": "card", "store": "associated"}, [order.number]),
        ({"delivery": "GROUND"}, []),
    ):
        assert listed(board.get(BOARD, query)) == numbers
    chosen = board.get(BOARD, {"product": "card", "store": "associated"})
    assert [chip["words"] for chip in chosen.context["chips"]] == [
        "Product: Product card",
        "Store: Associated Print",
    ]
    assert "Poster Elsewhere" not in text(chosen), "products of the chosen store alone"


def test_staff_choose_among_their_own_stores_and_products(board, shop):
    make_product(shop.world.unassociated, "only-there", Name="Poster Elsewhere")
    board.force_login(shop.world.user)

    page = text(board.get(BOARD))

    assert "Product card" in page
    assert "Poster Elsewhere" not in page
    assert shop.world.unassociated.company_name not in page


def test_too_many_products_are_named_by_their_id(board, shop, monkeypatch):
    monkeypatch.setattr(list_filters, "MAX_CHOICES", 0)
    order = place(shop)

    page = board.get(BOARD, {"product": "card"})

    assert listed(page) == [order.number]
    assert '<input id="f-product" name="product" value="card"' in text(page)
