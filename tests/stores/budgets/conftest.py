import pytest

from tests.factories.budgets import enable_budgets
from tests.support.orders.shop import Shop, open_shop
from tests.support.scenario import World


@pytest.fixture
def shop(world: World) -> Shop:
    shop = open_shop(world)
    enable_budgets(world.associated)
    return shop
