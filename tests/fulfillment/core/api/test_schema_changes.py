"""The promise of docs/versioning.md: a description that takes something away is refused."""

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.api.schema_changes import breaking_changes

DESCRIPTIONS = Path(__file__).resolve().parents[3]
LAST_RELEASE = "openapi-0.1.0.yml"
# Named in the CHANGELOG with what to do instead.
ANNOUNCED = ["GET /api/v1/store/{}/order/exportview ?skip: maximum is narrower"]


@cache
def read(name: str) -> Any:
    return yaml.load((DESCRIPTIONS / name).read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def test_nothing_is_removed_since_the_last_release_unless_announced():
    assert breaking_changes(read(LAST_RELEASE), read("openapi.yml")) == ANNOUNCED


def operation(document: Any, path: str, method: str = "get") -> Any:
    return document["paths"][f"/api/v1{path}"][method]


BREAKING: dict[str, Callable[[Any], Any]] = {
    "a path": lambda d: d["paths"].pop("/api/v1/store"),
    "an operation": lambda d: d["paths"]["/api/v1/application"].pop("post"),
    "a parameter": lambda d: operation(d, "/store").pop("parameters"),
    "a required parameter": lambda d: operation(d, "/store")["parameters"].append(
        {"in": "query", "name": "new", "required": True, "schema": {"type": "string"}}
    ),
    "a member of an answer": lambda d: d["components"]["schemas"]["Order"]["properties"].pop("Total"),
    "a member that may be absent": lambda d: d["components"]["schemas"]["Order"]["required"].remove("Total"),
    "a member that may be null": lambda d: d["components"]["schemas"]["Order"]["properties"].update(
        Total={"type": ["number", "null"]}
    ),
    "a member of a request": lambda d: d["components"]["schemas"]["OrderRequest"]["properties"].pop("Items"),
    "a required member": lambda d: d["components"]["schemas"]["OrderRequest"]["required"].append("QuoteID"),
    "a null refused": lambda d: d["components"]["schemas"]["OrderRequest"]["properties"]["QuoteID"].update(
        type="string"
    ),
    "a narrower bound": lambda d: d["components"]["schemas"]["ApplicationRequest"]["properties"][
        "Name"
    ].update(maxLength=10),
    "a value": lambda d: d["components"]["schemas"]["StatusNameEnum"]["enum"].remove("Shipped"),
    "an event": lambda d: d["webhooks"].pop("order.shipped"),
    "an answer": lambda d: operation(d, "/store")["responses"].pop("200"),
    "a media type": lambda d: operation(d, "/store/{storeID}/order/exportview")["responses"]["200"][
        "content"
    ].pop("text/csv"),
}


@pytest.mark.parametrize("change", BREAKING)
def test_member_clients_rely_on_cannot_be_removed(change):
    after = deepcopy(read("openapi.yml"))
    BREAKING[change](after)

    assert breaking_changes(read("openapi.yml"), after)


def test_additions_break_nothing():
    after = deepcopy(read("openapi.yml"))
    schemas = after["components"]["schemas"]
    schemas["Order"]["properties"]["IsTest"] = {"type": "boolean"}
    schemas["Order"]["required"].append("IsTest")
    schemas["OrderRequest"]["properties"]["Color"] = {"type": "string"}
    schemas["StatusNameEnum"]["enum"].append("Archived")
    after["paths"]["/api/v1/new"] = {"get": operation(after, "/store")}

    assert breaking_changes(read("openapi.yml"), after) == []
