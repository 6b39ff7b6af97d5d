"""Every operation x every kind of credential, made from the route table and the declarations it enforces.

The gates before an operation are derived from its `Access`; ROWS say what each caller gets behind them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import product

import pytest
from django.db import transaction
from django.utils import timezone
from oauth2_provider.models import AccessToken

from accounts.permissions import add_implied
from applications.registration.models import Application
from fulfillment.core.api.access import Access
from tests.support.api.access_rows import ROWS
from tests.support.api.access_scene import build_scene, operations
from tests.support.caches import clear_caches
from tests.support.database.snapshots import Snapshot
from tests.support.scenario import EVERY_SCOPE, EVERYDAY_SCOPES, ApiClient, World

PEOPLE = ("user", "outsider", "application", "other_application", "operator")


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
    asked = f"{response.request['REQUEST_METHOD']} {response.request['PATH_INFO']}"
    assert response.status_code == status, f"{asked}: {response.content}"
    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    assert (body["status"], bool(body["Code"]), bool(body["_meta"]["Messages"])) == (status, True, True)
    assert code is None or body["Code"] == code
    assert status != 401 or "WWW-Authenticate" in response


@contextmanager
def undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    clear_caches()


def client_for(world: World, person: str) -> ApiClient:
    if person == "operator":
        return world.as_operator()
    if person in {"application", "other_application"}:
        return world.as_application(getattr(world, person))
    return world.as_user(getattr(world, person))


def test_operation_refuses_missing_and_foreign_credentials(world, ids):
    valid = world.as_user(world.user)
    foreign = world.key_of(world.outsider)

    for key, access in OPERATIONS.items():
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


def test_operation_refuses_invalid_credentials(world, ids):
    expired, revoked, inactive = (
        world.as_user(person) for person in (world.user, world.user, world.outsider)
    )
    tokens = list(AccessToken.objects.order_by("-pk")[:3])
    tokens[2].expires = timezone.now() - timedelta(seconds=1)
    tokens[2].save()
    tokens[1].delete()
    world.outsider.is_active = False
    world.outsider.save()

    for key, client in product(OPERATIONS, (expired, revoked, inactive)):
        assert_problem(send(client, key, ids), 401, "token_invalid")

    Application.objects.update(is_enabled=False)
    disabled = world.as_user(world.user)
    for key in OPERATIONS:
        assert_problem(send(disabled, key, ids), 401, "token_invalid")


@pytest.mark.parametrize("key", OPERATIONS, ids=" ".join)
def test_operation_checks_kind_and_scope_before_the_object(world, ids, key):
    access: Access = OPERATIONS[key]
    if not access.is_for_applications:
        assert_problem(send(world.as_application(), key, ids), 403, "closed_to_applications")
    if access.operator_only:
        assert_problem(send(world.as_user(world.user), key, ids), 403, "operator_only")
        without = send(world.as_user(world.operator, EVERYDAY_SCOPES), key, ids)
        assert_problem(without, 403, "insufficient_scope")
    if access.permissions:
        others = tuple(s for s in EVERYDAY_SCOPES if add_implied([s]).isdisjoint(access.permissions))
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


@pytest.mark.parametrize("key", OPERATIONS, ids=" ".join)
def test_operation_answers_each_caller_as_its_row_says(world, ids, key):
    for person, status in zip(PEOPLE, ROWS[key].statuses, strict=True):
        with undone():
            response = send(client_for(world, person), key, ids)

        assert response.status_code == status, f"{person}: {response.content}"
        if status >= 400:
            assert_problem(response, status)


def test_matrix_knows_every_scope():
    assert set(EVERYDAY_SCOPES) | {"Operator"} == set(EVERY_SCOPE)
