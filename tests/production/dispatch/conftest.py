from ipaddress import ip_network

import pytest

from production.providers.models import Provider
from tests.factories.orders import make_card
from tests.factories.production import make_rule
from tests.support.joint_orders import siteflow
from tests.support.order_helpers import Shop, open_shop
from tests.support.siteflow import running_siteflow


@pytest.fixture
def shop(world, settings, tmp_path) -> Shop:
    settings.PRODUCTION_FOLDERS = [tmp_path]
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    shop = open_shop(world)
    make_card(shop.store)
    return shop


@pytest.fixture
def flow():
    with running_siteflow() as running:
        yield running


@pytest.fixture
def press(flow) -> Provider:
    provider = siteflow(flow)
    make_rule(provider)
    return provider
