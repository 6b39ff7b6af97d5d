"""What the console calls things: for people, never a column's or a program's word."""

import re

import pytest
from django.contrib import admin
from django.urls import reverse
from django.utils import timezone

from accounts.models import Tenant
from applications.registration.models import Application
from production.routing.models import RoutingRule
from stores.catalog.models import Product, StoreProfile
from stores.catalog.services.products import archive_product, save_product
from stores.orders.models import Order, OrderStatus
from tests.factories.orders import make_product, price_values, product_values
from tests.support.browser.submissions import form_of
from tests.support.pages import text
from tests.support.scenario import sign_in

MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_every_list_can_be_searched(model):
    assert admin.site._registry[model].search_fields


def test_kinds_of_fields_and_help_of_a_stored_logo_are_in_the_readers_language(operator, world):
    StoreProfile.objects.update_or_create(store=world.associated, defaults={"logo_sha256": "0" * 64})
    german = {"Accept-Language": "de"}

    product = text(operator.get("/admin/stores/product/add/", headers=german))
    store = text(operator.get(f"/admin/stores/store/{world.associated.pk}/change/", headers=german))

    assert {"Langer Text", "Webadresse", "Galerie"} <= set(
        re.findall(r"<option[^>]*>([^<]+)</option>", product)
    )
    assert "Ein Logo ist gespeichert; eine andere Datei ersetzt es. PNG oder JPEG, höchstens 1 MB" in store


def test_statuses_are_words():
    assert [status.words for status in OrderStatus][:5] == [
        "Received",
        "On hold",
        "Accepted",
        "In production",
        "Partially shipped",
    ]


def test_empty_list_says_what_to_do_and_a_search_without_result_how_to_continue(operator):
    empty = text(operator.get("/admin/stores/order/"))
    searched = text(operator.get("/admin/stores/order/", {"q": "4711"}))

    assert "No orders here" in empty
    assert "Orders arrive through the API." in empty
    assert "No orders match" in searched
    assert "Show all" in searched
    assert "No orders match" not in empty


def test_recipient_reads_as_on_a_letter(shop, client):
    sign_in(client, shop.world.operator)
    shop.place()

    page = text(client.get(f"/admin/stores/order/{Order.objects.get().pk}/change/"))

    card = re.search(r"<address[^>]*>(.*?)</address>", page, re.DOTALL)
    assert card, page
    lines = [line.strip() for line in re.sub(r"<[^>]+>", "\n", card[1]).splitlines() if line.strip()]
    assert lines == ["Dana Whitfield", "Acme Realty", "1200 17th Street", "Denver CO 80202", "US"]
    assert "Times are in UTC." in page


def test_background_jobs_are_called_so(operator):
    page = text(operator.get("/admin/procrastinate/procrastinatejob/"))

    assert "No background jobs here" in page
    assert "rocrastinate job" not in page


def test_history_leads_back_to_its_record(world, operator):
    address = f"/admin/stores/product/{make_product(world.associated).pk}/"

    page = text(operator.get(f"{address}history/"))

    assert re.findall(r'href="([^"]+)"[^>]*aria-label="Go back"', page) == [f"{address}change/"]


def test_history_leaves_out_what_only_follows(world, operator):
    product = make_product(world.associated)
    archive_product(product=product)

    page = text(operator.get(f"/admin/stores/product/{product.pk}/history/"))

    assert "<del>yes</del> <ins>no</ins>" in page
    assert "<ins>Associated Print</ins>" in page
    assert "Rendering" not in page
    assert Product.objects.get().rendering not in page


def test_history_shows_which_price_was_changed(world, operator):
    product = make_product(world.associated)
    prices = [price_values("GROUND", "0.12", is_default=True), price_values("OVERNIGHT", "0.17")]
    save_product(store=world.associated, values=product_values(DeliveredPrices=prices), product=product)
    prices[0] = price_values("GROUND", "9.99", is_default=True)
    save_product(store=world.associated, values=product_values(DeliveredPrices=prices), product=product)

    history = operator.get(f"/admin/stores/product/{product.pk}/history/")

    reported = history.context["trail"][0]["changes"]
    assert ("delivered prices: Ground US Commercial, price", "0.12", "9.99") in reported
    assert not any("overnight" in title.lower() for title, _, _ in reported)


def test_history_in_german_says_that_a_change_is_not_shown(world, operator, monkeypatch):
    address = f"/admin/accounts/tenant/{world.tenant.pk}"
    operator.post(f"{address}/change/", {"domain": world.tenant.domain, "name": "Renamed"})
    events = Tenant.pgh_event_model.objects
    event = events.filter(pgh_obj=world.tenant.pk).latest("pgh_id")
    event.pgh_id = events.latest("pgh_id").pgh_id + 1
    with monkeypatch.context() as patch:
        # Saving sets `created` anew, which would be a change that is shown.
        patch.setattr(timezone, "now", lambda: event.created)
        event.save(force_insert=True)

    page = text(operator.get(f"{address}/history/", HTTP_ACCEPT_LANGUAGE="de"))

    assert "Was sich änderte, wird hier nicht gezeigt" in page


