"""Every operation x every kind of credential, made from the route table and the declarations it enforces.

The gates before an operation are judged from its `Access`; ROWS say what each caller gets behind them.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from oauth2_provider.models import AccessToken

from accounts.permissions import with_implied
from applications.registration.models import Application
from fulfillment.core.api.access import Access
from tests.support.access_scene import ORDER, QUOTE, build_scene, operations
from tests.support.scenario import EVERY_SCOPE, EVERYDAY_SCOPES, ApiClient, World
from tests.support.snapshots import Snapshot

PEOPLE = ("user", "outsider", "application", "other_application", "operator")


@dataclass(frozen=True)
class Row:
    """`path` is formatted with the ids of the world; the statuses are those of PEOPLE in that order."""

    path: str
    statuses: tuple[int, int, int, int, int]
    body: Any = None


NEW_USER = {
    "Username": "newcomer",
    "FirstName": "New",
    "LastName": "Comer",
    "Email": "new@print.example",
    "Password": "a long pass phrase",
}


ROWS = {
    ("store-list", "GET"): Row("/store", (200, 200, 200, 200, 200)),
    ("store-detail", "GET"): Row("/store/associated", (200, 401, 200, 401, 200)),
    ("product-list", "GET"): Row("/store/associated/product", (200, 403, 200, 403, 200)),
    ("product-detail", "GET"): Row("/store/associated/product/none", (404, 403, 404, 403, 404)),
    ("quote-list", "POST"): Row("/store/associated/quote", (201, 403, 201, 403, 201), QUOTE),
    ("quote-detail", "GET"): Row("/store/associated/quote/{quote}", (200, 403, 200, 403, 200)),
    ("order-list", "POST"): Row("/store/associated/order", (201, 403, 201, 403, 201), ORDER),
    ("order-exportview", "GET"): Row("/store/associated/order/exportview", (200, 403, 200, 403, 200)),
    ("order-detail", "GET"): Row("/store/associated/order/{order}", (200, 403, 200, 403, 200)),
    ("order-history", "GET"): Row("/store/associated/order/{order}/history", (200, 403, 200, 403, 200)),
    ("order-cancel", "POST"): Row("/store/associated/order/{order}/cancel", (200, 403, 200, 403, 200)),
    ("order-cancel-refuse", "POST"): Row(
        "/store/associated/order/{order}/cancel/refuse", (409, 403, 403, 403, 409)
    ),
    ("order-status", "POST"): Row(
        "/store/associated/order/{order}/status", (200, 403, 403, 403, 200), {"Status": 30}
    ),
    ("order-advance", "POST"): Row("/store/associated/order/{order}/advance", (409, 403, 409, 403, 409)),
    ("order-print-file", "GET"): Row(
        "/store/associated/order/{order}/item/1/print-file", (404, 403, 404, 403, 404)
    ),
    ("order-packing-slip", "GET"): Row(
        "/store/associated/order/{order}/packing-slip", (200, 403, 200, 403, 200)
    ),
    ("proof-list", "POST"): Row(
        "/store/associated/product/none/proof", (404, 403, 404, 403, 404), {"Name": "Ada"}
    ),
    ("asset-list", "POST"): Row("/store/associated/asset", (415, 403, 415, 403, 415)),
    ("store-user-roles", "GET"): Row("/store/associated/user/{user}", (200, 403, 403, 403, 200)),
    ("user-list", "POST"): Row("/user", (200, 200, 403, 403, 200), NEW_USER),
    ("user-self", "GET"): Row("/user/self", (200, 200, 403, 403, 200)),
    ("user-emails", "POST"): Row("/user/emails", (200, 200, 200, 200, 200), ["user@print.example"]),
    ("user-roles", "GET"): Row("/user/{user}/roles", (403, 403, 403, 403, 200)),
    ("application-list", "GET"): Row("/application", (200, 200, 200, 200, 200)),
    ("application-list", "POST"): Row("/application", (201, 201, 403, 403, 201), {"Name": "New"}),
    ("application-detail", "GET"): Row("/application/{application}", (200, 403, 200, 403, 200)),
    ("application-detail", "PATCH"): Row(
        "/application/{application}", (200, 403, 403, 403, 200), {"Name": "x"}
    ),
    ("application-key-regenerate", "PATCH"): Row(
        "/application/{application}/key/{key}/regenerate", (200, 403, 403, 403, 200)
    ),
    ("application-icon", "GET"): Row("/application/{application}/icon", (404, 403, 404, 403, 404)),
    ("application-icon", "POST"): Row("/application/{application}/icon", (415, 403, 403, 403, 415)),
    ("event-list", "GET"): Row("/application/{application}/event", (200, 403, 200, 403, 200)),
    ("webhook-list", "GET"): Row("/application/{application}/webhook", (200, 403, 200, 403, 200)),
    ("webhook-list", "POST"): Row(
        "/application/{application}/webhook", (201, 403, 201, 403, 201), {"URL": "https://192.0.43.8/events"}
    ),
    ("webhook-detail", "GET"): Row("/application/{application}/webhook/{webhook}", (200, 403, 200, 403, 200)),
    ("webhook-detail", "PATCH"): Row(
        "/application/{application}/webhook/{webhook}", (200, 403, 200, 403, 200), {"EventTypes": ["*"]}
    ),
    ("webhook-detail", "DELETE"): Row(
        "/application/{application}/webhook/{webhook}", (204, 403, 204, 403, 204)
    ),
    ("webhook-rotate-secret", "POST"): Row(
        "/application/{application}/webhook/{webhook}/rotate-secret", (200, 403, 200, 403, 200)
    ),
    ("webhook-test", "POST"): Row(
        "/application/{application}/webhook/{webhook}/test", (202, 403, 202, 403, 202)
    ),
    ("webhook-enable", "POST"): Row(
        "/application/{application}/webhook/{webhook}/enable", (200, 403, 200, 403, 200)
    ),
    ("webhook-recover", "POST"): Row(
        "/application/{application}/webhook/{webhook}/recover",
        (202, 403, 202, 403, 202),
        {"Since": "{today}"},
    ),
    ("delivery-list", "GET"): Row(
        "/application/{application}/webhook/{webhook}/delivery", (200, 403, 200, 403, 200)
    ),
    ("delivery-resend", "POST"): Row(
        "/application/{application}/webhook/{webhook}/delivery/{event}/resend", (202, 403, 202, 403, 202)
    ),
    ("association-list", "GET"): Row("/association", (200, 200, 200, 200, 200)),
    ("association-list", "POST"): Row(
        "/association",
        (200, 403, 200, 403, 200),
        {"StoreID": "unassociated", "ApplicationID": "{application}"},
    ),
    ("association-detail", "GET"): Row("/association/{asked}", (200, 404, 200, 404, 200)),
    ("association-withdraw", "POST"): Row("/association/{asked}/withdraw", (200, 404, 200, 404, 200)),
    ("association-approve", "POST"): Row("/association/{asked}/approve", (403, 403, 403, 403, 200)),
    ("association-deny", "POST"): Row("/association/{asked}/deny", (403, 403, 403, 403, 200)),
    ("eddm-list", "GET"): Row("/delivery/eddm?postalCodes=84101", (503, 503, 503, 503, 503)),
}


OPERATIONS = {(name, method): access for name, method, access in operations()}


def test_every_operation_declares_access_and_has_a_row():
    assert {key for key, access in OPERATIONS.items() if access is None} == set()
    assert set(OPERATIONS) == set(ROWS)


@pytest.fixture(scope="module")
def made_scene(snapshot_of) -> Snapshot[tuple[World, dict[str, str]]]:
    return snapshot_of(build_scene)


@pytest.fixture
def scene(made_scene, db) -> tuple[World, dict[str, str]]:
    return made_scene.restore()


@pytest.fixture
def world(scene) -> World:
    return scene[0]


@pytest.fixture
def ids(scene) -> dict[str, str]:
    return scene[1]


def send(client: ApiClient, key: tuple[str, str], ids: dict[str, str]):
    row = ROWS[key]
    body = row.body
    if isinstance(body, dict):
        body = {
            name: value.format(**ids) if isinstance(value, str) else value for name, value in body.items()
        }
    return client.call(key[1], row.path.format(**ids), body)


def assert_problem(response, status: int, code: str | None = None) -> None:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    assert (body["status"], bool(body["Code"]), bool(body["_meta"]["Messages"])) == (status, True, True)
    assert code is None or body["Code"] == code
    assert status != 401 or "WWW-Authenticate" in response


def client_for(world: World, person: str) -> ApiClient:
    if person == "operator":
        return world.as_operator()
    if person in {"application", "other_application"}:
        return world.as_application(getattr(world, person))
    return world.as_user(getattr(world, person))


@pytest.mark.parametrize("key", OPERATIONS, ids=" ".join)
def test_operation_refuses_missing_and_foreign_credentials(world, ids, key):
    access: Access = OPERATIONS[key]
    valid = world.as_user(world.user)
    foreign = world.key_of(world.outsider)

    if access.subscription_key_required:
        assert_problem(send(ApiClient(), key, ids), 401, "subscription_key_missing")
        assert_problem(send(ApiClient(token=valid.token), key, ids), 401, "subscription_key_missing")
    assert_problem(send(ApiClient(key=valid.key), key, ids), 401, "token_missing")
    assert_problem(send(ApiClient("sfa_unknown", valid.key), key, ids), 401, "token_invalid")
    assert_problem(send(ApiClient("sfa_unknown", "nonsense"), key, ids), 401, "token_invalid")
    refused = send(ApiClient(valid.token, foreign), key, ids)
    assert_problem(refused, 401, "subscription_key_invalid")
    assert refused.json()["statusCode"] == 401
    assert refused["WWW-Authenticate"].startswith("AzureApiManagementKey ")


@pytest.mark.parametrize("key", OPERATIONS, ids=" ".join)
def test_operation_refuses_dead_credentials(world, ids, key):
    expired, revoked, inactive = (
        world.as_user(person) for person in (world.user, world.user, world.outsider)
    )
    tokens = list(AccessToken.objects.order_by("-pk")[:3])
    tokens[2].expires = timezone.now() - timedelta(seconds=1)
    tokens[2].save()
    tokens[1].delete()
    world.outsider.is_active = False
    world.outsider.save()

    for client in (expired, revoked, inactive):
        assert_problem(send(client, key, ids), 401, "token_invalid")

    Application.objects.update(is_enabled=False)
    assert_problem(send(world.as_user(world.user), key, ids), 401, "token_invalid")


@pytest.mark.parametrize("key", OPERATIONS, ids=" ".join)
def test_operation_judges_kind_and_scope_before_the_object(world, ids, key):
    access: Access = OPERATIONS[key]
    if not access.applications:
        assert_problem(send(world.as_application(), key, ids), 403, "closed_to_applications")
    if access.operator_only:
        assert_problem(send(world.as_user(world.user), key, ids), 403, "operator_only")
        without = send(world.as_user(world.operator, EVERYDAY_SCOPES), key, ids)
        assert_problem(without, 403, "insufficient_scope")
    if access.permissions:
        others = tuple(s for s in EVERYDAY_SCOPES if with_implied([s]).isdisjoint(access.permissions))
        refused = send(world.as_user(world.user, others), key, ids)
        assert_problem(refused, 403, "insufficient_scope")
        assert refused["WWW-Authenticate"].startswith('Bearer error="insufficient_scope"')
    if access.third_party_scope:
        others = tuple(s for s in EVERYDAY_SCOPES if s != access.third_party_scope)
        refused = send(world.as_user(world.user, others, world.application), key, ids)
        assert_problem(refused, 403, "insufficient_scope")
        assert f'scope="{access.third_party_scope}"' in refused["WWW-Authenticate"]
        allowed = world.as_user(world.user, (access.third_party_scope,), world.application)
        assert send(allowed, key, ids).status_code == ROWS[key].statuses[0]


@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("key", OPERATIONS, ids=" ".join)
def test_operation_answers_each_caller_as_its_row_says(world, ids, key, person):
    response = send(client_for(world, person), key, ids)

    assert response.status_code == ROWS[key].statuses[PEOPLE.index(person)], response.content
    if response.status_code >= 400:
        assert_problem(response, response.status_code)


def test_matrix_knows_every_scope():
    assert set(EVERYDAY_SCOPES) | {"Operator"} == set(EVERY_SCOPE)
