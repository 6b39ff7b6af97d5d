"""Requests made from the published description: no 5xx, and every answer is one it describes."""

import re
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
import schemathesis
import yaml
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, settings
from schemathesis.generation.stateful import run_state_machine_as_test
from schemathesis.transport.serialization import Binary

from accounts.models import Subscription
from delivery.datasets.services.demo import load_demo_population
from tests.factories.orders import RECIPIENT, make_product
from tests.factories.webhooks import PUBLIC_URL
from tests.support.api.access_scene import build_scene
from tests.support.api.schemathesis_explanations import check_response, walked
from tests.support.cases import IS_EVERY_CASE, cases
from tests.support.scenario import ApiClient, World

pytestmark = pytest.mark.slow

# For each operation, sent by each caller; and the ways along the links of each caller.
EXAMPLES = cases(4, 75)
WALKS = cases(3, 100)
STEPS = 25
# Who may do most comes last: what it ends the others would not find.
CALLERS = ["application", "user", "operator"]
# What a link gives a body, and a good body beside it.
LINKED = ("QuoteID", "OptionID", "ReprintOfOrderID", "ApplicationID")
UUID_OR_OPTION = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[A-Z]+-[0-9A-Za-z-]+")
STORES = ("associated", "demo")
ITEMS = {"Items": [{"ProductID": "card", "Quantity": 100}]}
SENSIBLE: dict[str, dict[str, Any]] = {
    "order_create": {"Recipient": RECIPIENT, **ITEMS},
    "quote_create": {"ShipTo": {"CountryCode": "US"}, **ITEMS},
    "webhook_create": {"URL": PUBLIC_URL},
    "webhook_change": {"EventTypes": ["order.*"]},
    "application_create": {"Name": "Mail Studio"},
    "application_change": {"Description": "Prints postcards."},
    "association_request": {"StoreID": "unassociated"},
    "order_status": {"Status": 20},
}
FEW = settings(
    deadline=None,
    derandomize=True,
    # Published examples are sent by test_documents.py; here, in all their combinations, they take half of the time.
    phases=[*([Phase.explicit] if IS_EVERY_CASE else []), Phase.generate],
    suppress_health_check=list(HealthCheck),
)


# The published one, as another test holds it: nothing asks the service while tests are collected.
def description() -> dict[str, Any]:
    """With bodies of links as Schemathesis wants them: members, which it merges into a body of its own."""
    document: dict[str, Any] = yaml.load(
        (Path(__file__).parents[3] / "openapi.yml").read_text(), yaml.CSafeLoader
    )
    for link in document["components"]["links"].values():
        if "x-requestBody" in link:
            link["requestBody"] = link.pop("x-requestBody")
    return document


schema = schemathesis.openapi.from_dict(description())
schema.app = get_wsgi_application()


@schemathesis.serializer(
    "image/*", "application/pdf", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
)
def raw_file(ctx, value):
    return value.data if isinstance(value, Binary) else str(value).encode()


@pytest.fixture(scope="module")
def made_world(snapshot_of):
    return snapshot_of(build_known_world_with_populations)


def build_known_world_with_populations() -> World:
    """With one of everything that a link leads from."""
    load_demo_population()
    world, _ = build_scene()
    make_product(world.demo)
    # More than any walk asks for.
    Subscription.objects.update(requests_per_minute=1_000_000)
    return world


def credentials(client: ApiClient) -> dict[str, dict[str, str]]:
    return {
        "headers": {
            **client.credentials,
            "Accept-Encoding": "identity",
        }
    }


def make_sensible(case: schemathesis.Case, random: Random) -> None:
    """Where a way begins nothing is known, and no link leads to an address: three of four requests name a store there
    is, and have a good body beside the IDs the links gave."""
    if random.random() < 0.25 or not case.meta.generation.mode.is_positive:
        return
    if "storeID" in case.path_parameters and case.path_parameters["storeID"] not in STORES:
        case.path_parameters["storeID"] = random.choice(STORES)
    operation = case.operation.definition.raw["operationId"]
    if operation in SENSIBLE and isinstance(case.body, dict):
        linked = {name: case.body[name] for name in LINKED if is_id(case.body.get(name))}
        case.body = SENSIBLE[operation] | linked


def is_id(value: Any) -> bool:
    """Not a text that is made up."""
    return isinstance(value, str) and bool(UUID_OR_OPTION.fullmatch(value))


@pytest.fixture
def clients(world: World) -> dict[str, ApiClient]:
    """The same for all requests of a test, as hypothesis takes the other fixtures."""
    made = world.as_application(), world.as_user(world.user), world.as_operator()
    return dict(zip(CALLERS, made, strict=True))


@pytest.fixture(autouse=True)
def one_transaction():
    """Requests do not close the connection that holds the test's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@schema.parametrize()
@settings(FEW, max_examples=EXAMPLES)
def test_answers_are_those_described(case, clients):
    for client in clients.values():
        sent = credentials(client)
        if case.meta.generation.mode.is_positive and "Idempotency-Key" in case.headers:
            # Those made up are few; a second request with one is refused before all else.
            case.headers["Idempotency-Key"] = uuid4().hex
        check_response(case.call(**sent), case, sent)


@pytest.mark.parametrize("caller", CALLERS)
def test_answers_are_those_described_wherever_links_lead(clients, caller):
    class Walk(schema.as_state_machine()):
        def setup(self):
            self.random = Random(1)
            self.place = transaction.atomic()
            self.place.__enter__()

        def teardown(self):
            transaction.set_rollback(True)
            self.place.__exit__(None, None, None)

        def get_call_kwargs(self, case):
            return credentials(clients[caller])

        def before_call(self, case):
            make_sensible(case, self.random)

        def validate_response(self, response, case, additional_checks=None, **kwargs):
            walked[case.operation.label, response.status_code] += 1
            check_response(response, case, kwargs, recorder=self.recorder)

    run_state_machine_as_test(Walk, settings=settings(FEW, max_examples=WALKS, stateful_step_count=STEPS))
