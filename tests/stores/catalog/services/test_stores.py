import pytest

from fulfillment.core.errors import Invalid
from stores.catalog.models import Product, Store
from stores.catalog.services.stores import save_store
from tests.factories.stores import make_product, make_store, store_values
from tests.support.catalog.renderings import assert_renderings_fresh

pytestmark = pytest.mark.django_db


def test_saving_the_same_again_changes_nothing():
    values = store_values(BudgetTypes=["Amount", "Quantity"], BudgetDuration=["Weekly"])
    save_store(values=values)
    before = Store.objects.values().get()

    again = save_store(values=values)

    assert (again.is_new, again.is_changed) == (False, False)
    assert Store.objects.values().get() == before
    assert '"BudgetTypes":[{"Value":"Amount","Description":"Amount spent"}' in again.store.rendering


def test_another_currency_renders_the_products_again():
    values = store_values(Currency="USD")
    store = save_store(values=values).store
    product = make_product(store)

    save_store(values={**values, "Currency": "CAD"})

    assert '"Currency":"CAD"' in Product.objects.get().verbose_rendering
    assert Product.objects.get().version == product.version
    assert_renderings_fresh()


@pytest.mark.parametrize(
    ("values", "pointer", "code"),
    [
        ({"StoreID": ""}, "/StoreID", "malformed"),
        ({"CompanyName": ""}, "/CompanyName", "blank"),
        ({"Currency": "usd"}, "/Currency", "malformed"),
        ({"TimeZone": "Mars/Olympus"}, "/TimeZone", "unknown_time_zone"),
        ({"BudgetTypes": ["Amount", "Lunches"]}, "/BudgetTypes/1", "unknown_value"),
        ({"BudgetDuration": "Weekly"}, "/BudgetDuration", "not_an_array"),
        ({"IsDemo": True}, "/IsDemo", "not_unique"),
        ({"HoldWindowMinutes": -1}, "/HoldWindowMinutes", "not_a_whole_number"),
    ],
)
def test_broken_rule_is_named(values, pointer, code):
    make_store(IsDemo=True)

    with pytest.raises(Invalid) as raised:
        make_store(**values)

    assert [(fault.pointer, fault.code) for fault in raised.value.faults] == [(pointer, code)]
    assert Store.objects.count() == 1
