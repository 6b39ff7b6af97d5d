from pathlib import Path

import pytest

from production.providers.models import Provider
from tests.factories.production import make_press
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


@pytest.fixture
def press(shop: Shop, tmp_path: Path) -> Provider:
    return make_press(tmp_path, settings={"gang_sheets": "sheetwise", "gang_wait": 30, "gang_pieces": 1000})
