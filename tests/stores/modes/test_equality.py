import random

import pytest

from accounts.models import Subscription
from tests.factories.orders import make_card, make_product
from tests.support.mode_equality import compared, random_order, random_quote
from tests.support.modes import add_test_application


@pytest.fixture
def clients(shop):
    Subscription.objects.update(requests_per_minute=10_000_000)
    application = add_test_application(shop.world)
    Subscription.objects.filter(application=application).update(requests_per_minute=10_000_000)
    return shop.world.as_application(), shop.world.as_application(application)


@pytest.fixture
def products(shop):
    made = [make_product(shop.store, "flyer"), make_card(shop.store)]
    return [*shop.store.products.exclude(pk__in=[one.pk for one in made]), *made]


def differing(clients, products, *, quotes, orders, seed):
    """Answers that differ, of so many that were given and those that were refused meanwhile; and how many of these."""
    chance = random.Random(seed)
    found, refused = [], 0
    for thing, make, count in (("quote", random_quote, quotes), ("order", random_order, orders)):
        given = 0
        while given < count:
            body = make(chance, products)
            status, live, test = compared(clients, thing, body)
            given += status == 201
            refused += status == 400
            if live != test:
                found.append((body, live, test))
    return found, refused


def test_both_modes_answer_the_same(clients, products):
    found, refused = differing(clients, products, quotes=25, orders=6, seed=3)

    assert found == []
    assert refused


@pytest.mark.slow
def test_thousand_quotes_and_two_hundred_orders_are_the_same(clients, products):
    found, refused = differing(clients, products, quotes=1000, orders=200, seed=11)

    assert found == []
    assert refused
