import pytest

from tests.support.database.snapshots import Snapshot
from tests.support.orders.shop import Shop
from tests.support.scenario import World


@pytest.fixture
def shop(made_card_shop: Snapshot[Shop], db, settings, tmp_path) -> Shop:
    settings.PRODUCTION_FOLDERS = [tmp_path]
    return made_card_shop.restore()


@pytest.fixture
def world(shop: Shop) -> World:
    return shop.world
