import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from stores.catalog.models import Product, Store
from tests.factories.accounts import OperatorFactory
from tests.factories.stores import make_product, make_store
from tests.support.fresh import assert_renderings_fresh
from tests.support.submissions import form_of

pytestmark = pytest.mark.django_db

CHILDREN = ("template_fields", "delivered_prices", "production_speeds")


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
    typed = {"name": "Renamed", "delivered_prices-0-price": "7.50", "template_fields-0-DELETE": "on"}
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


def test_adding_a_product(operator):
    store = make_store()
    page = reverse("admin:stores_product_add")
    form = form_of(operator.get(page), "product_form")
    field, price, speed = (form.add_row(name) for name in CHILDREN)
    typed = {
        "store": str(store.pk),
        "external_id": "new",
        "api_key": "N",
        "name": "New",
        "default_quantity": 1,
        "minimum_quantity": 1,
        "maximum_quantity": 9,
        "quantity_increment": 1,
        "delivery_method": "GROUND",
        "width_mm": "10",
        "height_mm": "10",
        f"{field}-field_name": "Color",
        f"{field}-prompt": "Color",
        f"{field}-type": "Choice",
        f"{field}-sub_type": "List",
        f"{field}-choices": "red, warm\nblue",
        f"{price}-delivery_method_code": "GROUND",
        f"{price}-price": "0.25",
        f"{price}-country_code": "US",
        f"{price}-location_type": "Commercial",
        f"{speed}-days": "3",
    }

    response = operator.post(page, form.submission(typed))

    assert response.status_code == 302
    saved = Product.objects.get()
    assert saved.template_fields.get().choices == ["red, warm", "blue"]
    assert (str(saved.delivered_prices.get().price), saved.production_speeds.get().days) == ("0.25", 3)
    assert Store.objects.get().product_count == 1
    assert_renderings_fresh()


def test_new_rows_follow_those_that_are_there(operator, product):
    page = reverse("admin:stores_product_change", args=[product.pk])
    form = form_of(operator.get(page), "product_form")
    there = [field.field_name for field in product.template_fields.all()]
    typed = {}
    for name in ("First", "Second"):
        row = form.add_row("template_fields")
        typed |= {f"{row}-field_name": name, f"{row}-type": "Text", f"{row}-sub_type": "SingleLine"}

    assert operator.post(page, form.submission(typed)).status_code == 302

    saved = Product.objects.get().template_fields.order_by("position")
    assert [field.field_name for field in saved] == [*there, "First", "Second"]


def test_rules_are_checked_while_a_row_is_invalid(operator, product):
    page = reverse("admin:stores_product_change", args=[product.pk])
    form = form_of(operator.get(page), "product_form")
    row = form.add_row("delivered_prices")
    typed = {"minimum_quantity": "500", "maximum_quantity": "100", f"{row}-price": "cheap"}

    page_again = operator.post(page, form.submission(typed)).content.decode()

    assert "Maximum quantity is below default quantity." in page_again
    assert 'href="#id_maximum_quantity"' in page_again
    assert f'href="#id_{row}-price"' in page_again
    assert "Enter a number." in page_again
    assert Product.objects.get().version == 1


def test_a_delivery_method_that_is_new_to_the_store_is_confirmed(operator, product):
    page = reverse("admin:stores_product_change", args=[product.pk])
    opened = operator.get(page)
    known = product.delivery_method

    mistyped = operator.post(page, filled(opened, delivery_method=known[:-2] + known[-1] + known[-2]))
    in_lower_case = operator.post(page, filled(opened, delivery_method=known.lower()))

    assert f"Did you mean {known}?" in mistyped.content.decode()
    assert f'<option value="{known}">' in opened.content.decode()
    assert in_lower_case.status_code == 302
    assert Product.objects.get().delivery_method == known
    typed = {"delivery_method": "PICKUP", "new_delivery_methods": "on"}
    assert operator.post(page, filled(operator.get(page), **typed)).status_code == 302
    assert Product.objects.get().delivery_method == "PICKUP"


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
        ({"delivered_prices-1-location_type": "Commercial"}, "Row 1 has the same delivery method code"),
        ({"template_fields-0-sub_type": "List"}, "Sub type: a field of type Text is one of"),
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

    assert "out of the catalog?" in operator.post(page, sent).content.decode()
    assert Product.objects.get().is_active is True
    operator.post(page, {**sent, "confirmed": "1"})

    assert Product.objects.get().is_active is False
    assert Store.objects.get().product_count == 0
    assert_renderings_fresh()


@pytest.mark.parametrize("query", ["", "?q=card", "?is_active__exact=1"])
@pytest.mark.parametrize("count", [1, 3])
def test_list_takes_as_many_queries_for_any_number(operator, count, query, django_assert_num_queries):
    store = make_store()
    for number in range(count):
        make_product(store, ID=f"card-{number}")
    page = reverse("admin:stores_product_changelist")
    operator.get(page)

    with django_assert_num_queries(4):
        response = operator.get(page + query)

    assert len(response.context["cl"].result_list) == count


@pytest.mark.parametrize("name", ["store", "product", "storeevent", "productevent"])
def test_pages_show(operator, product, name):
    record = {"store": product.store, "product": product}.get(name)
    record = record or {"storeevent": product.store, "productevent": product}[name].events.first()

    for page in ("changelist", "change"):
        arguments = [record.pk] if page == "change" else []
        response = operator.get(reverse(f"admin:stores_{name}_{page}", args=arguments))
        assert response.status_code == 200
        assert "&quot;HasTemplate&quot;" not in response.content.decode() or name == "productevent"
