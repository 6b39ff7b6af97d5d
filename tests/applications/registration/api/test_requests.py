"""The log of an application's calls, as programs read it."""

import re

import pytest

from applications.registration.models import LoggedRequest
from applications.registration.services.request_log import flush_request_log
from tests.support.caches import clear_caches


@pytest.fixture
def log(world):
    clear_caches()
    api = world.as_application()
    for _ in range(4):
        api.call("GET", "/store")
    api.call("GET", "/store/unassociated")
    world.as_user(world.outsider, application=world.application).call("GET", "/store")
    flush_request_log()
    yield f"/application/{world.application.pk}/request"
    clear_caches()


def test_pages_lead_through_every_call_newest_first(world, log):
    api, records, path = world.as_application(), [], f"{log}?take=4"
    while path:
        page = api.call("GET", path)
        records += page.json()
        path = re.search(r"/api/v1(\S+)>", page["Link"])[1] if "Link" in page else ""

    assert [record["RequestID"] for record in records] == [
        row.request_id.hex for row in LoggedRequest.objects.order_by("-time", "-id")
    ]
    assert len({record["RequestID"] for record in records}) == 6
    assert [record["IsForUser"] for record in records] == [True, False, False, False, False, False]
    assert "Outsider" not in str(records)


def test_calls_are_found_by_status_code_and_time(world, log):
    api = world.as_application()
    [refused] = api.call("GET", f"{log}?status=4xx").json()

    assert (refused["Method"], refused["Path"], refused["Status"]) == ("GET", "/api/v1/store/{storeID}", 401)
    assert api.call("GET", f"{log}?status=401&code={refused['Code']}").json() == [refused]
    assert refused["Detail"]
    assert [
        record["Status"] for record in api.call("GET", f"{log}?createdAfter={refused['Timestamp']}").json()
    ] == [
        200,
        401,
    ]
    assert api.call("GET", f"{log}?createdAfter=2100-01-01").json() == []


@pytest.mark.parametrize(
    "query", ["status=teapot", "status=6xx", "after=x", "after=1-", "take=0", "take=1001", "state=4xx"]
)
def test_unreadable_parameter_is_refused_by_name(world, log, query):
    refused = world.as_application().call("GET", f"{log}?{query}")

    assert (refused.status_code, refused.json()["Code"]) == (400, "parameter_invalid")
    assert refused.json()["Errors"][0]["Pointer"] == f"?{query.partition('=')[0]}"


def test_application_reads_its_own_calls_alone(world, log):
    other = log.replace(str(world.application.pk), str(world.other_application.pk))

    assert world.as_application().call("GET", other).status_code == 403
    assert world.as_user(world.outsider).call("GET", log).status_code == 403
