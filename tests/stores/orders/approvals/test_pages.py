"""A person's own orders that needed approval, in the portal."""

import pytest

from accounts.callers import Caller
from accounts.models import Notification, Role
from applications.registration.services.applications import OWNER_GRANTS
from applications.registration.services.owners import remove_person
from stores.orders.models import Order
from tests.support.orders.approvals import decide


@pytest.fixture(autouse=True)
def limit(shop):
    type(shop.store).objects.filter(pk=shop.store.pk).update(approval_above=10)


def test_person_who_left_the_application_sees_none_of_its_orders(shop, client):
    """Of orders placed while this person was an owner, the page shows what was ordered, and their recipients."""
    world = shop.world
    for grant in OWNER_GRANTS:
        Role.objects.create(user=world.outsider, application=world.application, grant=grant)
    shop_order = shop.place().json()
    order = Order.objects.get(pk=shop_order["OrderID"])
    client.force_login(world.outsider)
    address = f"/approvals/{order.pk}"
    before = client.get(address).status_code

    remove_person(
        caller=Caller.on_pages(world.outsider), application=world.application, user_id=world.outsider.pk
    )
    denied = decide(shop, shop_order, "deny", {"Reason": "Too dear."})

    assert denied.status_code == 200
    assert (before, client.get(address).status_code) == (200, 404)
    assert str(order.number) not in client.get("/approvals").content.decode()
    assert not Notification.objects.filter(user=world.outsider, text="Too dear.").exists()
    assert Notification.objects.filter(user=world.user, text="Too dear.").exists()