def test_history_of_a_tenant_shows_who_renamed_it(world, operator):
    address = f"/admin/accounts/tenant/{world.tenant.pk}"
    operator.post(f"{address}/change/", {"domain": world.tenant.domain, "name": "Renamed"})

    shown = text(operator.get(f"{address}/history/"))

    assert "Changed by operator" in shown
    assert "<ins>Renamed</ins>" in shown


def test_yes_and_no_are_words_for_who_listens(operator):
    page = text(operator.get("/admin/accounts/user/"))

    assert re.search(r">\s*Yes\s*<", page)
    assert re.search(r">\s*No\s*<", page)


@pytest.mark.parametrize("address", ["/admin/procrastinate/", "/admin/procrastinate/procrastinatejob/"])
def test_jobs_are_called_the_same_everywhere(operator, address):
    page = text(operator.get(address))

    assert "Background jobs" in page
    assert "rocrastinate job" not in page


def test_application_without_reply_urls_can_be_changed(world, operator):
    application = world.application
    Application.objects.update(redirect_uris="")
    values = {
        "name": "Renamed",
        "support_email": "help@example.com",
        "roles-TOTAL_FORMS": 0,
        "roles-INITIAL_FORMS": 0,
        "keys-TOTAL_FORMS": 0,
        "keys-INITIAL_FORMS": 0,
    }
    response = operator.post(f"/admin/applications/application/{application.pk}/change/", values)

    assert response.status_code == 302, response.context_data["errors"]
    application.refresh_from_db()
    assert application.name == "Renamed"


def test_page_that_is_neither_list_nor_record_says_what_it_is(world, operator):
    product = make_product(world.associated)

    for address, heading in (
        ("/admin/stores/product/add/", "Add product"),
        (f"/admin/stores/product/{product.pk}/history/", f"History of {product}"),
        ("/admin/stores/catalogupload/add/", "Import a catalog"),
        ("/admin/delivery/dataset/look-up/", ""),
    ):
        assert f'<h2 class="console-heading">{heading}' in text(operator.get(address)), address
    assert "console-heading" not in text(operator.get("/admin/stores/product/"))


def test_tenant_is_deleted_only_while_it_has_no_users(world, operator):
    empty = Tenant.objects.create(domain="empty.example", name="Empty")
    addresses = [f"/admin/accounts/tenant/{tenant.pk}/delete/" for tenant in (world.tenant, empty)]

    assert [operator.get(address).status_code for address in addresses] == [403, 200]
    assert operator.post(addresses[1], {"post": "yes"}).status_code == 302
    assert list(Tenant.objects.all()) == [world.tenant]
    assert "delete_selected" not in text(operator.get("/admin/accounts/tenant/"))


def test_titles_name_the_list_or_the_record(world, operator):
    listed = operator.get("/admin/stores/store/").content.decode()
    shown = operator.get(f"/admin/stores/store/{world.associated.pk}/change/").content.decode()

    assert re.search(r"<title>\s*Stores \|", listed)
    assert re.search(r"<title>\s*Associated Print \| Store \|", shown)


def test_values_that_an_admin_makes_are_in_the_language_of_the_reader(world, operator):
    type(world.operator).objects.filter(pk=world.operator.pk).update(language="de")
    RoutingRule.objects.create(name="All", position=1)

    user = text(operator.get(f"/admin/accounts/user/{world.user.pk}/change/"))
    rules = text(operator.get("/admin/production/routingrule/"))

    assert '<p class="readonly" id="id_password">Gesetzt</p>' in user
    assert '<a href="../password/">Neues Passwort setzen</a>' in user
    assert "alles" in rules
    assert "Keiner: die Regel wird übergangen" in rules
    assert 'data-label="Select record"' not in rules


def test_rules_of_a_product_are_told_in_the_language_of_the_reader(world, operator):
    type(world.operator).objects.filter(pk=world.operator.pk).update(language="de")
    product = make_product(store=world.associated)
    page = reverse("admin:stores_product_change", args=[product.pk])
    form = form_of(operator.get(page), "product_form")
    typed = {"default_quantity": "1", "minimum_quantity": "2", "image_url": "ftp://x"}

    refused = operator.post(page, form.submission(typed)).content.decode()

    assert "Standardmenge ist kleiner als Mindestmenge." in refused
    assert "Bild-URL: schreiben Sie eine http(s)-Adresse" in refused
