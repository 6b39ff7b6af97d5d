"""Requests made from the published description: no 5xx, and every answer is one it describes.

FULFILLMENT_FUZZ_EXAMPLES raises the number for each operation and caller; the suite runs a few.
"""

import os
from pathlib import Path

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from delivery.services.demo import load_demo_population
from tests.world import ApiClient, World, build_known_world

EXAMPLES = int(os.environ.get("FULFILLMENT_FUZZ_EXAMPLES", "6"))
# A schema cannot say all that is allowed, and query parameters it does not know are ignored.
RULES_BEYOND_A_SCHEMA = [positive_data_acceptance, negative_data_rejection]
# The published one, as another test holds it: nothing asks the service while tests are collected.
schema = schemathesis.openapi.from_path(Path(__file__).parents[2] / "openapi.yml")
schema.app = get_wsgi_application()


@schemathesis.serializer("image/bmp", "image/jpeg", "image/png")
def raw_image(ctx, value):
    return bytes(value) if isinstance(value, bytes | bytearray) else str(value).encode()


@pytest.fixture(scope="module")
def made_world(snapshot_of):
    return snapshot_of(build_known_world_with_populations)


def build_known_world_with_populations() -> World:
    load_demo_population()
    return build_known_world()


@pytest.fixture
def client(world: World, caller: str) -> ApiClient:
    """One for all requests of a test, as hypothesis takes the other fixtures."""
    if caller == "operator":
        return world.as_operator()
    return world.as_application() if caller == "application" else world.as_user(world.user)


@pytest.fixture(autouse=True)
def one_transaction():
    """Requests do not close the connection that holds the test's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.parametrize("caller", ["operator", "user", "application"])
@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_answers_are_those_described(case, client):
    case.call_and_validate(
        headers={
            "Authorization": f"Bearer {client.token}",
            "Ocp-Apim-Subscription-Key": client.key,
            "Accept-Encoding": "identity",
        },
        excluded_checks=RULES_BEYOND_A_SCHEMA,
    )
