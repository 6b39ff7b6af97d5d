"""A commit whose answer is lost may have written the order, so its print files stay."""

import pytest
from django.db import OperationalError, connection
from django.db.models.signals import post_save

from accounts.callers import Caller
from stores.orders.models import Order
from stores.orders.request_bodies import read_order_request
from stores.orders.selectors.access import WRITE, authorize_store
from stores.orders.services.orders import place_staff_order
from stores.orders.services.own_orders import place_own_order
from stores.orders.services.print_files import read_print_file
from stores.orders.services.reprints import reprint_order
from tests.factories.orders import card_data, make_card, order_body

pytestmark = pytest.mark.django_db(transaction=True)


def place_for_staff(access, request, _earlier):
    place_staff_order(access=access, request=request)


def place_own(access, request, _earlier):
    place_own_order(access=access, request=request, form="one")


def reprint(access, _request, earlier):
    reprint_order(order=earlier, positions=[0], caller=access.caller, known_reprints=0)


@pytest.mark.parametrize("place", [place_for_staff, place_own, reprint])
def test_print_files_stay_where_the_answer_to_a_commit_is_lost(world, monkeypatch, place):
    make_card(world.associated, "card")
    item = {"ProductID": "card", "Quantity": 100, "TemplateData": card_data()}
    access = authorize_store(Caller.on_pages(world.operator), "associated", WRITE)
    request = read_order_request(order_body(Items=[item]))
    earlier = place_staff_order(access=access, request=request)
    commit, written = connection._commit, []

    def note_order(**_signal):
        written.append(True)

    def commit_and_lose_the_answer():
        commit()
        if written:
            raise OperationalError("server closed the connection unexpectedly")

    post_save.connect(note_order, sender=Order)
    monkeypatch.setattr(connection, "_commit", commit_and_lose_the_answer)
    try:
        with pytest.raises(OperationalError):
            place(access, request, earlier)
    finally:
        post_save.disconnect(note_order, sender=Order)
        monkeypatch.undo()

    files = [read_print_file(item=order.items.get()) for order in Order.objects.all()]
    assert [file[:4] for file in files] == [b"%PDF"] * 2
