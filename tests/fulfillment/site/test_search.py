"""The console's search finds records of every app, best first, and only what the person may see."""

import pytest

from accounts.models import User
from stores.orders.models import Order, Quote
from tests.support.browser.console_fixtures import place_orders


@pytest.fixture
def placed(world):
    place_orders(world)
    return world


def found(client, words: str) -> list[dict[str, str]]:
    response = client.get("/admin/search/", {"s": words}, headers={"Accept": "application/json"})
    assert response.status_code == 200
    return response.json()["hits"]


def test_search_finds_records_of_every_kind_and_the_best_first(placed, client):
    client.force_login(placed.operator)
    order, quote = Order.objects.latest("number"), Quote.objects.first()
    Order.objects.filter(pk=order.pk).update(external_id="PO 4711")

    for words, kind, title in (
        (str(order.number), "Order", str(order.number)),
        ("PO 4711", "Order", str(order.number)),
        (str(order.pk), "Order", str(order.number)),
        (str(quote.pk), "Quote", str(quote.pk)),
        ("card-two-sided", "Product", None),
        ("associated", "Store", "Associated Print"),
        ("mail stu", "Application", "Mail Studio"),
        ("outsider@print.example", "User", "outsider"),
        ("orders", "Page", "Orders"),
        ("Tenants", "Page", "Tenants"),
    ):
        first = found(client, words)[0]
        assert first["kind"] == kind, words
        assert title is None or first["title"] == title
        assert client.get(first["address"]).status_code == 200


def test_order_is_found_while_its_last_digits_are_missing(placed, client):
    client.force_login(placed.operator)
    order = Order.objects.latest("number")

    assert str(order.number) in [hit["title"] for hit in found(client, str(order.number)[:-1])]
    assert str(order.number) in [hit["title"] for hit in found(client, str(order.number)[:-2])]


def test_staff_of_a_store_find_their_own_records_alone(placed, client):
    client.force_login(placed.user)
    order = Order.objects.latest("number")
    assert found(client, str(order.number))[0]["title"] == str(order.number)
    assert [hit["kind"] for hit in found(client, "associated")] == ["Store"]
    assert found(client, "Mail Studio") == found(client, "outsider") == found(client, "tenants") == []

    Order.objects.filter(pk=order.pk).update(
        store=placed.unassociated, external_id="secret-1", number=99_000_001
    )
    quote = Quote.objects.first()
    Quote.objects.filter(pk=quote.pk).update(store=placed.unassociated)

    for words in ("99000001", "secret-1", str(order.pk), str(quote.pk)):
        assert found(client, words) == []


def test_search_is_closed_to_users_without_console(placed, client):
    client.force_login(placed.outsider)
    response = client.get("/admin/search/", {"s": "order"}, headers={"Accept": "application/json"})
    assert response.status_code == 302


def test_unusual_words_find_nothing(placed, client):
    client.force_login(placed.operator)
    for words in ("", " ", "9" * 30, "9" * 18, "x" * 5000, "%", "\\", "'", "٣٤٥"):
        assert found(client, words) == [], words[:40]


def test_without_scripts_the_results_are_a_page(placed, client):
    client.force_login(placed.operator)
    number = Order.objects.latest("number").number

    page = client.get("/admin/search/", {"s": str(number)}).content.decode()
    assert f">{number}</a>" in page
    assert "No results." in client.get("/admin/search/", {"s": "zzz-nothing"}).content.decode()


def test_search_runs_a_bounded_number_of_queries(placed, client, django_assert_max_num_queries):
    client.force_login(placed.operator)
    User.objects.bulk_create(
        User(tenant=placed.tenant, username=f"clerk-{number}", email=f"c{number}@print.example")
        for number in range(80)
    )
    with django_assert_max_num_queries(24):
        assert len(found(client, "clerk")) == 5
