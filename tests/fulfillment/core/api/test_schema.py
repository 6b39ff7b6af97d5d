"""The published description: the committed file is the reviewed one, and it says what is enforced."""

import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonschema_rs
import pytest
import yaml
from django.core.management import call_command
from django.utils import translation
from drf_spectacular import validation
from jsonschema import Draft202012Validator

from applications.webhooks.event_types import EventType
from fulfillment.core.api import schema
from fulfillment.core.api.schema import access_text, schema_document
from tests.support.api.access_scene import operations

GOLDEN = Path(__file__).resolve().parents[3] / "openapi.yml"


@pytest.fixture(scope="module")
def document():
    return schema_document()


def read(text):
    return yaml.load(text, Loader=yaml.CSafeLoader)


def described(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in {"get", "post", "put", "patch", "delete"}:
                yield f"{method.upper()} {path}", operation


@pytest.mark.slow
def test_schema_is_valid_and_equals_the_committed_file(tmp_path):
    fresh = tmp_path / "openapi.yml"
    call_command("spectacular", file=str(fresh), fail_on_warn=True)
    written = read(fresh.read_text())

    assert written == read(GOLDEN.read_text()), (
        "The API changed: run `make schema` and review the difference."
    )
    # As `make schema` does, in a hundredth of its time.
    rules = Path(validation.__file__).with_name("openapi_3_1_schema.json")
    jsonschema_rs.validate(json.loads(rules.read_text()), written)


def test_schema_is_in_english_if_a_german_page_needs_it_first(monkeypatch):
    languages = []

    class Generator:
        def get_schema(self, **options):
            languages.append(translation.get_language())
            return {}

    monkeypatch.setattr(schema, "SchemaGenerator", Generator)
    forget_schema()
    try:
        with translation.override("de"):
            schema.schema_document()
    finally:
        forget_schema()

    assert languages == ["en"]


def test_parallel_first_requests_generate_the_schema_once(monkeypatch, rf):
    """Generators at work at the same time raise errors of each other."""
    generated, at_once = [], threading.Barrier(8)

    class SlowGenerator:
        def get_schema(self, **options):
            generated.append(threading.get_ident())
            time.sleep(0.2)
            return {"openapi": "3.1.0"}

    def ask(number):
        at_once.wait()
        return schema.serve_schema(rf.get("/api/v1/schema", {"format": ("json", "yaml")[number % 2]}))

    monkeypatch.setattr(schema, "SchemaGenerator", SlowGenerator)
    forget_schema()
    try:
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(ask, range(8)))
    finally:
        forget_schema()

    assert [response.status_code for response in answers] == [200] * 8
    assert len(generated) == 1


def forget_schema():
    schema._generated_document.cache_clear()
    schema._schema_bytes.cache_clear()


def test_everything_that_creates_takes_an_idempotency_key(document):
    creating = {
        name: operation
        for name, operation in described(document)
        if name.startswith("POST ") and (name.endswith("/user") or "201" in operation["responses"])
    }
    keyed = {
        name: "Idempotency-Key" in {parameter["name"] for parameter in operation.get("parameters", ())}
        for name, operation in creating.items()
    }
    things = ("application", "association", "asset", "order", "quote", "user", "webhook")
    missing = [thing for thing in things if not any(name.endswith(f"/{thing}") for name in keyed)]

    assert [name for name, takes_key in keyed.items() if not takes_key] == []
    assert missing == []


def test_schema_is_openapi_3_1(document):
    assert document["openapi"].startswith("3.1")
    # That one is validated, above.
    assert json.loads(json.dumps(document)) == read(GOLDEN.read_text())


def test_every_operation_is_described(document):
    assert len(list(described(document))) == len(list(operations()))
    for name, operation in described(document):
        assert operation["summary"], name
        assert "Who may call it" in operation["description"], name
        assert {"SubscriptionKey", "OAuth2"} <= {scheme for each in operation["security"] for scheme in each}
        assert {"400", "401", "403", "503"} <= set(operation["responses"]), name
        assert operation["responses"]["401"]["content"].keys() == {"application/problem+json"}


def test_every_json_answer_and_body_has_an_example(document):
    for name, operation in described(document):
        bodies = [operation["requestBody"]] if "requestBody" in operation else []
        bodies += [response for status, response in operation["responses"].items() if status.startswith("2")]
        for body in bodies:
            content = body.get("content", {}).get("application/json")
            assert content is None or content.get("examples"), name


def test_permission_texts_come_from_the_declarations(document):
    texts = {
        operation["description"].split("**Who may call it.**")[1] for _, operation in described(document)
    }
    declared = {access_text(access).split("**Who may call it.**")[1] for _, _, access in operations()}

    assert texts == declared


def test_schema_is_served_as_json_and_yaml_with_etag(db, client):
    response = client.get("/api/v1/schema")
    again = client.get("/api/v1/schema", headers={"If-None-Match": response["ETag"]})
    as_yaml = client.get("/api/v1/schema?format=yaml")

    assert response.json()["info"]["title"] == "Store Fulfillment API"
    assert (again.status_code, again.content) == (304, b"")
    assert read(as_yaml.content)["openapi"].startswith("3.1")


def member(document, schema, pointer):
    """The schema of what a JSON pointer leads to."""
    for token in pointer.split("/"):
        while "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        schema = schema["items"] if token == "0" else schema["properties"][token]
    return schema


