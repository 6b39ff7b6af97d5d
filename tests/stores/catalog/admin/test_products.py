import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from stores.catalog.models import Product, Store
from stores.catalog.selectors.products import stored_product
from stores.catalog.services import products
from tests.factories.accounts import OperatorFactory
from tests.factories.stores import make_product, make_store
from tests.support.browser.submissions import form_of
from tests.support.catalog.renderings import assert_renderings_fresh

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client):
    client.force_login(OperatorFactory())
    return client


@pytest.fixture
def product():
    return make_product(make_store(), ID="card")


def filled(response, **typed):
    """What a browser sends after typing `typed` into the page's form."""
    return form_of(response, "product_form").submission(typed)


def test_saving_writes_children_and_rendering(operator, product):
    page = reverse("admin:stores_product_change", args=[product.pk])
    typed = {"name": "Renamed", "prices-0-0": "7.50", "template_fields-0-DELETE": "on"}
    data = filled(operator.get(page), **typed)

    response = operator.post(page, data)

    assert response.status_code == 302
    changed = Product.objects.get()
    assert (changed.name, changed.version, changed.template_fields.count()) == ("Renamed", 2, 0)
    assert '"Price":7.5' in changed.rendering
    assert changed.delivered_prices.first().created == product.created
    assert "Renamed" in LogEntry.objects.get().object_repr
    assert_renderings_fresh()


def test_saving_without_a_change_writes_nothing(operator, product):
    page = reverse("admin:stores_product_change", args=[product.pk])
    before = Product.objects.values().get()

    operator.post(page, filled(operator.get(page)))

    assert Product.objects.values().get() == before


NEW = {
    "external_id": "new",
    "api_key": "N",
    "name": "New",
    "default_quantity": 1,
    "minimum_quantity": 1,
    "maximum_quantity": 9,
    "delivery_method": "+",
    "delivery_method-new": "GROUND",
    "width_mm": "10",
    "height_mm": "10",
}
PRICED = {
    "prices-m0-code": "+",
    "prices-m0-code-new": "GROUND",
    "prices-p0-country": "US",
    "prices-p0-location": "Commercial",
    "prices-0-0": "0.25",
    "prices-default": "0-0",
}


def test_product_is_added_and_published_without_scripts(operator):
    store = make_store()
    page = reverse("admin:stores_product_add")
    typed = {
        **NEW,
        **PRICED,
        "store": str(store.pk),
        "production_speeds-0-days": "3",
        "_publish": "",
    }

    form = form_of(operator.get(page), "product_form")
    form.fields["_publish"] = None
    response = operator.post(page, form.submission(typed))

    saved = Product.objects.get()
    assert response.url == reverse("admin:stores_product_change", args=[saved.pk])
    price = saved.delivered_prices.get()
    assert (str(price.price), price.country, price.is_default) == ("0.25", "United States", True)
    assert (saved.production_speeds.get().days, saved.is_active) == (3, True)
    assert Store.objects.get().product_count == 1
    assert_renderings_fresh()


def test_product_that_the_database_refuses_is_reported(operator, monkeypatch):
    store = make_store()
    make_product(store, ID="new")
    monkeypatch.setattr(products, "_find_clashes", lambda record, store, product: [])
    page = reverse("admin:stores_product_add")
    form = form_of(operator.get(page), "product_form")

    shown = operator.post(page, form.submission({**NEW, **PRICED, "store": str(store.pk)}), follow=True)

    assert "Another user changed it. Try again." in shown.content.decode()
    assert Product.objects.count() == 1


def test_product_with_fields_is_not_published_without_a_template(operator):
    store = make_store()
    page = reverse("admin:stores_product_add")
    form = form_of(operator.get(page), "product_form")
    form.fields["_publish"] = None
    field = {"template_fields-0-field_name": "Color", "template_fields-0-kind": "Choice:List"}
    typed = {**NEW, **PRICED, **field, "template_fields-0-choices": "red, warm\nblue", "store": str(store.pk)}

    refused = operator.post(page, form.submission({**typed, "_publish": ""})).content.decode()
    operator.post(page, form.submission(typed))

    assert "It cannot be published yet. Create a template" in refused
    saved = Product.objects.get()
    assert (saved.is_active, saved.template_fields.get().choices) == (False, ["red, warm", "blue"])


def test_new_rows_follow_those_that_are_there(operator, product):
    page = reverse("admin:stores_product_change", args=[product.pk])
    form = form_of(operator.get(page), "product_form")
    there = [field.field_name for field in product.template_fields.all()]
    typed = {}
    for name in ("First", "Second"):
        row = form.add_row("template_fields")
        typed |= {f"{row}-field_name": name, f"{row}-kind": "Text:SingleLine"}

    assert operator.post(page, form.submission(typed)).status_code == 302

    saved = Product.objects.get().template_fields.order_by("position")
    assert [field.field_name for field in saved] == [*there, "First", "Second"]


def test_rules_are_checked_while_a_row_is_invalid(operator, product):
    page = reverse("admin:stores_product_change", args=[product.pk])
    form = form_of(operator.get(page), "product_form")
    row = form.add_row("production_speeds")
    typed = {
        "minimum_quantity": "500",
        "maximum_quantity": "100",
        f"{row}-days": "few",
        "prices-0-0": "cheap",
    }

    page_again = operator.post(page, form.submission(typed)).content.decode()

    assert "Maximum quantity is below default quantity." in page_again
    assert 'href="#id_maximum_quantity"' in page_again
    assert f'href="#id_{row}-days"' in page_again
    assert "Enter a whole number." in page_again
    assert 'href="#prices-0-0"' in page_again
    assert Product.objects.get().version == 1


