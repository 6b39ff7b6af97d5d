"""Errors as a Sentry gets them and traces as a collector gets them; where requirements/optional.txt is installed."""

import importlib
import json
import subprocess
import sys
import time
from itertools import pairwise

import pytest
import requests
from django.db import connection

from fulfillment.core.observability.telemetry import MASK, _without_secrets
from tests.factories.orders import make_product, order_body
from tests.support.database.address import address_of
from tests.support.patience import PATIENCE
from tests.support.scenario import build_world
from tests.support.servers.collector import Collector, collecting
from tests.support.servers.live_server import ROOT, served_environment, serving

pytestmark = pytest.mark.django_db(transaction=True)
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture
def collector():
    with collecting() as spans:
        yield spans


@pytest.fixture
def broken_table():
    """Orders can be neither read nor written."""
    change = "ALTER TABLE {} RENAME TO {}"
    names = ("stores_order", "stores_order_away")
    with connection.cursor() as cursor:
        cursor.execute(change.format(*names))
    yield
    with connection.cursor() as cursor:
        cursor.execute(change.format(*reversed(names)))


def events_of(collector: Collector) -> list[dict]:
    """An envelope is lines of JSON: its own header, then a header and a body for each item."""
    events = []
    for path, body in collector.received:
        lines = body.splitlines()
        if path.startswith("/api/7/envelope"):
            events += [json.loads(b) for a, b in pairwise(lines) if b'"type":"event"' in a]
    return events


@pytest.mark.slow
def test_errors_reach_sentry_once_each_without_personal_data_or_secrets(tmp_path, collector, broken_table):
    pytest.importorskip("sentry_sdk")
    world = build_world()
    make_product(world.associated)
    client = world.as_application()
    body = order_body()
    body["Recipient"] = body["Recipient"] | {"Name": "Canary Bird", "Company": "canary@nest.example"}
    headers = client.credentials | {
        "Idempotency-Key": "canary-key-of-the-client",
        "Referer": "http://127.0.0.1/?email=canary@nest.example",
        "X-Forwarded-For": "198.51.100.77",
        "Cookie": "sessionid=canary-session",
    }
    with serving(tmp_path, SENTRY_DSN=f"http://public@127.0.0.1:{collector.port}/7") as served:
        orders = f"{served.url}/api/v1/store/associated/order"
        written = requests.post(orders, json=body, headers=headers, timeout=PATIENCE)
        collector.wait_for(lambda path, body: b'"type":"event"' in body and b'"POST"' in body)
        read = requests.get(
            f"{orders}/exportview?externalID=canary-of-the-query", headers=headers, timeout=PATIENCE
        )
        collector.wait_for(lambda path, body: b'"type":"event"' in body and b'"GET"' in body)

    for response in (written, read):
        assert (response.status_code, response.json()["Code"]) == (500, "internal_error")
    events = events_of(collector)
    content = b"".join(body for _, body in collector.received).decode()
    assert [(sent_event["request"]["method"], sent_event["request"]["url"]) for sent_event in events] == [
        ("POST", orders),
        ("GET", f"{orders}/exportview"),
    ]
    for event in events:
        error = event["exception"]["values"][-1]
        assert "stores_order" in error["value"]
        assert error["stacktrace"]["frames"]
    for kept in (
        "canary",
        "Canary",
        "198.51.100.77",
        client.token,
        client.key,
        body["Recipient"]["Address1"],
    ):
        assert kept not in content


PROVOKED = """
import logging, os, sys
import django
django.setup()
from fulfillment.core.observability.telemetry import start_telemetry
start_telemetry()
import sentry_sdk
from django.contrib.auth.hashers import make_password
from django.db import connection
from psycopg import sql

token, key, password, name, email, cookie = sys.argv[1].split("|")

def fail(recipient, secret):
    local_token, local_name = token, recipient["Name"]
    logging.getLogger("fulfillment.canary").warning("order for %s <%s> with %s", name, email, token)
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s, %s", [name, email])
        cursor.execute(sql.SQL("SELECT {}").format(sql.Literal(name)))
    said = f"password={password} Ocp-Apim-Subscription-Key: {key} {email} "
    raise RuntimeError(said + f"Bearer {token} sessionid={cookie}")

try:
    fail({"Name": name, "Email": email}, password)
except RuntimeError:
    logging.getLogger("fulfillment.canary").exception("It failed for %s with password=%s", email, password)
sentry_sdk.flush(100)
"""


