import pytest
from django.urls import reverse

from stores.catalog.models import Product, Store, StoreProfile
from stores.catalog.services.stores import save_profile
from tests.factories.accounts import OperatorFactory
from tests.factories.stores import make_product, make_store
from tests.support.catalog.renderings import assert_renderings_fresh

pytestmark = pytest.mark.django_db

VALUES = {
    "external_id": "new-store",
    "company_name": "New Store",
    "currency": "EUR",
    "time_zone": "Europe/Paris",
    "budget_types": ["Orders"],
    "budget_durations": ["Weekly", "Yearly"],
    "hold_window_minutes": 30,
    "approval_above": "500.00",
    "approval_hours": 24,
}


@pytest.fixture
def operator(client):
    client.force_login(OperatorFactory())
    return client


def test_adding_a_store(operator):
    response = operator.post(reverse("admin:stores_store_add"), VALUES)

    assert response.status_code == 302
    store = Store.objects.get()
    assert (store.external_id, store.budget_durations) == ("new-store", ["Weekly", "Yearly"])
    assert (store.approval_above, store.approval_hours) == (500, 24)
    assert_stores_fresh()


def test_changing_a_store_renders_its_products_again(operator):
    store = make_store()
    make_product(store)

    operator.post(reverse("admin:stores_store_change", args=[store.pk]), VALUES)

    assert Store.objects.get().external_id == store.external_id
    assert '"Currency":"EUR"' in Product.objects.get().verbose_rendering
    assert_renderings_fresh()


def test_form_opened_before_another_change_does_not_write_over_it(operator):
    store = make_store()
    address = reverse("admin:stores_store_change", args=[store.pk])
    opened = operator.get(address).context["adminform"].form.loaded_version
    Store.objects.filter(pk=store.pk).update(time_zone="Europe/Berlin")

    refused = operator.post(address, {**VALUES, "loaded_version": opened})
    newest = refused.context["adminform"].form.loaded_version

    assert "Another user changed this record after you opened it" in refused.content.decode()
    assert f'name="loaded_version" value="{newest}"' in refused.content.decode()
    assert Store.objects.get().company_name == store.company_name
    assert newest != opened
    wrong = operator.post(address, {**VALUES, "currency": "Euro", "loaded_version": newest})
    assert wrong.context["adminform"].form.loaded_version == newest
    assert operator.post(address, {**VALUES, "loaded_version": newest}).status_code == 302
    assert Store.objects.get().company_name == "New Store"


def test_lost_update_is_explained_in_the_language_of_the_page(operator):
    store = make_store()
    address = reverse("admin:stores_store_change", args=[store.pk])

    refused = operator.post(address, {**VALUES, "loaded_version": "0"}, headers={"Accept-Language": "de"})

    assert "Jemand anderes hat diesen Datensatz geändert" in refused.content.decode()
    assert "Another user" not in refused.content.decode()


def test_form_opened_before_a_change_of_the_directory_entry_does_not_write_over_it(operator):
    store = make_store()
    address = reverse("admin:stores_store_change", args=[store.pk])
    opened = operator.get(address).context["adminform"].form.loaded_version
    save_profile(store=store, values={"Country": "", "Website": "https://new.example", "IsListed": False})

    refused = operator.post(address, {**VALUES, "is_listed": "on", "loaded_version": opened})

    assert "Another user changed this record after you opened it" in refused.content.decode()
    profile = StoreProfile.objects.get()
    assert (profile.website, profile.is_listed) == ("https://new.example", False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time_zone": "Nowhere"}, "TimeZone: write a time zone"),
        ({"currency": "eur"}, "Currency: write an ISO 4217 code"),
        ({"is_demo": "on"}, "IsDemo: only one store can be the demo store"),
        ({"external_id": "taken"}, "StoreID: another store has this ID."),
    ],
)
def test_rules_of_the_service_become_errors_of_the_form(operator, changes, message):
    make_store(IsDemo=True, StoreID="taken")

    response = operator.post(reverse("admin:stores_store_add"), {**VALUES, **changes})

    assert response.status_code == 200
    assert message in response.content.decode().replace("&#x27;", "'")
    assert Store.objects.count() == 1


def assert_stores_fresh():
    make_product(Store.objects.get())
    assert_renderings_fresh()


def test_a_logo_is_removed_only_where_there_is_one(operator):
    store = make_store()
    change = reverse("admin:stores_store_change", args=[store.pk])
    before = operator.get(change).content.decode()
    StoreProfile.objects.update_or_create(store=store, defaults={"logo": b"PNG", "logo_sha256": "0" * 64})
    after = operator.get(change).content.decode()

    assert "remove_logo" not in before
    assert "remove_logo" in after
