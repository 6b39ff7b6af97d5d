import pytest

from delivery.datasets.models import Dataset
from delivery.datasets.selectors import live_dataset, look_up
from delivery.datasets.services.demo import DEMO_POSTAL_CODES, demo_populations, load_demo_population
from tests.factories.delivery import load_dataset

pytestmark = pytest.mark.django_db


def test_demo_set_says_that_it_is_synthetic():
    dataset = load_demo_population()

    assert live_dataset() == dataset
    assert dataset.vintage_label.endswith(" synthetic")
    assert dataset.postal_code_count == len(DEMO_POSTAL_CODES) == len(set(DEMO_POSTAL_CODES)) >= 24
    assert DEMO_POSTAL_CODES[0] == "84101"
    assert look_up(["84101"]).is_synthetic
    assert all(routes for routes in demo_populations().values())


def test_loading_it_again_changes_nothing():
    load_demo_population()
    load_demo_population()

    assert Dataset.objects.count() == 1


def test_it_never_replaces_other_data():
    dataset = load_dataset()

    assert load_demo_population() is None
    assert live_dataset() == dataset
