"""What operators and store staff see of test applications and their orders."""

import pytest
from django.urls import reverse

from applications.registration.models import Application
from stores.orders.models import Order
from tests.support.api.modes import add_test_application
from tests.support.browser.submissions import form_of
from tests.support.scenario import sign_in

BADGE = '<span class="status status-test">Test</span>'
QUOTE = {"Items": [{"ProductID": "card", "Quantity": 100}], "ShipTo": {"CountryCode": "US"}}
LISTS = ("admin:stores_order_changelist", "admin:stores_quote_changelist")


@pytest.fixture
def tester(shop):
    return shop.world.as_application(add_test_application(shop.world))


@pytest.fixture(params=["operator", "user"])
def board(request, shop, client):
    client.force_login(getattr(shop.world, request.param))
    return client


def text(board, name, **query):
    response = board.get(reverse(name), query)
    assert response.status_code == 200
    return response.content.decode()


def test_lists_show_test_orders_and_quotes_only_when_requested(shop, tester, board):
    placed = {}
    for kind, client in (("test", tester), ("live", shop.world.as_application())):
        quote = client.call("POST", "/store/associated/quote", QUOTE).json()
        placed[kind] = (shop.place(client).json()["OrderNumber"], quote["QuoteID"])

    for index, name in enumerate(LISTS):
        plain, tests = text(board, name), text(board, name, kind="test")
        assert placed["live"][index] in plain
        assert placed["test"][index] not in plain
        assert placed["test"][index] in tests
        assert placed["live"][index] not in tests
    assert BADGE in text(board, LISTS[0], kind="test")
    assert BADGE not in text(board, LISTS[0])


def test_csv_of_the_board_leaves_test_orders_out(shop, tester, board):
    test, live = (shop.place(client).json()["OrderNumber"] for client in (tester, None))

    rows = b"".join(board.get(reverse("admin:stores_order_export"))).decode()

    assert live in rows
    assert test not in rows


def test_page_of_a_test_order_carries_the_badge(shop, tester, board):
    order = shop.place(tester).json()

    page = board.get(reverse("admin:stores_order_change", args=[order["OrderID"]])).content.decode()

    assert BADGE in page
    assert Order.objects.get().is_test


def test_operator_registers_a_test_application_that_stays_one(world, client):
    sign_in(client, world.operator)
    address = reverse("admin:applications_application_add")
    form = form_of(client.get(address), "application_form")

    both = form.submission({"name": "Trial", "for_tests": "on", "is_first_party": "on"})
    refused = client.post(address, both).content.decode()
    assert "A first-party application cannot be a test application." in refused
    assert client.post(address, form.submission({"name": "Trial", "for_tests": "on"})).status_code == 302

    application = Application.objects.get(name="Trial")
    address = reverse("admin:applications_application_change", args=[application.pk])
    changed = form_of(client.get(address), "application_form")
    assert application.is_test
    assert {"for_tests", "is_test"}.isdisjoint(changed.fields)
    assert client.post(address, changed.submission({"name": "Trial two"})).status_code == 302
    application.refresh_from_db()
    assert (application.name, application.is_test) == ("Trial two", True)
    assert BADGE in client.get(reverse("admin:applications_application_changelist")).content.decode()
