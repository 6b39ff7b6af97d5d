"""However often a request is lost, what it asks for happens once."""

import json

import pytest

from accounts.models import Subscription
from stores.demo.orders import ORDERS as DEMO_ORDERS
from stores.orders.models import Order
from tests.clients.bad_proxy import FATES, proxied
from tests.clients.conftest import PROGRAMS
from tests.support.cases import cases
from tests.support.servers.client_library import run
from tests.support.servers.live_server import serving

ORDERS = cases(24, 1_000)
# By which few requests meet every fate.
SEED = 17
# That client takes longer.
TYPESCRIPT_ORDERS = ORDERS // 3


def check_orders(printed: str, count: int) -> None:
    placed = printed.split()
    assert len(set(placed)) == count
    assert Order.objects.count() == len(DEMO_ORDERS) + count


@pytest.mark.slow
def test_python_places_orders_through_an_unreliable_network_once(python, demo, tmp_path):
    Subscription.objects.update(requests_per_minute=100_000)
    with serving(tmp_path) as service, proxied(service.url, seed=SEED) as proxy:
        given = json.dumps(demo | {"url": proxy.url})
        printed = python(PROGRAMS / "place_orders.py", ORDERS, input=given, timeout=500)

    check_orders(printed, ORDERS)
    assert set(proxy.fates) == set(FATES)


@pytest.mark.slow
def test_typescript_places_orders_through_an_unreliable_network_once(npm_project, demo, tmp_path):
    Subscription.objects.update(requests_per_minute=100_000)
    with serving(tmp_path) as service, proxied(service.url) as proxy:
        (tmp_path / "given.json").write_text(json.dumps(demo | {"url": proxy.url}))
        command = ("node", "out/place-orders.js", tmp_path / "given.json", TYPESCRIPT_ORDERS)
        printed = run(*command, cwd=npm_project, timeout=max(300, TYPESCRIPT_ORDERS))

    check_orders(printed, TYPESCRIPT_ORDERS)
