import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from stores.catalog.models import Product, Store
from tests.factories.accounts import OperatorFactory
from tests.factories.stores import make_product, make_store
from tests.support.fresh import assert_renderings_fresh

pytestmark = pytest.mark.django_db

CHILDREN = ("template_fields", "delivered_prices", "production_speeds")


@pytest.fixture
def operator(client):
    client.force_login(OperatorFactory())
    return client


@pytest.fixture
def product():
    return make_product(make_store(), ID="card")


def posted(response, **changes):
    """What a browser sends back for a form page, with `changes` in it."""
    context = response.context
    forms = [context["adminform"].form]
    for inline in context["inline_admin_formsets"]:
        forms += [inline.formset.management_form, *inline.formset.forms]
    data = {}
    for form in forms:
        for bound in form:
            value = bound.value()
            if value is not None and value is not False:
                data[bound.html_name] = value
    return {**data, **changes}


def test_saving_writes_children_and_rendering(operator, product):
    page = reverse("admin:stores_product_change", args=[product.pk])
    data = posted(operator.get(page), name="Renamed")
    data |= {"delivered_prices-0-price": "7.50", "template_fields-0-DELETE": "on"}

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

    operator.post(page, posted(operator.get(page)))

    assert Product.objects.values().get() == before


def test_adding_a_product(operator):
    store = make_store()
    page = reverse("admin:stores_product_add")
    data = posted(operator.get(page))
    data |= {
        "store": store.pk,
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
        "position": "",
        "template_fields-TOTAL_FORMS": 1,
        "template_fields-0-field_name": "Color",
        "template_fields-0-prompt": "Color",
        "template_fields-0-type": "Choice",
        "template_fields-0-sub_type": "List",
        "template_fields-0-choices": "red, warm\nblue",
        "template_fields-0-position": 0,
    }

    response = operator.post(page, data)

    assert response.status_code == 302
    assert Product.objects.get().template_fields.get().choices == ["red, warm", "blue"]
    assert Store.objects.get().product_count == 1
    assert_renderings_fresh()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"default_quantity": 1}, "DefaultQty is below MinimumQty."),
        ({"image_url": "ftp://x"}, "ImageURL: write an http(s) address"),
        ({"delivered_prices-1-location_type": "Commercial"}, "Entry 0 has the same DeliveryMethodCode"),
        ({"template_fields-0-sub_type": "List"}, "SubType: a field of type Text is one of"),
    ],
)
def test_rules_of_the_service_become_errors_of_the_form(operator, product, changes, message):
    page = reverse("admin:stores_product_change", args=[product.pk])

    response = operator.post(page, posted(operator.get(page), **changes))

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