def leads(document):
    """Each link with the operation it stands at, the answer, and the operation it leads to."""
    targets = {operation["operationId"]: operation for _, operation in described(document)}
    for _, operation in described(document):
        for response in operation["responses"].values():
            for reference in response.get("links", {}).values():
                link = document["components"]["links"][reference["$ref"].rpartition("/")[2]]
                yield operation, response, link, targets[link["operationId"]]


def test_links_name_parameters_there_are_and_values_the_answer_has(document):
    for operation, response, link, target in leads(document):
        named = link.get("parameters", {})
        parameters = (
            {parameter["name"]: parameter for parameter in target["parameters"]}
            if "parameters" in target
            else {}
        )
        assert named.keys() <= parameters.keys()
        assert {name for name, parameter in parameters.items() if parameter["in"] == "path"} <= named.keys()
        schema = response["content"]["application/json"]["schema"]
        for value in named.values():
            source, _, pointer = value.partition("#/")
            if source == "$response.body":
                assert member(document, schema, pointer)
            elif source == "$response.header.ETag":
                assert response["headers"]["ETag"]["required"]
            else:
                assert source.removeprefix("$request.path.") in {
                    parameter["name"] for parameter in operation["parameters"]
                }


def test_nearly_every_operation_is_linked_from_or_to_another(document):
    leading = {operation["operationId"] for operation, *_ in leads(document)}
    reached = {target["operationId"] for *_, target in leads(document)}
    every = {operation["operationId"] for _, operation in described(document)}

    assert every - leading - reached == {"delivery_eddm_list", "user_emails"}


def test_path_parameters_come_in_the_order_of_the_path_and_read_as_in_the_documents(document):
    for name, operation in described(document):
        listed = [
            parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "path"
        ]
        assert listed == re.findall(r"{(\w+)}", name), name
        assert "_" not in "".join(listed)


def test_bodies_of_links_are_no_objects(document):
    """Generators refuse them."""
    links = document["components"]["links"].values()

    assert all(isinstance(link.get("requestBody", ""), str) for link in links)
    assert any("x-requestBody" in link for link in links)


def test_optional_members_of_requests_take_null_and_required_ones_do_not(document):
    schemas = document["components"]["schemas"]
    request = schemas["ApplicationRequest"]

    assert request["properties"]["ReplyUrls"]["type"] == ["array", "null"]
    assert request["properties"]["Name"]["type"] == "string"
    assert {"type": "null"} in schemas["RecipientRequest"]["properties"]["LocationType"]["oneOf"]
    assert {"type": "null"} in schemas["RecipientRequest"]["properties"]["Email"]["anyOf"]
    assert "x-takes-null" not in str(document)


def test_schemas_are_named_and_described_for_callers(document):
    schemas = document["components"]["schemas"]

    assert [name for name in schemas if "RequestRequest" in name or name.startswith("Patched")] == []
    assert [name for name, schema in schemas.items() if "anyOf" in schema and "properties" in schema] == []
    assert "verbose_members" not in str(document)
    assert "Only what is to change" not in schemas["WebhookRequest"]["description"]
    assert all(tag["description"] for tag in document["tags"])
    assert document["info"]["license"]["name"]
    assert document["info"]["contact"]["url"]
    assert document["servers"][0]["url"].startswith("http")


def test_every_event_is_a_webhook_with_its_own_payload(document):
    schemas = document["components"]["schemas"]
    mapping = schemas["Event"]["discriminator"]["mapping"]

    assert set(document["webhooks"]) == set(mapping) == set(EventType.values)
    for name, reference in mapping.items():
        assert document["webhooks"][name] == {"$ref": f"#/components/pathItems/{name}"}
        item = document["components"]["pathItems"][name]
        body = item["post"]["requestBody"]["content"]["application/json"]["schema"]
        event = schemas[reference.rpartition("/")[2]]
        assert body == {"$ref": reference}
        kind = event["properties"]["Type"]["$ref"].rpartition("/")[2]
        assert name in schemas[kind]["enum"]
        assert event["properties"]["Data"]["$ref"].endswith("EventData")


def test_other_media_types_are_not_described_as_json(document):
    operations = {operation["operationId"]: operation for _, operation in described(document)}
    exported = operations["order_exportview"]["responses"]["200"]["content"]

    assert exported["text/csv"]["schema"] == {"type": "string"}
    for name, more in (("asset_create", ["application/pdf"]), ("application_icon_set", [])):
        content = operations[name]["requestBody"]["content"]
        assert list(content) == ["multipart/form-data", "image/*", *more]
        assert "$ref" in content["multipart/form-data"]["schema"]


def test_examples_match_their_schema(document):
    """Also those of the events, which linters of others refuse as errors."""
    examined = 0
    for path, media in media_of(document, ""):
        rule = Draft202012Validator({**media["schema"], "components": document["components"]})
        for name, example in media["examples"].items():
            faults = [f"{fault.json_path}: {fault.message}" for fault in rule.iter_errors(example["value"])]
            assert faults == [], f"{path} {name}"
            examined += 1
    assert examined > 80


def media_of(node, path):
    """Every schema that has examples."""
    if isinstance(node, dict):
        if "schema" in node and "examples" in node:
            yield path, node
        for name, inner in node.items():
            yield from media_of(inner, f"{path}/{name}")
    elif isinstance(node, list):
        for inner in node:
            yield from media_of(inner, path)
