"""The pages of mailings: what a newer data set changes, whose selection it is, the budget, and street tiles."""

import re

import pytest
from django.urls import reverse

from delivery.datasets.selectors import live_dataset
from delivery.datasets.services.datasets import activate_dataset
from delivery.datasets.services.demo import load_demo_population
from tests.factories.delivery import load_dataset
from tests.factories.eddm import make_selection
from tests.factories.orders import make_product

TILES = "https://{s}.tiles.example/{z}/{x}/{y}.png"


def text(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


@pytest.fixture
def dataset(world):
    make_product(world.demo, "mailer", IsEddm=True, MinimumQty=200, DefaultQty=200, MaximumQty=25_000)
    return load_demo_population()


def test_newer_data_set_shows_what_it_changes_and_which_routes_are_removed(world, signed_in, dataset):
    routes = [("84101", "C001", 640, ""), ("84101", "C002", 1, ""), ("84101", "C998", 60, "")]
    selection = make_selection(routes, user=world.user, dataset=dataset)
    page = reverse("portal:mailing-selection", args=[selection.pk])
    browser = signed_in(world.user)
    assert "With the counts of" not in text(browser.get(page))

    newer = load_dataset()
    activate_dataset(dataset_id=newer.pk, by="tests", despite_concerns=True)
    shown = text(browser.get(page))

    assert live_dataset() == newer
    assert "With the counts of" in shown
    assert "1 route is gone: 84101C998" in shown
    assert re.search(r"84101C002 1 [0-9]+ \+[0-9]+", shown)


def test_selection_is_shown_to_its_owner_alone(world, signed_in, dataset):
    selection = make_selection(application=world.application, dataset=dataset)
    names = ("portal:mailing-selection", "portal:mailing-csv", "portal:mailing-shapes")
    pages = [reverse(name, args=[selection.pk]) for name in names]

    assert {signed_in(world.user).get(page).status_code for page in pages} == {200}
    assert {signed_in(world.outsider).get(page).status_code for page in pages} == {404}
    features = signed_in(world.user).get(pages[2]).json()["features"]
    assert [feature["id"] for feature in features] == ["84101C001", "84101C002", "84102R001"]


def test_unfitting_or_expired_selection_is_not_offered_for_order(world, signed_in, dataset):
    few = make_selection([("84101", "C001", 60, "")], user=world.user, dataset=dataset)
    old = make_selection(user=world.user, dataset=dataset, expires=dataset.created)
    browser = signed_in(world.user)

    small = text(browser.get(reverse("portal:mailing-selection", args=[few.pk])))
    expired = text(browser.get(reverse("portal:mailing-selection", args=[old.pk])))

    assert "Takes 200 to 25,000 pieces" in small
    assert "This selection has expired." in expired
    assert "Quote and order" not in small + expired


def test_budget_takes_what_it_buys_and_says_when_that_is_nothing(world, signed_in, dataset):
    form = {"postal_codes": "84101", "product": "demo/mailer", "amount": "500", "do": "show", "types": "C"}
    browser = signed_in(world.user)

    bought = browser.post("/mailings", form).content.decode()
    nothing = text(browser.post("/mailings", {**form, "amount": "0.01"}))

    assert 0 < float(re.search(r'data-total="cost">([0-9.,]+)<', bought)[1].replace(",", "")) <= 500
    assert "nothing can be selected for 0.01" in nothing


def test_street_tiles_come_from_the_server_of_the_setting_alone(world, signed_in, dataset, settings):
    browser, page = signed_in(world.user), "/mailings"
    assert "tiles.example" not in browser.get(page)["Content-Security-Policy"]

    settings.EDDM_TILES_URL = TILES
    box = {"west": -112.0, "south": 40.7, "east": -111.8, "north": 40.8}
    selection = make_selection(user=world.user, dataset=dataset, **box)
    saved = reverse("portal:mailing-selection", args=[selection.pk])

    for address in (page, saved):
        response = browser.get(address)
        assert "img-src 'self' data: https://*.tiles.example;" in response["Content-Security-Policy"]
        assert TILES in response.content.decode()
