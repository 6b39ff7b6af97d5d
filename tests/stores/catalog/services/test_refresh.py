import pytest
from django.core.management import call_command

from stores.catalog.models import Product, Store
from stores.catalog.services.refresh import refresh_renderings
from tests.factories.stores import make_product, make_store
from tests.support.catalog.renderings import assert_renderings_fresh

pytestmark = pytest.mark.django_db


def test_refresh_writes_what_was_changed_behind_the_services():
    store = make_store()
    make_product(store)
    Product.objects.update(name="Changed in bulk")
    Store.objects.update(company_name="Changed in bulk")

    assert refresh_renderings() == 1

    assert_renderings_fresh()
    assert Store.objects.get().catalog_version == store.catalog_version + 2


def test_refresh_follows_the_public_address(settings, capsys):
    make_product(make_store())
    make_product(Store.objects.get(), ImageURL="https://images.example/x.png")
    settings.PUBLIC_URL = "https://print.example"

    call_command("refresh_renderings")

    assert capsys.readouterr().out == "1 products changed.\n"
    assert '"ImageURL":"https://print.example/static/' in Product.objects.first().rendering
    assert_renderings_fresh()
