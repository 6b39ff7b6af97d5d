"""How many selections without an order are kept for one caller."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.datasets.services.demo import load_demo_population
from delivery.selection.models import EddmSelection
from delivery.selection.services.selections import retain_for_order
from tests.factories.eddm import make_selection

PATH = "/delivery/eddm/selection"
BODY = {"PostalCodes": ["84101"]}


@pytest.fixture
def dataset(db):
    return load_demo_population()


def test_selections_beyond_the_limit_are_refused_until_one_is_ordered_or_expires(world, dataset, settings):
    settings.SELECTIONS_PER_CALLER = 2
    first, second = (make_selection(application=world.application, dataset=dataset) for _ in range(2))
    client = world.as_application()

    refused = client.call("POST", PATH, BODY)
    retain_for_order(selection_id=first.pk)
    after_order = client.call("POST", PATH, BODY)
    refused_again = client.call("POST", PATH, BODY)
    EddmSelection.objects.filter(pk=second.pk).update(expires=timezone.now() - timedelta(seconds=1))
    after_expiry = client.call("POST", PATH, BODY)

    answers = (refused, after_order, refused_again, after_expiry)
    assert [response.status_code for response in answers] == [409, 201, 409, 201]
    assert refused.json()["Code"] == "too_many_selections"
    assert f"expires on {first.expires:%Y-%m-%d}" in refused.json()["detail"]
    assert world.as_user(world.user).call("POST", PATH, BODY).status_code == 201


def test_routes_of_all_selections_are_limited_too(world, dataset, settings):
    client = world.as_application()
    routes = len(client.call("POST", PATH, BODY).json()["Routes"])
    settings.SELECTED_ROUTES_PER_CALLER = 2 * routes

    answers = [client.call("POST", PATH, BODY).status_code for _ in range(2)]

    assert answers == [201, 409]
    assert EddmSelection.objects.count() == 2


def test_limit_counts_a_user_through_all_applications_and_on_the_page(world, dataset, settings, signed_in):
    settings.SELECTIONS_PER_CALLER = 1
    make_selection(user=world.user, application=world.application, dataset=dataset)

    through_the_api = world.as_user(world.user).call("POST", PATH, BODY)
    page = signed_in(world.user).post("/mailings", {"postal_codes": "84101", "do": "save"})

    assert through_the_api.json()["Code"] == "too_many_selections"
    assert "at most 1 with" in page.content.decode()
    assert EddmSelection.objects.count() == 1