@pytest.mark.slow
def test_error_of_a_command_hides_variables_statements_log_lines_and_arguments(collector):
    pytest.importorskip("sentry_sdk")
    canaries = [
        "sf_at_canarytoken0123456789abcdefghijk",
        "sfs_canarykey0123456789abcdefghijklmno",
        "canary-pass-phrase",
        "Canary Featherstone",
        "canary@nest.example",
        "canarysession0123456789",
    ]
    dsn = f"http://public@127.0.0.1:{collector.port}/7"
    environment = served_environment("http://127.0.0.1:8000", address_of()) | {"SENTRY_DSN": dsn}

    result = subprocess.run(
        [sys.executable, "-c", PROVOKED, "|".join(canaries)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    collector.wait_for(lambda path, body: b'"type":"event"' in body)

    assert result.returncode == 0, result.stderr
    (event,) = events_of(collector)
    frames = event["exception"]["values"][-1]["stacktrace"]["frames"]
    assert "fail" in {frame["function"] for frame in frames}
    assert all("vars" not in frame for frame in frames)
    assert not event.get("breadcrumbs")
    content = b"".join(body for _, body in collector.received).decode()
    assert [canary for canary in canaries if canary in content] == []


def test_refusal_by_the_database_is_sent_without_the_row():
    said = (
        'duplicate key value violates unique constraint "x"\nDETAIL:  Key (email)=(Ada Lovelace) already exists.\n'
        "CONTEXT:  line 3"
    )
    event = {
        "exception": {"values": [{"value": said}]},
        "message": "mail to ada@print.example failed",
        "user": {"ip_address": "198.51.100.77"},
        "request": {"url": "http://x/a?b=c", "headers": {"Forwarded": "for=198.51.100.77", "Accept": "*/*"}},
    }

    cleaned = _without_secrets(event, {})

    assert cleaned == {
        "exception": {
            "values": [{"value": 'duplicate key value violates unique constraint "x"\nDETAIL: ***'}]
        },
        "message": "mail to *** failed",
        "request": {"url": "http://x/a", "headers": {"Forwarded": "***", "Accept": "*/*"}},
    }


def spans_of(collector: Collector) -> list:
    name = "opentelemetry.proto.collector.trace.v1.trace_service_pb2"
    export = importlib.import_module(name).ExportTraceServiceRequest

    return [
        span
        for path, body in list(collector.received)
        if path == "/v1/traces"
        for resource in export.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


@pytest.mark.slow
def test_trace_continues_from_the_caller_through_the_service_to_the_database(tmp_path, collector):
    pytest.importorskip("opentelemetry.instrumentation.django")
    world = build_world()
    client = world.as_application()
    headers = client.credentials | {"X-Forwarded-For": "198.51.100.77"}
    path = "/api/v1/store/associated/order/exportview?externalID=canary-of-the-query"
    endpoint = f"http://127.0.0.1:{collector.port}"
    with serving(
        tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, OTEL_BSP_SCHEDULE_DELAY="200", LOG_FORMAT="json"
    ) as served:
        requested = {"traceparent": f"00-{TRACE}-{SPAN}-01"}
        traced = requests.get(served.url + path, headers=headers | requested, timeout=PATIENCE)
        own = requests.get(served.url + path, headers=headers, timeout=PATIENCE)
        its_trace = own.headers["traceparent"].split("-")[1]
        for trace in (TRACE, its_trace):
            collector.wait_for(lambda path, body, trace=trace: bytes.fromhex(trace) in body)
    spans = spans_of(collector)

    assert (traced.status_code, own.status_code) == (200, 200)
    _, trace, span, _ = traced.headers["traceparent"].split("-")
    assert trace == TRACE
    (server,) = [
        candidate
        for candidate in spans
        if candidate.trace_id.hex() == TRACE and candidate.parent_span_id.hex() == SPAN
    ]
    assert server.span_id.hex() == span
    statements = [
        candidate for candidate in spans if candidate.trace_id.hex() == TRACE and candidate is not server
    ]
    texts = [
        each.value.string_value
        for statement in statements
        for each in statement.attributes
        if each.key == "db.statement"
    ]
    assert any("FROM stores_order" in text for text in texts), texts
    assert {statement.parent_span_id.hex() for statement in statements} == {span}
    reported = "".join(map(str, spans))
    for kept in ("canary", "Canary", "198.51.100.77", client.token, client.key):
        assert kept not in reported


@pytest.mark.slow
def test_tracing_changes_nothing_for_probes_and_refuses_foreign_hosts_as_ever(tmp_path, collector):
    """A load balancer asks each machine by its own address."""
    pytest.importorskip("opentelemetry.instrumentation.django")
    world = build_world()
    client = world.as_application()
    foreign = {"Host": "10.1.2.3:8000"}
    paths = ("/healthz", "/readyz?worker=0", "/metrics", "/guide", "/api/v1/store/associated")
    answers = []
    for variables in ({}, {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.port}"}):
        with serving(tmp_path, **variables, METRICS_NETWORKS="127.0.0.0/8") as served:
            responses = [requests.get(served.url + path, headers=foreign, timeout=PATIENCE) for path in paths]
            own = requests.get(
                f"{served.url}/api/v1/store/associated", headers=client.credentials, timeout=PATIENCE
            )
        answers.append([(response.status_code, sorted(response.headers)) for response in (*responses, own)])
        assert [response.status_code for response in responses] == [200, 200, 200, 400, 400]
        assert all("traceparent" in response.headers for response in responses)
        assert own.status_code == 200

    assert answers[0] == answers[1]


def test_long_word_in_an_event_costs_no_time():
    began = time.process_time()
    cleaned = _without_secrets({"message": "a" * 60_000 + " ada@print.example+dana@print.example"}, {})

    assert cleaned == {"message": "a" * 60_000 + f" {MASK}{MASK}"}
    assert time.process_time() - began < 2
