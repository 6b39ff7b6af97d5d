"""Every page of the admin that a person reaches by links: it opens, takes few queries and leads nowhere dead."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.callers import Caller
from accounts.services.associations import request_association
from applications.services.deliveries import send_test_event
from applications.services.webhooks import create_webhook
from delivery.services.demo import load_demo_population
from tests.factories.orders import card_data, make_card, order_body
from tests.furnishing import furnish
from tests.walk import walk

MAXIMUM_QUERIES = 12


@pytest.fixture
def busy_world(shop):
    """Something to see on every page."""
    world = furnish(shop.world)
    load_demo_population()
    make_card(shop.store)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    for _ in range(3):
        assert shop.place(body=order_body(Items=[item])).status_code == 201
    webhook, _ = create_webhook(
        application=world.application, values={"URL": "https://hooks.example/in", "EventTypes": ["*"]}
    )
    send_test_event(webhook=webhook)
    request_association(
        caller=Caller.on_pages(world.outsider), application=world.other_application, store=world.associated
    )
    return world


@pytest.mark.parametrize(("name", "least"), [("operator", 70), ("user", 15)])
def test_every_page_opens_with_few_queries_and_no_dead_link(busy_world, client, name, least):
    client.force_login(getattr(busy_world, name))

    seen = {
        visit.path: (visit.response.status_code, len(visit.queries))
        for visit in walk(client, ["/admin/"], below="/admin/", most_names=1)
    }

    # Another address for what the portal has: the change of one's password.
    sent_on = {path for path, (status, _) in seen.items() if status == 302}
    assert sent_on <= {"/admin/password_change/"}
    assert {path: status for path, (status, _) in seen.items() if status not in {200, 302}} == {}
    assert {path: count for path, (_, count) in seen.items() if count > MAXIMUM_QUERIES} == {}
    assert len(seen) > least


@pytest.mark.parametrize("name", ["order", "quote", "product", "store"])
def test_lists_take_as_many_queries_for_any_number(shop, client, name):
    client.force_login(shop.world.operator)
    address, counts = f"/admin/stores/{name}/", []

    for _ in range(2):
        shop.place()
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).status_code == 200
        counts.append(len(queries))

    assert counts[0] == counts[1] <= MAXIMUM_QUERIES
