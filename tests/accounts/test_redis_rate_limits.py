"""Counting in a real Redis; tests/accounts/api/test_rate_limits.py has what an imitation shows as well.

FULFILLMENT_TEST_REDIS_URL names one that runs; without it a redis-server in PATH is started.
"""

import os
import time

import pytest
import requests

from accounts import redis_rate_limits
from accounts.models import RateWindow
from tests.applications.oauth.test_rate_limits import burst, limit
from tests.support.live_server import serving
from tests.support.redis_server import RedisServer
from tests.support.scenario import build_world

pytestmark = pytest.mark.django_db(transaction=True)
GIVEN = os.environ.get("FULFILLMENT_TEST_REDIS_URL", "")


@pytest.fixture
def redis(tmp_path):
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def redis_url(request):
    return GIVEN or request.getfixturevalue("redis").url


def test_exactly_the_quota_is_served_by_two_processes(tmp_path, redis_url):
    world = build_world()
    client = world.as_application()
    limit(world.application, 100)

    with serving(tmp_path, workers=2, RATE_LIMIT_REDIS_URL=redis_url) as served:
        statuses = burst(served.url, client, 400)

    assert (statuses.count(200), statuses.count(429)) == (100, 300)
    assert not RateWindow.objects.exists()


def test_a_window_ends_and_a_longer_one_than_there_may_be_is_begun_anew(settings, redis_url):
    settings.RATE_LIMIT_REDIS_URL = redis_url
    bucket = f"of-this-test-{os.getpid()}"

    assert [redis_rate_limits.count(bucket, 1)[0] for _ in range(3)] == [1, 2, 3]
    used, left = redis_rate_limits.count(bucket, 900)
    assert (used, round(left)) == (4, 1)
    time.sleep(1.1)
    assert redis_rate_limits.count(bucket, 900) == (1, 900.0)
    assert redis_rate_limits.count(bucket, 60) == (1, 60.0)
    assert redis_rate_limits.refund(bucket)
    assert redis_rate_limits.count(bucket, 60)[0] == 1
    assert redis_rate_limits.forget(bucket)
    assert redis_rate_limits.count(bucket, 60) == (1, 60.0)


def test_while_redis_is_away_postgresql_counts_and_nobody_waits_for_it(tmp_path, redis):
    world = build_world()
    client = world.as_application()
    limit(world.application, 30)
    headers = {"Authorization": f"Bearer {client.token}", "Ocp-Apim-Subscription-Key": client.key}

    with serving(tmp_path, RATE_LIMIT_REDIS_URL=redis.url, LOG_FORMAT="plain") as served:

        def ask() -> requests.Response:
            return requests.get(f"{served.url}/api/v1/store", headers=headers, timeout=10)

        assert ask().headers["RateLimit"].startswith('"subscription";r=29')
        redis.kill()
        began = time.monotonic()
        statuses = [ask().status_code for _ in range(40)]
        seconds = time.monotonic() - began
        assert (statuses.count(200), statuses.count(429)) == (30, 10)
        counted = RateWindow.objects.get(bucket=f"subscription:{world.application.subscription.pk}").used
        redis.start()
        time.sleep(redis_rate_limits.SECONDS_OF_PATIENCE)
        again = ask()

    assert seconds < redis_rate_limits.SECONDS_OF_PATIENCE
    assert counted == 40
    assert again.headers["RateLimit"].startswith('"subscription";r=29')
    assert served.log.read_text().count("Redis does not count") <= 4
