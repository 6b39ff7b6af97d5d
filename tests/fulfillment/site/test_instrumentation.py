import pytest
import requests

from applications.registration.selectors.request_log import daily_usage
from applications.registration.services import usage
from applications.registration.services.usage import flush_usage
from tests.support.scenario import ApiClient, build_world
from tests.support.servers.live_server import serving


@pytest.fixture(autouse=True)
def nothing_counted():
    usage._counts.clear()


def test_answers_are_counted_for_the_calling_application(world):
    client = world.as_application()
    for path in ("/store/associated", "/store/associated", "/store/unassociated", "/user/self"):
        client.call("GET", path)
    world.as_user(world.user).call("GET", "/user/self")
    flush_usage()

    counted = {row.application_id: (row.calls, row.client_errors) for row in daily_usage()}
    assert counted == {world.application.pk: (4, 2), world.console.pk: (1, 0)}


def test_request_without_a_known_application_is_not_counted(world, client):
    ApiClient("sfa_unknown", "nonsense").call("GET", "/store")
    client.get("/api/v1/schema")
    client.get("/")
    flush_usage()

    assert daily_usage() == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_process_that_ends_writes_down_what_it_counted(tmp_path):
    world = build_world()
    client = world.as_application()
    headers = client.credentials
    with serving(tmp_path, workers=2) as served:
        for _ in range(20):
            assert requests.get(f"{served.url}/api/v1/store", headers=headers, timeout=10).ok

    assert [row.calls for row in daily_usage(application_ids=[world.application.pk])] == [20]
