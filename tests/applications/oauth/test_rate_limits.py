"""Rate limits: what every answer says of them, and that exactly so many requests are served."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import requests
from django.db import OperationalError
from django.db.models import F
from django.utils import timezone

from accounts import rate_limits
from accounts.callers import Caller
from accounts.models import RateWindow, Subscription, User
from accounts.services.subscriptions import create_subscription
from applications.oauth.token_authentication import caller_of
from applications.registration.services.applications import create_application
from fulfillment.core.http.addresses import rate_limit_key_for_ip
from tests.factories.accounts import UserFactory
from tests.support.patience import PATIENCE
from tests.support.scenario import ApiClient, build_world
from tests.support.servers.live_server import serving

POLICY = re.compile(r'"([a-z-]+)";q=(\d+);w=60\Z')
LIMIT = re.compile(r'"([a-z-]+)";r=(\d+);t=(\d+)\Z')


def limit(owner, requests_per_minute: int) -> None:
    Subscription.objects.filter(pk=owner.subscription.pk).update(requests_per_minute=requests_per_minute)


def said(response) -> tuple[str, int, int, int]:
    """Name of the policy, quota, what is left and the seconds until it is all there again."""
    policy, standing = POLICY.match(response["RateLimit-Policy"]), LIMIT.match(response["RateLimit"])
    assert policy is not None, response.headers
    assert standing is not None, response.headers
    assert policy[1] == standing[1]
    return policy[1], int(policy[2]), int(standing[2]), int(standing[3])


def pass_time(seconds: float) -> None:
    RateWindow.objects.update(started=F("started") - timedelta(seconds=seconds))
    rate_limits._over.clear()


def answers(world):
    client = world.as_user(world.user)
    store = client.call("GET", "/store/associated")
    unchanged = client.call("GET", "/store/associated", headers={"If-None-Match": store["ETag"]})
    anonymous = ApiClient("sfa_unknown", "nonsense")
    return {
        200: store,
        304: unchanged,
        400: client.call("POST", "/application", {"Nme": 1}),
        401: anonymous.call("GET", "/store"),
        403: world.as_application().call("GET", "/user/self"),
        404: client.call("GET", "/application/00000000-0000-0000-0000-000000000000"),
        405: client.call("DELETE", "/store"),
        406: client.call("GET", "/store", headers={"Accept": "text/html"}),
        "unknown path": anonymous.call("GET", "/nothing"),
        "NUL": anonymous.call("GET", "/%00"),
        "schema": anonymous.call("GET", "/schema"),
        "options": client.call("OPTIONS", "/store"),
    }


def test_every_answer_carries_both_headers(world):
    for name, response in answers(world).items():
        assert not isinstance(name, int) or response.status_code == name
        policy, quota, remaining, seconds = said(response)
        known = name in {200, 304, 400, 403, 404, 405, 406, "options"}
        assert policy == ("subscription" if known else "address"), name
        assert 0 <= remaining < quota, name
        assert 1 <= seconds <= 60


def test_pages_of_the_reference_are_counted_on_the_address_and_apart_from_its_calls(world, settings):
    settings.ADDRESS_REQUESTS_PER_MINUTE = 3
    anonymous = ApiClient("sfa_unknown", "nonsense")
    pages = [anonymous.call("GET", path) for path in ("/docs", "/docs/guides/errors", "/docs/nothing")]

    assert [page.status_code for page in pages] == [200, 200, 404]
    assert [said(page)[:3] for page in pages] == [
        ("reference", 3, 2),
        ("reference", 3, 1),
        ("reference", 3, 0),
    ]
    for _ in ("the count says so", "the process remembers"):
        refused = anonymous.call("GET", "/docs")
        assert (refused.status_code, said(refused)[:3]) == (429, ("reference", 3, 0))
        assert 1 <= int(refused["Retry-After"]) <= 60
        assert "Rate limit is exceeded" in refused.content.decode()
    calls = [anonymous.call("GET", path) for path in ("/schema", "/store", "/nothing", "/schema")]
    assert [call.status_code for call in calls] == [200, 401, 404, 429]
    assert world.as_user(world.user).call("GET", "/store/associated").status_code == 200
    pass_time(61)
    assert anonymous.call("GET", "/docs").status_code == 200


def test_remaining_requests_fall_with_each_request(world):
    client = world.as_application()
    limit(world.application, 3)

    assert [said(client.call("GET", "/store"))[1:3] for _ in range(3)] == [(3, 2), (3, 1), (3, 0)]


def test_one_request_too_many_is_429_with_all_a_client_needs(world):
    client = world.as_application()
    limit(world.application, 1)
    client.call("GET", "/store")

    response = client.call("GET", "/store")

    wait = int(response["Retry-After"])
    assert (response.status_code, response["Content-Type"]) == (429, "application/problem+json")
    assert said(response) == ("subscription", 1, 0, wait)
    body = response.json()
    assert (body["Code"], body["status"], body["statusCode"]) == ("rate_limit_exceeded", 429, 429)
    assert body["message"] == body["detail"] == f"Rate limit is exceeded. Try again in {wait} seconds."
    assert body["violated-policies"] == ["subscription"]
    assert body["_meta"]["Messages"]


def test_who_waits_as_stated_is_served_at_once(world):
    client = world.as_application()
    limit(world.application, 5)
    for _ in range(7):
        refused = client.call("GET", "/store")

    pass_time(int(refused["Retry-After"]))

    assert [client.call("GET", "/store").status_code for _ in range(6)] == [200] * 5 + [429]


def test_changed_limit_holds_from_the_next_request_on(world):
    client = world.as_application()
    limit(world.application, 1)
    client.call("GET", "/store")
    assert client.call("GET", "/store").status_code == 429

    limit(world.application, 10)

    assert said(client.call("GET", "/store"))[1:3] == (10, 7)


def test_both_keys_and_no_key_count_on_one_subscription(world):
    client = world.as_user(world.user)
    limit(world.user, 3)
    path = "/store/associated/order/exportview"

    client.call("GET", path)
    keyless = ApiClient(client.token).call("GET", path)

    assert keyless.status_code == 200
    assert said(keyless)[1:3] == (3, 1)


def test_caller_without_any_subscription_is_limited_as_well(world):
    user = UserFactory(tenant=world.tenant)
    world.keys[user.pk] = ""
    client = ApiClient(world.as_user(user).token)

    first, second = (client.call("GET", "/store/associated/order/exportview") for _ in range(2))

    assert (said(first)[:3], said(second)[:3]) == (("subscription", 600, 599), ("subscription", 600, 598))


def test_foreign_key_uses_up_nothing_of_its_owner(world):
    thief = ApiClient(world.as_user(world.outsider).token, world.key_of(world.user))

    assert thief.call("GET", "/store").status_code == 401
    assert said(world.as_user(world.user).call("GET", "/store"))[2] == 599


def test_subscriptions_do_not_share(world):
    limit(world.user, 1)
    mine = world.as_user(world.user)
    mine.call("GET", "/store")

    assert mine.call("GET", "/store").status_code == 429
    assert world.as_user(world.outsider).call("GET", "/store").status_code == 200
    assert world.as_application().call("GET", "/store").status_code == 200


def test_refused_request_does_nothing(world):
    client = world.as_user(world.user)
    limit(world.user, 1)
    client.call("GET", "/store")

    assert client.call("POST", "/application", {"Name": "Too many"}).status_code == 429
    assert not world.user.owned_applications.filter(name="Too many").exists()


@pytest.mark.parametrize(("hours", "served"), [(1, True), (0.005, False), (-1, True)])
def test_clock_jump_locks_out_no_account(world, hours, served):
    """To a window all that lies a minute off, before or after, is another time."""
    client = world.as_application()
    limit(world.application, 1)
    client.call("GET", "/store")

    pass_time(hours * 3600)

    response = client.call("GET", "/store")
    assert (response.status_code == 200) is served
    assert said(response)[3] <= 120


def test_callers_without_valid_credentials_are_limited_by_address(world, settings):
    settings.ADDRESS_REQUESTS_PER_MINUTE = 3
    anonymous = ApiClient("sfa_unknown", "nonsense")

    assert [anonymous.call("GET", "/store").status_code for _ in range(4)] == [401] * 3 + [429]
    assert anonymous.call("GET", "/store", REMOTE_ADDR="198.51.100.7").status_code == 401
    assert world.as_application().call("GET", "/store").status_code == 200
    anonymous = ApiClient().call("GET", "/schema")
    assert (anonymous.status_code, said(anonymous)[:3]) == (429, ("address", 3, 0))


def test_cached_refusal_runs_no_query(world, settings, django_assert_num_queries):
    settings.ADDRESS_REQUESTS_PER_MINUTE = 1
    for _ in range(2):
        ApiClient().call("GET", "/store")

    with django_assert_num_queries(0):
        assert ApiClient().call("GET", "/store").status_code == 429


@pytest.mark.parametrize(
    ("address", "bucket"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("", "unknown"),
        ("unix:", "unknown"),
    ],
)
def test_network_of_one_customer_is_one_address(address, bucket):
    assert rate_limit_key_for_ip(address) == bucket


def test_headers_are_there_when_the_database_is_not(world, monkeypatch):
    client = world.as_application()

    def away(*ignored):
        raise OperationalError("gone")

    monkeypatch.setattr("applications.oauth.token_authentication.fetch_row", away)
    response = client.call("GET", "/store")

    assert response.status_code == 503
    assert said(response) == ("address", 0, 0, int(response["Retry-After"]))


def test_limit_of_a_subscription_is_set_in_the_admin(world, client):
    client.force_login(world.operator)
    address = f"/admin/accounts/subscription/{world.user.subscription.pk}/change/"

    assert "greater than or equal to 1" in client.post(address, {"requests_per_minute": 0}).content.decode()
    client.post(address, {"requests_per_minute": 2})

    assert said(world.as_user(world.user).call("GET", "/store"))[1] == 2


def burst(url: str, client: ApiClient, count: int) -> list[int]:
    headers = client.credentials

    def once(_):
        return requests.get(f"{url}/api/v1/store", headers=headers, timeout=PATIENCE).status_code

    with ThreadPoolExecutor(16) as threads:
        return list(threads.map(once, range(count)))


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_exactly_the_quota_is_served_by_several_processes(tmp_path):
    world = build_world()
    client = world.as_application()
    limit(world.application, 100)

    with serving(tmp_path, workers=2) as served:
        statuses = burst(served.url, client, 400)

    assert (statuses.count(200), statuses.count(429)) == (100, 300)


@pytest.mark.django_db
def test_unconfirmed_accounts_and_their_applications_share_the_limit_of_their_creator(world):
    limit(world.user, 7)
    makers = world.as_user(world.user)
    made = [UserFactory(tenant=world.tenant, email_confirmed=None, counted_on=world.user) for _ in range(2)]
    for user in made:
        create_subscription(user=user)
    application = create_application(caller=Caller.on_pages(made[0]), values={"Name": "Of the first"})
    application.refresh_from_db()
    clients = [makers, *map(world.as_user, made), world.as_application(application)]

    left = [said(client.call("GET", "/store"))[1:3] for client in clients]

    assert left == [(7, 6), (7, 5), (7, 4), (7, 3)]
    User.objects.filter(pk=made[0].pk).update(email_confirmed=timezone.now())
    assert said(clients[1].call("GET", "/store"))[1:3] == (600, 599)
    assert said(clients[3].call("GET", "/store"))[1:3] == (600, 599)
    assert [said(clients[2].call("GET", "/store"))[2] for _ in range(3)] == [2, 1, 0]
    assert clients[2].call("GET", "/store").status_code == makers.call("GET", "/store").status_code == 429


@pytest.mark.django_db
def test_applications_and_unconfirmed_accounts_of_a_person_are_one_caller_in_concurrency_limits(world):
    made = UserFactory(tenant=world.tenant, email_confirmed=None, counted_on=world.user)
    create_subscription(user=made)
    own, of_made = (
        create_application(caller=Caller.on_pages(user), values={"Name": user.username})
        for user in (world.user, made)
    )
    clients = [world.as_user(made), *map(world.as_application, (own, of_made, world.application))]

    callers = [caller_of(f"Bearer {client.token}", client.key)[0] for client in clients]

    assert {caller.key for caller in callers} == {f"user:{world.user.pk}"}


@pytest.mark.django_db
def test_unconfirmed_account_without_a_maker_has_a_limit_of_its_own(world):
    User.objects.filter(pk=world.user.pk).update(email_confirmed=None)

    assert said(world.as_user(world.user).call("GET", "/store"))[1:3] == (600, 599)
