from types import SimpleNamespace

import pytest

from tests.factories.orders import make_product, order_body


@pytest.fixture
def shop(world):
    """The associated store with a product, and hands to place and move orders."""
    make_product(world.associated)

    def place(client=None, body=None, store="associated", **extra):
        client = client or world.as_application()
        return client.call("POST", f"/store/{store}/order", body or order_body(), **extra)

    def act(order, action, body=None, client=None, store="associated", **extra):
        path = f"/store/{store}/order/{order['OrderID']}/{action}"
        return (client or world.as_user(world.user)).call("POST", path, body, **extra)

    return SimpleNamespace(world=world, store=world.associated, place=place, act=act)
