"""What the generator makes of the description, and that it leaves nothing out in silence."""

import copy

import pytest
import yaml

from clients.build import SCHEMA
from clients.generator import python, typescript
from clients.generator.document import NotUnderstood, document_of


@pytest.fixture(scope="module")
def description():
    return yaml.load(SCHEMA.read_text(), Loader=yaml.CSafeLoader)


@pytest.fixture(scope="module")
def operations(description):
    return document_of(description).operations


@pytest.fixture
def described(description):
    """Reads the description after a change of it."""

    def read(change):
        document = copy.deepcopy(description)
        change(document)
        return document_of(document)

    return read


def test_operations_have_short_names_in_groups(operations):
    names = {f"{one.group}.{one.name}" for one in operations}

    assert {
        "applications.regenerate_key",
        "assets.create",
        "events.list",
        "orders.cancel",
        "orders.create",
        "orders.export",
        "products.list",
        "proofs.create",
        "users.me",
        "webhooks.rotate_secret",
    } <= names


def test_post_is_repeatable_only_with_a_key_or_by_name(operations):
    posts = {one.id: one for one in operations if one.method in {"POST", "PATCH"}}

    assert posts["order_create"].is_repeatable
    assert posts["proof_create"].is_repeatable
    for name in ("order_advance", "order_status", "application_key_regenerate", "application_change"):
        assert not posts[name].is_repeatable, name


def test_unknown_headers_bodies_and_objects_are_errors(described):
    order = ("/api/v1/store/{storeID}/order", "post")

    def add_header(document):
        operation = document["paths"][order[0]][order[1]]
        operation["parameters"].append({"in": "header", "name": "X-Odd", "schema": {"type": "string"}})

    def change_body(document):
        operation = document["paths"][order[0]][order[1]]
        operation["requestBody"]["content"] = {"text/plain": {"schema": {"type": "string"}}}

    for change in (add_header, change_body):
        with pytest.raises(NotUnderstood, match="order_create"):
            described(change)
    unnamed = {"type": "object", "properties": {"A": {"type": "string"}}}
    for writer in (python, typescript):
        with pytest.raises(NotUnderstood):
            writer.kind_of(unnamed)
        assert writer.kind_of({"type": ["string", "null"]}).split(" | ")[1] in {"None", "null"}
