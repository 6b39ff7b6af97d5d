import pytest

from tests.factories.orders import make_card
from tests.support.order_helpers import Shop, open_shop


@pytest.fixture
def shop(world, settings, tmp_path) -> Shop:
    settings.PRODUCTION_FOLDERS = [tmp_path]
    shop = open_shop(world)
    make_card(shop.store)
    return shop
