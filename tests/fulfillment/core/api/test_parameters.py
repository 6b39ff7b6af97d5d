"""Query parameters: an operation takes those its description lists, and names them when it refuses another."""

import re

import pytest

from fulfillment.core.api.schema import schema_document
from tests.support.api.access_rows import ROWS


@pytest.mark.parametrize("address", ["/store", "/application", "/store/demo", "/user/self", "/association"])
def test_unknown_parameter_is_refused_with_the_known_ones(world, address):
    client = world.as_user(world.user)
    described = schema_document()["paths"]["/api/v1" + address.replace("demo", "{storeID}")]["get"]
    allowed = [
        parameter["name"] for parameter in described.get("parameters", ()) if parameter["in"] == "query"
    ]

    response = client.call("GET", f"{address}?nonsense=1&more=2")

    problem = response.json()
    assert (response.status_code, problem["Code"]) == (400, "parameter_invalid")
    assert [fault["Pointer"] for fault in problem["Errors"]] == ["?nonsense", "?more"]
    assert all(name in problem["Errors"][0]["Message"] for name in allowed)


def test_unknown_parameter_of_a_creating_request_is_refused_before_anything_is_done(world):
    response = world.as_application().call("POST", "/store/demo/quote?dryRun=true", {})

    assert response.json()["Errors"][0]["Pointer"] == "?dryRun"


def test_known_parameters_pass_and_options_are_not_checked(world, client):
    user = world.as_user(world.user)

    assert user.call("GET", "/store?verbose=true").status_code == 200
    assert user.call("OPTIONS", "/store?nonsense=1").status_code == 200
    assert user.call("HEAD", "/store?verbose=true").status_code == 200


def test_every_operation_refuses_a_parameter_it_does_not_know(world):
    client = world.as_operator()
    taken = []
    for (route, method), row in ROWS.items():
        path = re.sub(r"\{\w+\}", "none", row.path.partition("?")[0])
        response = client.call(method, f"{path}?nonsense=1", None if method == "GET" else {})
        pointers = [fault["Pointer"] for fault in response.json().get("Errors", [])]
        if response.status_code != 400 or "?nonsense" not in pointers:
            taken.append((route, method, response.status_code, pointers))

    assert taken == []


def test_schema_document_is_no_operation_and_takes_any_other_name(client, db):
    """A reader of documents may add a name of its own, against caches."""
    assert client.get("/api/v1/schema?v=2").status_code == 200
