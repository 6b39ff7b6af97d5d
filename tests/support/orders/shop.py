from dataclasses import dataclass
from typing import Any

from stores.catalog.models import Store
from tests.factories.orders import make_product, order_body
from tests.support.scenario import ApiClient, World, build_known_world


@dataclass
class Shop:
    """The associated store with a product, and hands to place and move orders."""

    world: World

    @property
    def store(self) -> Store:
        return self.world.associated

    def place(
        self, client: ApiClient | None = None, body: Any = None, store: str = "associated", **extra: Any
    ):
        client = client or self.world.as_application()
        return client.call("POST", f"/store/{store}/order", body or order_body(), **extra)

    def act(
        self,
        order: dict[str, Any],
        action: str,
        body: Any = None,
        client: ApiClient | None = None,
        store: str = "associated",
        **extra: Any,
    ):
        path = f"/store/{store}/order/{order['OrderID']}/{action}"
        return (client or self.world.as_user(self.world.user)).call("POST", path, body, **extra)


def open_shop(world: World) -> Shop:
    make_product(world.associated)
    return Shop(world)


def build_shop() -> Shop:
    return open_shop(build_known_world())
