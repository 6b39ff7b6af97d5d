"""The page of the audit log, and a menu that fits on a screen."""

import re

import pytest

from accounts.models import Tenant
from stores.catalog.models import Product
from stores.orders.models import Order
from tests.support.pages import text


def text_of(client, **sent) -> str:
    response = client.get("/admin/audit/", sent)
    assert response.status_code == 200
    return text(response)


def test_audit_log_shows_who_changed_which_value(world, client):
    client.force_login(world.operator)
    page = f"/admin/accounts/tenant/{world.tenant.pk}/change/"
    form = client.get(page).context["adminform"].form
    sent = {name: form[name].value() or "" for name in form.fields}
    assert client.post(page, {**sent, "name": "Renamed"}).status_code == 302

    said = text_of(client, person="operator", kind="accounts.tenant")

    assert "Changed: Tenant" in said
    assert "operator" in said
    assert "<del>Print</del> <ins>Renamed</ins>" in said
    assert f'href="{page}"' in said
    own = re.search(r'href="(\?kind=accounts.tenant&amp;object=[^"]+)"', said)[1].replace("&amp;", "&")
    assert "Renamed" in client.get(f"/admin/audit/{own}").content.decode()


def test_deleted_object_has_no_page_but_a_history(world, client):
    client.force_login(world.operator)
    tenant = Tenant.objects.create(domain="gone.example", name="Gone")
    key = tenant.pk
    tenant.delete()

    said = text_of(client, action="delete", kind="accounts.tenant")

    assert "Deleted: Tenant gone.example" in said
    assert "Created: Tenant" in text_of(client, kind="accounts.tenant", object=str(key))


def test_values_are_named_in_words(furnished, client):
    client.force_login(furnished.operator)

    said = text_of(client, kind="stores.order", action="update")

    assert "<del>In production</del> <ins>Shipped</ins>" in said
    assert "Sequence" not in said


def test_codes_have_their_names_and_fields_their_labels(furnished, client):
    client.force_login(furnished.operator)
    order = Order.objects.filter(delivery_method_code__contains="_").first() or Order.objects.first()
    Order.objects.filter(pk=order.pk).update(delivery_method_code="OVERNIGHT")
    name = Product.objects.get(store=order.store, external_id=order.product_ids[0]).name

    said = text_of(client, kind="stores.order", object=str(order.pk))

    assert "<ins>Overnight</ins>" in said
    assert f"<ins>{name}" in said
    assert {"Products", "Delivery method"} <= set(re.findall(r'<th scope="row">([^<]+)</th>', said))
    assert "OVERNIGHT" not in said


def test_pages_of_the_log_follow_one_another(furnished, client):
    client.force_login(furnished.operator)
    first = client.get("/admin/audit/")
    second = client.get("/admin/audit/" + first.context["older"])

    assert len(first.context["entries"]) == len(second.context["entries"]) == 25
    assert first.context["entries"][-1]["when"] >= second.context["entries"][0]["when"]
    assert first.context["entries"] != second.context["entries"]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"person": "no one"}, "There is no user with the name"),
        ({"kind": "x"}, "Choose one of the kinds"),
        ({"action": "x"}, "Choose one of the actions"),
        ({"from": "x"}, "is not a date"),
        ({"to": "2026-02-31"}, "is not a date"),
        ({"from": "0001-01-01", "to": "9999-12-31"}, "Created"),
        ({"object": "9" * 40}, "No entries match"),
        ({"after": "x|y|z"}, "Created"),
    ],
)
def test_filter_that_is_none_says_so(world, client, sent, said):
    client.force_login(world.operator)
    assert said in text_of(client, **sent)


def test_log_and_system_are_for_operators(world, client):
    client.force_login(world.user)
    assert client.get("/admin/audit/").status_code == client.get("/admin/system/").status_code == 403


@pytest.mark.parametrize(
    ("path", "entry"),
    [
        ("accounts/role/", "System"),
        ("accounts/role/add/", "System"),
        ("system/", "System"),
        ("production/provider/", "Production"),
        ("applications/delivery/", "Applications"),
    ],
)
def test_menu_marks_where_a_page_without_an_entry_belongs(furnished, client, path, entry):
    client.force_login(furnished.operator)
    side = client.get(f"/admin/{path}").context["sidebar_navigation"]

    assert [item["title"] for group in side for item in group["items"] if item["active"]] == [entry]


def test_menu_of_staff_names_no_list_that_is_a_tab(furnished, client):
    client.force_login(furnished.user)
    side = client.get("/admin/stores/batch/").context["sidebar_navigation"]
    items = {item["title"]: item["active"] for group in side for item in group["items"]}

    assert items["Orders"]
    assert not {"Quotes", "Batches", "Gang sheets"} & set(items)
    assert "Roles" in items
    assert not {group.get("title") for group in side} & set(items)


def test_menu_has_at_most_14_entries_and_leads_to_everything_that_is_worked_with(furnished, client):
    client.force_login(furnished.operator)
    side = client.get("/admin/").context["sidebar_navigation"]
    items = [item for group in side for item in group["items"]]
    titles = [item["title"] for item in items]

    assert len(items) <= 14
    assert len(set(titles)) == len(titles)
    assert {"Orders", "Products", "Audit log", "System"} <= set(titles)
    providers = client.get("/admin/production/provider/").content.decode()
    tabs = re.search(r'id="tabs-items".*?</nav>', providers, re.DOTALL)[0]
    named = ["Production", "Gang sheets", "Print providers", "Routing rules", "Provider reports"]
    assert re.findall(r">\s*([A-Z][a-z ]+?)\s*</a>", tabs) == named
    system = client.get("/admin/system/").content.decode()
    for title in ("Background jobs", "Cost centers", "Roles", "Fonts"):
        assert f">{title}</a>" in system
    for title in ("Gang sheets", "Routing rules", "Quotes"):
        assert f">{title}</a>" not in system, "it is a tab of another list"
    assert system.count('<a class="console-link" href="/admin/') == system.count("system-about")
    assert Order.objects.exists()

    client.force_login(furnished.user)
    own = [
        item["title"]
        for group in client.get("/admin/").context["sidebar_navigation"]
        for item in group["items"]
    ]
    assert "System" not in own
    assert {"Orders", "Roles"} <= set(own)
