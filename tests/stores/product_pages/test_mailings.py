"""Routes for a product, and the order of them, in the console."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from delivery.datasets.services.demo import load_demo_population
from delivery.selection.models import EddmSelection
from stores.catalog.models import Product
from stores.catalog.services.products import save_product
from stores.orders.models import Order, OrderHistory, Quote
from tests.factories.eddm import make_selection
from tests.factories.orders import make_design, make_product, price_values, product_values

RECIPIENT = {"Name": "Ada Lovelace", "Address1": "1 Main Street", "City": "Denver", "PostalCode": "80202"}


@pytest.fixture
def mailer(world):
    load_demo_population()
    return make_product(
        world.associated, "mailer", IsEddm=True, MinimumQty=200, DefaultQty=200, MaximumQty=25_000
    )


def mailing(product) -> str:
    return reverse("admin:stores_product_mailing", args=[product.pk])


def order_page(product, selection) -> str:
    return reverse("admin:stores_product_mailing_order", args=[product.pk, selection.pk])


def sent(do: str, **more: str) -> dict[str, str]:
    return {"do": do, **{f"to-{name}": value for name, value in RECIPIENT.items()}, **more}


def chosen(browser, address: str) -> dict[str, str]:
    """The first of the prices that the page shows."""
    page = browser.post(address, sent("prices")).context["page"]
    return {"quote": str(page.quote.pk), "option": page.options[0].option_id}


def test_nothing_is_ordered_at_a_price_that_was_not_shown(world, signed_in, mailer):
    selection, browser = make_selection(user=world.user), signed_in(world.user)
    address = order_page(mailer, selection)
    assert "<b>72.00 USD</b> with the usual delivery" in browser.get(address).content.decode()
    dearer = {"DeliveredPrices": [price_values("GROUND", "9.00", is_default=True)], "MaximumQty": 25_000}
    values = product_values("mailer", IsEddm=True, MinimumQty=200, DefaultQty=200, **dearer)
    save_product(store=world.associated, values=values, product=mailer)

    page = browser.post(address, sent("order")).content.decode()

    assert not Order.objects.exists()
    assert "Choose a price, then place the order." in page
    assert "5,400.00 USD" in page
    assert browser.post(address, sent("order", **chosen(browser, address))).status_code == 302
    assert Order.objects.get().total == 5400


def test_staff_choose_routes_and_order_them(world, signed_in, mailer):
    browser = signed_in(world.user)

    chosen = browser.post(mailing(mailer), {"postal_codes": "84101", "do": "show"}).content.decode()
    saved = browser.post(mailing(mailer), {"postal_codes": "84101", "do": "save"})
    selection = EddmSelection.objects.get(user=world.user)

    assert 'data-total="cost"' in chosen
    assert "84101" in chosen
    assert saved.url == order_page(mailer, selection)
    assert (
        mailing(mailer)
        in browser.get(reverse("admin:stores_product_change", args=[mailer.pk])).content.decode()
    )

    page = browser.post(saved.url, sent("prices"))
    quote = Quote.objects.get()
    assert str(quote.pk) in page.content.decode()
    placed = browser.post(
        saved.url,
        sent(
            "order",
            reference="spring-1",
            quote=str(quote.pk),
            option=page.context["page"].options[0].option_id,
        ),
    )

    order = Order.objects.get()
    item = order.items.get()
    assert placed.url == reverse("admin:stores_order_change", args=[order.pk])
    assert (order.store, order.user, order.external_id) == (world.associated, world.user, "spring-1")
    assert (order.quote_id, order.recipient["Name"]) == (quote.pk, "Ada Lovelace")
    assert (item.quantity, item.eddm["SelectionID"]) == (selection.pieces, str(selection.pk))
    assert OrderHistory.objects.get(order=order).actor_id == world.user.pk


def test_order_with_the_same_reference_is_refused_and_the_first_one_named(world, signed_in, mailer):
    selection, browser = make_selection(user=world.user), signed_in(world.user)
    address = order_page(mailer, selection)
    reference = browser.get(address).context["page"].reference

    order = sent("order", reference=reference, **chosen(browser, address))

    first = browser.post(address, order)
    second = browser.post(address, order).content.decode()

    assert first.status_code == 302
    assert Order.objects.count() == 1
    assert f'href="{first.url}"' in second
    assert "There is already an order" in second


def test_faults_are_shown_beside_their_fields(world, signed_in, mailer):
    address, browser = order_page(mailer, make_selection(user=world.user)), signed_in(world.user)
    wrong = {"to-PostalCode": "", "to-Email": "no"}

    page = browser.post(address, sent("order", **chosen(browser, address), **wrong))

    errors = {field.name: field.errors for field in page.context["page"].address.fields if field.errors}
    assert set(errors) == {"PostalCode", "Email"}
    assert not Order.objects.exists()


def test_expired_selection_is_not_ordered(world, signed_in, mailer):
    selection = make_selection(user=world.user, expires=timezone.now() - timedelta(days=1))
    browser, address = signed_in(world.user), order_page(mailer, selection)

    assert "This selection has expired" in browser.get(address).content.decode()
    assert browser.post(address, sent("order")).status_code == 200
    assert not Order.objects.exists()


def test_only_staff_who_may_change_the_orders_of_the_store_choose_routes(world, signed_in, mailer):
    own, strange = make_selection(user=world.user), make_selection(user=world.operator)
    browser, roles = signed_in(world.user), Role.objects.filter(user=world.user)
    plain = make_product(world.associated, "plain")
    assert browser.get(mailing(mailer)).status_code == 200
    assert browser.get(mailing(plain)).status_code == 404
    assert browser.get(order_page(mailer, strange)).status_code == 404
    assert signed_in(world.operator).get(order_page(mailer, own)).status_code == 404

    roles.filter(grant="Order.All.Write").delete()
    assert [browser.get(address).status_code for address in (mailing(mailer), order_page(mailer, own))] == [
        403,
        403,
    ]
    assert browser.post(order_page(mailer, own), sent("order")).status_code == 403
    change = reverse("admin:stores_product_change", args=[mailer.pk])
    assert mailing(mailer) not in browser.get(change).content.decode()

    roles.update(store=world.unassociated)
    assert browser.get(mailing(mailer)).status_code == 404
    assert signed_in(world.outsider).get(mailing(mailer)).url.startswith(reverse("admin:login"))
    assert not Order.objects.exists()


def test_template_is_proofed_and_its_values_are_ordered(world, signed_in):
    load_demo_population()
    product = make_design(world.associated, "eddm-mailer-6.5x9", "printed")
    Product.objects.filter(pk=product.pk).update(is_eddm=True, maximum_quantity=25_000)
    address, browser = order_page(product, make_selection(user=world.user)), signed_in(world.user)
    fields = browser.get(address).context["page"].fields
    values = {field.input_name: field.value for field in fields}
    price = chosen(browser, address)

    proofed = browser.post(address, sent("proof", **values))
    unproofed = browser.post(address, sent("proof", **dict.fromkeys(values, "")))
    empty = browser.post(address, sent("order", **price, **dict.fromkeys(values, "")))
    placed = browser.post(address, sent("order", **price, **values))

    assert [page["url"].split("?")[0] for page in proofed.context["page"].proof["pages"]]
    assert b"proof-sheet" in proofed.content
    assert all(any(field.errors for field in page.context["page"].fields) for page in (unproofed, empty))
    assert placed.status_code == 302, placed.context["page"].problems
    item = Order.objects.get().items.get()
    assert item.print_file
    assert item.template_data == {field.name: field.value for field in fields if field.value}
