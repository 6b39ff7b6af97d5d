from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from applications.webhooks.models import Delivery, Event
from applications.webhooks.services.webhooks import create_webhook
from fulfillment.core.audit.guards import install_append_only_triggers
from stores.operations import retention_rules
from stores.orders.models import Order, OrderHistory, OrderItem, Quote, TestScenario
from stores.orders.services import retention
from stores.proofs.models import Asset, Proof
from tests.factories.orders import card_data, make_card, order_body
from tests.factories.pictures import make_photo_card, upload
from tests.support.api.modes import add_test_application

QUOTE = {"Items": [{"ProductID": "card", "Quantity": 100}], "ShipTo": {"CountryCode": "US"}}
OLD = timedelta(days=31)


@pytest.fixture
def application(shop):
    return add_test_application(shop.world)


@pytest.fixture
def tester(shop, application):
    return shop.world.as_application(application)


def prune(name):
    [rule] = [rule for rule in retention_rules() if rule.name == name]
    expected = rule.count()
    assert sum(rule.remove(2)) == expected
    assert rule.count() == 0
    return expected


def grow_old(age=OLD):
    for model in (Order, Quote):
        for row in model.objects.all():
            model.objects.filter(pk=row.pk).update(created=row.created - age)


def test_old_test_orders_are_removed_with_all_their_records(shop, application, tester):
    install_append_only_triggers()
    create_webhook(application=application, values={"URL": "https://192.0.43.8/events"})
    make_card(shop.store)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    body = {**order_body(Metadata={"TestOutcome": "Rejected"}), "Items": [item]}
    first = shop.place(tester, body).json()
    shop.place(tester, order_body(ReprintOfOrderID=first["OrderID"]))
    live = shop.place(body=body).json()
    files = list(
        OrderItem.objects.filter(order__is_test=True).exclude(print_file="").values_list("print_file")
    )
    grow_old()
    young = shop.place(tester, order_body(ReprintOfOrderID=first["OrderID"])).json()
    assert (len(files), Delivery.objects.count()) == (1, 3)

    assert prune("test orders") == 2

    assert {str(pk) for pk in Order.objects.values_list("pk", flat=True)} == {
        live["OrderID"],
        young["OrderID"],
    }
    assert Order.objects.get(pk=young["OrderID"]).reprint_of is None
    remaining = {str(pk) for pk in OrderHistory.objects.values_list("order", flat=True)}
    assert remaining == {live["OrderID"], young["OrderID"]}
    assert {event.data["OrderID"] for event in Event.objects.all()} == {live["OrderID"], young["OrderID"]}
    assert (Delivery.objects.count(), TestScenario.objects.count()) == (1, 0)
    assert not default_storage.exists(files[0][0])
    assert default_storage.exists(OrderItem.objects.get(order=live["OrderID"]).print_file)


def test_few_long_test_orders_are_removed_at_a_time(shop, tester):
    """A hundred of 500 items took 35 seconds, in which the store took no order."""
    for _ in range(6):
        shop.place(tester)
    grow_old()
    first, second, third, *_ = Order.objects.order_by("number")
    Order.objects.filter(pk=first.pk).update(item_count=501)
    Order.objects.filter(pk=second.pk).update(item_count=250)
    Order.objects.filter(pk=third.pk).update(sequence=300)

    [rule] = [rule for rule in retention_rules() if rule.name == "test orders"]

    assert list(rule.remove(500)) == [1, 1, 4]


def test_events_go_before_the_store_is_locked(shop, tester, monkeypatch):
    """Other orders of the store waited a second for those of 71 orders, again and again."""
    done = []
    for name in ("lock_orders", "remove_order_events"):
        run = getattr(retention, name)
        monkeypatch.setattr(
            retention, name, lambda name=name, run=run, **given: (done.append(name), run(**given))
        )
    shop.place(tester)
    grow_old()

    assert prune("test orders") == 1

    assert done == ["remove_order_events", "lock_orders"]
    assert not Event.objects.exists()


def test_pictures_of_pruned_test_orders_go(shop, tester):
    make_photo_card(shop.store)
    asset = upload(tester)
    item = {"ProductID": "photo-card", "Quantity": 100, "TemplateData": {"Photo": asset}}
    assert shop.place(tester, {**order_body(), "Items": [item]}).status_code == 201
    Asset.objects.update(last_used=timezone.now() - timedelta(days=34))
    grow_old(timedelta(days=34))

    prune("test orders")
    prune("unused pictures")

    assert not Asset.objects.exists()


def test_young_test_orders_and_old_live_ones_stay(shop, tester, settings):
    settings.TEST_RETENTION_DAYS = 40
    shop.place(tester)
    shop.place()
    grow_old()
    assert prune("test orders") == 0
    settings.TEST_RETENTION_DAYS = 30
    assert prune("test orders") == 1
    assert Order.objects.get().is_test is False


def test_history_of_a_live_order_is_closed_still(shop, tester):
    install_append_only_triggers()
    shop.place()
    with pytest.raises(DatabaseError, match="append_only"), transaction.atomic():
        OrderHistory.objects.all().delete()
    with (
        pytest.raises(DatabaseError, match="Cannot update"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("UPDATE stores_order SET is_test = true, position = -5")


def test_old_test_quotes_are_removed_unless_ordered(shop, tester):
    quotes = [tester.call("POST", "/store/associated/quote", QUOTE).json() for _ in range(3)]
    live = shop.world.as_application().call("POST", "/store/associated/quote", QUOTE).json()
    body = order_body(QuoteID=quotes[0]["QuoteID"], OptionID="GROUND-3")
    assert shop.place(tester, body).status_code == 201
    Quote.objects.update(created=timezone.now() - OLD)

    assert prune("test quotes") == 2

    kept = {str(pk) for pk in Quote.objects.values_list("pk", flat=True)}
    assert kept == {quotes[0]["QuoteID"], live["QuoteID"]}


def test_proofs_of_tests_are_their_own_and_are_removed_first(shop, tester):
    make_card(shop.store)
    addresses = [
        client.call("POST", "/store/associated/product/card-two-sided/proof", card_data()).json()["PdfURL"]
        for client in (tester, shop.world.as_application())
    ]
    assert addresses[0] != addresses[1]
    assert sorted(Proof.objects.values_list("is_test", flat=True)) == [False, True]
    Proof.objects.update(last_used=timezone.now() - timedelta(days=34))

    assert prune("proofs") == 1

    assert Proof.objects.get().is_test is False
