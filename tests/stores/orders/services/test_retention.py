from datetime import timedelta
from uuid import uuid4

import pytest
import time_machine
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone

from fulfillment.core.files.storage import StorageUnavailable
from fulfillment.core.files.stored import read_file
from fulfillment.core.uuid7 import new_uuid7
from stores.orders.models import ActorKind, Order, Quote
from stores.orders.services import print_files, retention
from stores.orders.services.changes import Actor
from stores.orders.services.print_files import print_folder
from stores.orders.services.recipients import erase_recipient
from tests.factories.orders import card_data, make_card, order_body


def remove(name, batch=2):
    [thing] = [rule for rule in retention.retention_rules() if rule.name == name]
    expected = thing.count()
    assert sum(thing.remove(batch)) == expected
    assert thing.count() == 0
    return expected


def quoted(shop, days_ago):
    body = {"Items": [{"ProductID": "card", "Quantity": 100}], "ShipTo": {"CountryCode": "US"}}
    quote = shop.world.as_application().call("POST", "/store/associated/quote", body).json()
    expires = timezone.now() - timedelta(days=days_ago)
    Quote.objects.filter(pk=quote["QuoteID"]).update(expires=expires)
    return quote


def test_quotes_are_removed_30_days_after_they_expired_and_those_ordered_stay(shop):
    bought = quoted(shop, -1)
    option = bought["Options"][0]
    changes = {"QuoteID": bought["QuoteID"], "OptionID": option["OptionID"]}
    order = shop.place(body=order_body(**changes)).json()
    Quote.objects.update(expires=timezone.now() - timedelta(days=40))
    for _ in range(5):
        quoted(shop, 31)
    recent, open_one = quoted(shop, 29), quoted(shop, -1)

    assert remove("expired quotes") == 5
    kept = {str(key) for key in Quote.objects.values_list("pk", flat=True)}
    assert kept == {bought["QuoteID"], recent["QuoteID"], open_one["QuoteID"]}
    assert str(Order.objects.get().quote_id) == order["QuoteID"]


def test_quotes_are_found_along_their_index(shop):
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        try:
            parameters = {"expires": timezone.now(), "id": uuid4(), "before": timezone.now(), "batch": 5}
            cursor.execute(f"EXPLAIN {retention.EXPIRED}", parameters)
            plan = "\n".join(row[0] for row in cursor.fetchall())
        finally:
            cursor.execute("RESET enable_seqscan")

    assert "quote_expiry" in plan
    assert "order_by_quote" in plan


@pytest.fixture
def card_order(shop):
    make_card(shop.store)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    return shop.place(body=order_body(Items=[item])).json()


def stray(hours, name="0-0123456789abcdef.pdf"):
    order_id = new_uuid7(timezone.now() - timedelta(hours=hours))
    return default_storage.save(f"{print_folder(order_id)}/{name}", ContentFile(b"%PDF-"))


def test_print_files_of_orders_that_were_never_written_go(shop, card_order, stored_files):
    """Killed between the rendering and the commit; a younger one may still commit."""
    for _ in range(5):
        stray(7)
    young = stray(5)
    foreign = default_storage.save(f"print-files/xx/{uuid4()}/other.pdf", ContentFile(b"x"))
    Order.objects.update(created=timezone.now() - timedelta(days=400))

    assert remove("stray print files") == 5
    [kept] = Order.objects.get().items.values_list("print_file", flat=True)
    assert sorted(stored_files()) == sorted([kept, young, foreign])


def test_print_file_that_came_back_after_the_erasure_of_its_recipient_goes(shop, card_order, stored_files):
    """`move_files` had copied it before the erasure, or a folder of files from before it was restored."""
    order = Order.objects.get()
    [name] = stored_files()
    content = read_file(name)
    erase_recipient(order=order, actor=Actor(ActorKind.OPERATOR), force=True)
    assert stored_files() == []
    default_storage.save(name, ContentFile(content))

    assert remove("stray print files") == 0
    with time_machine.travel(timezone.now() + timedelta(hours=7)):
        assert remove("stray print files") == 1
    assert stored_files() == []


def test_print_file_that_cannot_be_deleted_keeps_no_other(shop, stored_files, monkeypatch):
    """Every night ended at the same file."""
    names = [stray(9), stray(8), stray(7)]
    delete = default_storage._wrapped.delete

    def refuse_first(name):
        if name == names[0]:
            raise PermissionError(13, "Permission denied", name)
        delete(name)

    monkeypatch.setattr(default_storage._wrapped, "delete", refuse_first)
    [thing] = [one for one in retention.retention_rules() if one.name == "stray print files"]
    with pytest.raises(StorageUnavailable):
        list(thing.remove(2))

    assert stored_files() == names[:1]


def test_print_file_left_by_a_crash_is_the_only_thing_that_goes(shop, card_order, stored_files, monkeypatch):
    """The process dies where not even its own tidying runs: files without an order."""
    [before] = stored_files()
    monkeypatch.setattr("stores.orders.services.orders.delete_print_files", lambda *, files: None)
    monkeypatch.setattr(Order, "save", lambda *_, **__: pytest.fail("killed"))
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    with pytest.raises(BaseException, match="killed"):
        shop.place(body=order_body(Items=[item]))
    assert len(stored_files()) == 2

    assert remove("stray print files") == 0
    monkeypatch.setattr(retention, "YOUNG", timedelta(seconds=-1))
    assert remove("stray print files") == 1
    assert stored_files() == [before]
    assert print_files.read_print_file(item=Order.objects.get().items.get())[:5] == b"%PDF-"