def test_code_that_is_almost_a_known_one_is_saved_the_second_time(operator, product):
    page = reverse("admin:stores_product_change", args=[product.pk])
    opened = operator.get(page)
    known = product.delivery_method
    mistyped = {"delivery_method": "+", "delivery_method-new": known[:-2] + known[-1] + known[-2]}

    refused = operator.post(page, filled(opened, **mistyped))
    lower_case = {"delivery_method": "+", "delivery_method-new": known.lower(), "name": "Other"}
    operator.post(page, filled(opened, **lower_case))

    assert f"Did you mean {known}?" in refused.content.decode()
    german = operator.post(page, filled(opened, **mistyped), headers={"Accept-Language": "de"})
    assert f"Meinten Sie {known}?" in german.content.decode()
    assert Product.objects.get().delivery_method == known
    again = {
        **filled(refused),
        "loaded_version": form_of(operator.get(page), "product_form").fields["loaded_version"],
    }
    operator.post(page, again)
    assert Product.objects.get().delivery_method == mistyped["delivery_method-new"]


def test_faults_of_hidden_fields_are_shown(operator, product):
    page = reverse("admin:stores_product_change", args=[product.pk])
    data = filled(operator.get(page), **{"template_fields-0-position": "first"})

    shown = operator.post(page, data).content.decode()

    assert "Template fields, row 1, position: Enter a whole number." in " ".join(shown.split())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"default_quantity": "1"}, "Default quantity is below minimum quantity."),
        ({"image_url": "ftp://x"}, "Image URL: write an http(s) address"),
        ({"prices-p1-location": "Commercial"}, "This delivery method, country and location occur twice."),
        ({"prices-p0-country": ""}, "Choose a country."),
        ({"prices-0-0": ""}, "No price: enter one, or remove this row or column."),
        ({"template_fields-0-kind": "Choice:List"}, "Choices: a list needs at least one choice."),
    ],
)
def test_rules_of_the_service_become_errors_of_the_form(operator, product, changes, message):
    page = reverse("admin:stores_product_change", args=[product.pk])

    response = operator.post(page, filled(operator.get(page), **changes))

    assert response.status_code == 200
    assert message in response.content.decode()
    assert Product.objects.get().version == 1


def test_archiving(operator, product):
    page, sent = (
        reverse("admin:stores_product_changelist"),
        {"action": "archive", "_selected_action": [product.pk]},
    )

    assert "from the catalog?" in operator.post(page, sent).content.decode()
    assert Product.objects.get().is_active is True
    operator.post(page, {**sent, "confirmed": "1"})

    assert Product.objects.get().is_active is False
    assert Store.objects.get().product_count == 0
    assert_renderings_fresh()


def test_duplicate_has_all_but_the_api_key_outside_of_the_catalog(operator, product):
    address = reverse("admin:stores_product_duplicate", args=[product.pk])

    first, _ = (operator.post(address) for _ in range(2))

    copies = Product.objects.exclude(pk=product.pk).order_by("pk")
    assert [copy.external_id for copy in copies] == ["card-copy", "card-copy-2"]
    assert first.url == reverse("admin:stores_product_change", args=[copies[0].pk])
    assert {(copy.is_active, copy.api_key) for copy in copies} == {(False, "")}
    names = ("Name", "ID", "APIKey", "IsActive", "DeliveredPrices")
    one, other = (stored_product(pk).record for pk in (product.pk, copies[0].pk))
    assert {k: v for k, v in one.items() if k not in names} == {
        k: v for k, v in other.items() if k not in names
    }
    assert len(one["DeliveredPrices"]) == len(other["DeliveredPrices"])
    assert operator.get(address).status_code == 405
    assert_renderings_fresh()


def test_products_of_a_list_are_duplicated(operator, product):
    values = {"action": "duplicate", "_selected_action": [product.pk]}

    response = operator.post(reverse("admin:stores_product_changelist"), values, follow=True)

    assert "Duplicated as card-copy." in response.content.decode()


@pytest.mark.parametrize("query", ["", "?q=card", "?is_active__exact=1"])
@pytest.mark.parametrize("count", [1, 3])
def test_list_takes_as_many_queries_for_any_number(operator, count, query, django_assert_num_queries):
    store = make_store()
    for number in range(count):
        make_product(store, ID=f"card-{number}")
    page = reverse("admin:stores_product_changelist")
    operator.get(page)

    # One of them lists the stores of the filter.
    with django_assert_num_queries(6):
        response = operator.get(page + query)

    assert len(response.context["cl"].result_list) == count


@pytest.mark.parametrize("name", ["store", "product"])
def test_pages_show(operator, product, name):
    record = {"store": product.store, "product": product}[name]

    for page in ("changelist", "change"):
        arguments = [record.pk] if page == "change" else []
        response = operator.get(reverse(f"admin:stores_{name}_{page}", args=arguments))
        assert response.status_code == 200
        assert "&quot;HasTemplate&quot;" not in response.content.decode()
