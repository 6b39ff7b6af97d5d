"""Long lists are read in a slot: a hundred of them at once kept the requests of others waiting for seconds."""

from functools import partial
from secrets import token_hex

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from applications.registration.api import applications
from applications.webhooks.services.webhooks import create_webhook
from delivery.selection import api as selections
from stores.associations import api as associations
from stores.catalog.models import Product
from tests.factories.budgets import enable_budgets, make_budget
from tests.factories.delivery import load_dataset
from tests.factories.orders import make_product
from tests.factories.selections import make_selection
from tests.support.batches.batches import access_to, make_batch, person

pytestmark = pytest.mark.django_db


def calls(world):
    return f"/application/{world.application.pk}/request", "?take=101"


def events(world):
    return f"/application/{world.application.pk}/event", "?take=101"


def rows(world):
    batch = make_batch(access_to(world), [person(1)])
    return f"/store/associated/batch/{batch.pk}/row", "?take=101"


def entries(world):
    budget = make_budget(
        enable_budgets(world.associated), Scope={"Kind": "Application", "ID": str(world.application.pk)}
    )
    return f"/store/associated/budget/{budget.pk}/entry", "?take=101"


@pytest.mark.parametrize("place", [calls, events, rows, entries])
def test_page_longer_than_usual_has_a_slot(world, settings, place):
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = 0
    path, long = place(world)

    assert world.as_application().call("GET", path).status_code == 200
    refused = world.as_application().call("GET", f"{path}{long}")
    assert (refused.status_code, refused.json()["Code"]) == (503, "service_busy")


def test_page_of_many_deliveries_has_a_slot(world, settings):
    """Each may have twenty attempts with the responses of the receiver."""
    webhook, _ = create_webhook(application=world.application, values={"URL": "https://93.184.215.14/"})
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = 0
    path = f"/application/{world.application.pk}/webhook/{webhook.pk}/delivery"

    answers = [world.as_application().call("GET", f"{path}?take={take}") for take in (10, 11)]

    assert [response.status_code for response in answers] == [200, 503]


def test_page_of_long_rows_has_a_slot(world, settings):
    batch = make_batch(access_to(world), [person(1)])
    read_list = partial(world.as_application().call, "GET", f"/store/associated/batch/{batch.pk}/row")
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = 0

    assert read_list().status_code == 200
    batch.rows.update(values={"Name": token_hex(100_000)})
    assert read_list().json()["Code"] == "service_busy"


def every_application(world):
    return applications, "/application"


def every_association(world):
    world.as_application().call("POST", "/association", {"StoreID": "unassociated"})
    return associations, "/association"


def routes(world):
    selection = make_selection(dataset=load_dataset(), application=world.application)
    return selections, f"/delivery/eddm/selection/{selection.pk}"


@pytest.mark.parametrize("place", [every_application, every_association, routes])
def test_long_list_without_pages_has_a_slot(world, settings, monkeypatch, place):
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = settings.SELECTIONS_CONCURRENCY = 0
    module, path = place(world)

    assert world.as_application().call("GET", path).status_code == 200
    monkeypatch.setattr(module, "LONG_LIST", 0)
    refused = world.as_application().call("GET", path)
    assert (refused.status_code, refused.json()["Code"]) == (503, "service_busy")


@pytest.mark.parametrize("place", [every_application, every_association])
def test_refused_long_list_has_read_no_row(world, settings, monkeypatch, place):
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = 0
    module, path = place(world)
    monkeypatch.setattr(module, "LONG_LIST", 0)

    with CaptureQueriesContext(connection) as queries:
        assert world.as_application().call("GET", path).status_code == 503
    assert not [query["sql"] for query in queries if '"created" ' in query["sql"].partition("ORDER BY")[2]]


@pytest.mark.parametrize("path", ["product", "product/card"])
def test_products_of_a_megabyte_are_read_in_a_slot(world, settings, path):
    card = make_product(world.associated, "card")
    read_list = partial(world.as_application().call, "GET", f"/store/associated/{path}")
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = 0

    assert read_list().status_code == 200
    Product.objects.filter(pk=card.pk).update(rendering=f'"{"x" * 1024 * 1024}"')
    assert (read_list().status_code, read_list().json()["Code"]) == (503, "service_busy")
    settings.FILES_CONCURRENCY = 1
    long = read_list()
    assert len(long.content) > 1024 * 1024
    settings.FILES_CONCURRENCY = 0
    assert read_list(HTTP_IF_NONE_MATCH=long["ETag"]).status_code == 304
