"""Approvers and their decisions."""

from accounts.models import Role
from accounts.services.users import create_user
from tests.support.scenario import PASSWORD


def add_approver(shop, name="approver"):
    person = create_user(
        tenant=shop.world.tenant,
        username=name,
        first_name=name.title(),
        last_name="Example",
        email=f"{name}@print.example",
        password=PASSWORD,
        email_is_confirmed=True,
    )
    Role.objects.create(user=person, store=shop.store, grant="Order.All.Approve")
    return person


def decide(shop, order, action, body=None, by=None, **extra):
    client = shop.world.as_user(by) if by else shop.world.as_operator()
    return shop.act(order, action, body, client=client, **extra)
