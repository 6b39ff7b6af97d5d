from ipaddress import ip_network

import pytest

from production.providers.models import Provider
from tests.factories.production import make_rule
from tests.support.database.snapshots import Snapshot
from tests.support.orders.shop import Shop
from tests.support.production.provider_orders import siteflow
from tests.support.production.siteflow import running_siteflow
from tests.support.scenario import World


@pytest.fixture
def shop(made_card_shop: Snapshot[Shop], db, settings, tmp_path) -> Shop:
    settings.PRODUCTION_FOLDERS = [tmp_path]
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    return made_card_shop.restore()


@pytest.fixture
def world(shop: Shop) -> World:
    return shop.world


@pytest.fixture
def flow():
    with running_siteflow() as running:
        yield running


@pytest.fixture
def press(flow) -> Provider:
    provider = siteflow(flow)
    make_rule(provider)
    return provider
