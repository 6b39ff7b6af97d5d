"""Who sees what in the admin: operators everything, staff of a store that store, everyone else nothing."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import AnonymousUser
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from fulfillment.core.admin.base import ConsoleAdmin
from production.gang_sheets.models import GangSheet
from production.jobs.models import Job
from stores.batches.models import Batch
from stores.budgets.models import Budget
from stores.catalog.models import Product, Store
from stores.orders.models import Order, Quote
from tests.factories.budgets import enable_budgets, make_budget
from tests.factories.orders import make_product, order_body
from tests.factories.production import accept, make_press
from tests.support.batches.batches import access_to, make_batch

MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
# How a record of what staff see names its store. All others are for operators alone.
OF_STORES = {
    Order: "store",
    Quote: "store",
    Store: "pk",
    Product: "store",
    Role: "store",
    Job: "store",
    GangSheet: "store",
    Budget: "store",
    Batch: "store",
}


@pytest.fixture
def two_stores(shop):
    """Of everything staff see something in their store and something in another one."""
    make_product(shop.world.unassociated)
    Role.objects.create(
        application=shop.world.application, store=shop.world.unassociated, grant="Order.Self.Write"
    )
    Role.objects.create(user=shop.world.outsider, grant="Order.All.Write", store=shop.world.unassociated)
    for store in ("associated", "unassociated"):
        assert shop.place(store=store).status_code == 201
        body = {"Items": [{"ProductID": "card", "Quantity": 100}], "ShipTo": {"CountryCode": "US"}}
        assert shop.world.as_application().call("POST", f"/store/{store}/quote", body).status_code == 201
    return shop.world


@pytest.fixture
def two_boards(two_stores, settings, tmp_path):
    """Of each store a job on the production board as well, and a gang sheet."""
    settings.PRODUCTION_FOLDERS = [tmp_path]
    provider = make_press(tmp_path)
    for order in Order.objects.all():
        accept(order)
    assert Job.objects.count() == 2
    for product in Product.objects.filter(external_id="card"):
        GangSheet.objects.create(
            provider=provider, product=product, store=product.store, created=timezone.now()
        )
        make_budget(enable_budgets(product.store))
        make_batch(access_to(two_stores, product.store.external_id), product_id=product.external_id)
    return two_stores


def request_of(user):
    request = RequestFactory().get("/admin/")
    request.user = user
    return request


def seen_by(user, model):
    return set(admin.site._registry[model].get_queryset(request_of(user)).values_list("pk", flat=True))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_every_admin_is_scoped(two_boards, model):
    model_admin = admin.site._registry[model]
    assert isinstance(model_admin, ConsoleAdmin), f"{model_admin} must be a ConsoleAdmin"

    for user in (AnonymousUser(), two_boards.outsider.__class__(is_active=True)):
        assert seen_by(user, model) == set()
        assert not model_admin.has_module_permission(request_of(user))

    staff = request_of(two_boards.user)
    if model not in OF_STORES:
        assert seen_by(two_boards.user, model) == set()
        assert not model_admin.has_module_permission(staff)
        return
    everything = model.objects.all()
    own = set(everything.filter(**{OF_STORES[model]: two_boards.associated.pk}).values_list("pk", flat=True))
    assert seen_by(two_boards.user, model) == own
    assert own < seen_by(two_boards.operator, model)
    assert model_admin.has_view_permission(staff)
    for record in everything:
        may = model_admin.has_view_permission(staff, record)
        assert may == (record.pk in own)
        assert not model_admin.has_delete_permission(staff, record)
    assert not model_admin.has_add_permission(staff)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_staff_open_lists_of_their_store_and_no_others(two_stores, client, model):
    client.force_login(two_stores.user)

    page = client.get(reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"))

    assert page.status_code == (200 if model in OF_STORES else 403)


def test_staff_reach_no_order_of_another_store(two_stores, client):
    client.force_login(two_stores.user)
    foreign = Order.objects.get(store=two_stores.unassociated)

    for name, more in (("change", []), ("history", []), ("print_file", [0]), ("packing_slip", [])):
        page = client.get(reverse(f"admin:stores_order_{name}", args=[foreign.pk, *more]))
        assert page.status_code in {302, 404}, name
        assert str(foreign.number).encode() not in page.content
    board = reverse("admin:stores_order_changelist")
    client.post(board, {"action": "accept", "_selected_action": [str(foreign.pk)]})
    ship = reverse("admin:stores_order_ship")
    assert client.get(ship, {"id": str(foreign.pk)}).status_code == 302
    assert str(foreign.number).encode() not in b"".join(client.get(reverse("admin:stores_order_export")))

    foreign.refresh_from_db()
    assert foreign.status == 10


def test_staff_who_only_read_orders_move_none(two_stores, client):
    Role.objects.filter(user=two_stores.user, grant="Order.All.Write").delete()
    client.force_login(two_stores.user)
    order = Order.objects.get(store=two_stores.associated)

    client.post(
        reverse("admin:stores_order_changelist"), {"action": "accept", "_selected_action": [str(order.pk)]}
    )
    page = client.post(reverse("admin:stores_order_change", args=[order.pk]), {"move_to": "30"})

    order.refresh_from_db()
    assert (page.status_code, order.status) == (403, 10)


def test_staff_work_an_order_as_their_store(two_stores, client):
    client.force_login(two_stores.user)
    order = Order.objects.get(store=two_stores.associated)

    client.post(
        reverse("admin:stores_order_changelist"), {"action": "accept", "_selected_action": [str(order.pk)]}
    )

    assert order.history.get(sequence=2).actor_kind == "Store"


def test_staff_change_no_product_and_no_store(two_stores, client):
    client.force_login(two_stores.user)
    product = Product.objects.get(store=two_stores.associated)

    assert client.post(reverse("admin:stores_product_change", args=[product.pk]), {}).status_code == 403
    assert client.get(reverse("admin:stores_product_template", args=[product.pk])).status_code == 403
    store = reverse("admin:stores_store_change", args=[two_stores.associated.pk])
    assert client.post(store, {}).status_code == 403


def test_role_over_everything_reaches_every_store(two_stores):
    Role.objects.create(user=two_stores.outsider, grant="Order.All.Read")

    assert len(seen_by(two_stores.outsider, Order)) == 2
    assert not admin.site._registry[Order].has_change_permission(
        request_of(two_stores.outsider), Order.objects.get(store=two_stores.associated)
    )


def test_sign_in_is_the_portals_and_refuses_who_has_no_business_here(world, client):
    assert client.get("/admin/stores/order/", follow=True).redirect_chain[-1][0] == (
        "/accounts/login/?next=%2Fadmin%2Fstores%2Forder%2F"
    )
    client.force_login(world.outsider)

    page = client.get("/admin/", follow=True)

    assert page.status_code == 403
    assert "for operators and for staff of stores" in page.content.decode()


def test_dates_are_in_the_time_zone_of_who_looks(shop, client):
    shop.place()
    Order.objects.update(created="2026-03-01T23:30:00Z")
    shop.world.operator.time_zone = "Asia/Tokyo"
    shop.world.operator.save()
    client.force_login(shop.world.operator)

    page = client.get("/admin/stores/order/").content.decode()
    assert 'datetime="2026-03-02T08:30:00+09:00" title="2 Mar 2026, 08:30"' in page


def test_staff_export_only_their_orders(two_stores):
    client = Client()
    client.force_login(two_stores.user)

    lines = b"".join(client.get(reverse("admin:stores_order_export"))).decode().splitlines()

    assert len(lines) == 2
    assert f",{two_stores.associated.external_id}," in lines[1]


def test_orders_are_found_by_what_is_exact(shop, client):
    order = shop.place(body=order_body(ExternalID="PO-77")).json()
    shop.act(order, "status", {"Status": 30}, client=shop.world.as_operator())
    stored = Order.objects.get()
    client.force_login(shop.world.operator)

    for term in (str(stored.number), "PO-77", str(stored.pk)):
        assert str(stored.number) in client.get("/admin/stores/order/", {"q": term}).content.decode()
    for term in ("1", "po", "9" * 40, "no such thing"):
        assert "1 order" not in client.get("/admin/stores/order/", {"q": term}).content.decode()


def test_staff_find_their_store_alone_by_typing(two_stores, client):
    client.force_login(two_stores.user)
    requested = {"app_label": "accounts", "model_name": "role"}

    choices = client.get("/admin/autocomplete/", {**requested, "field_name": "store"}).json()

    assert [result["id"] for result in choices["results"]] == [str(two_stores.associated.pk)]
    for field in ("user", "application"):
        assert client.get("/admin/autocomplete/", {**requested, "field_name": field}).status_code == 403


@pytest.mark.parametrize(
    ("stores", "along"),
    [(1, '"stores_order"."created" {0}, "stores_order"."id"'), (2, '"stores_order"."number"')],
)
@pytest.mark.parametrize("sort", ["", "newest", "oldest"])
def test_staff_sort_their_orders_along_an_index(two_stores, shop, client, stores, along, sort):
    """Over the numbers of all stores a list of one store would take as long as there are orders of others."""
    make_product(two_stores.demo)
    assert shop.place().status_code == shop.place(store="demo").status_code == 201
    if stores == 2:
        Role.objects.create(user=two_stores.user, grant="Order.All.Read", store=two_stores.unassociated)
    client.force_login(two_stores.user)

    shown = client.get(reverse("admin:stores_order_changelist"), {"sort": sort} if sort else {}).context["cl"]

    own = Order.objects.exclude(store__external_id="demo")
    own = own if stores == 2 else own.filter(store=two_stores.associated)
    newest_first = sort != "oldest"
    assert [order.pk for order in shown.result_list] == list(
        own.order_by("-number" if newest_first else "number").values_list("pk", flat=True)
    )
    requested = str(shown.queryset.query)
    direction = "DESC" if newest_first else "ASC"
    assert requested.endswith(f"ORDER BY {along.format(direction)} {direction}")
    assert ("BETWEEN" in requested) == (stores == 2)


def test_staff_of_stores_without_orders_see_an_empty_list(shop, client):
    Role.objects.create(user=shop.world.user, grant="Order.All.Read", store=shop.world.unassociated)
    client.force_login(shop.world.user)

    page = client.get(reverse("admin:stores_order_changelist"))

    assert page.status_code == 200
    assert not page.context["cl"].result_list
