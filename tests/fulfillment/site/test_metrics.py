import re
import tempfile
from datetime import timedelta
from ipaddress import ip_network
from itertools import pairwise
from pathlib import Path

import pytest
import requests
from django.db import connection
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from accounts.models import Subscription
from applications.webhooks.models import Delivery
from fulfillment.core.observability.instruments import SECONDS
from tests.factories.templates import make_card
from tests.factories.webhooks import make_event, make_webhook
from tests.support.patience import PATIENCE, wait_for
from tests.support.scenario import build_world
from tests.support.servers.fault_proxy import Gate
from tests.support.servers.live_server import serving
from tests.support.servers.webhook_receiver import receiving
from tests.support.servers.workers import forget_jobs, working

TOKEN = "a-token-of-the-metrics-0123456789-abcdef"


def figure(text: str, name: str, **labels: str) -> float:
    """The value of one line, with any other labels; the sum of all that match."""
    total = 0.0
    for line in re.findall(rf"^{name}(?:{{.*}})? .*$", text, re.MULTILINE):
        if all(f'{label}="{value}"' in line for label, value in labels.items()):
            total += float(line.rsplit(" ", 1)[1])
    return total


def assert_described(text: str) -> None:
    """Prometheus reads it all, and each family says once, before its figures, in words what it is."""
    families = list(text_string_to_metric_families(text))
    assert {family.name for family in families} >= {"fulfillment_requests", "fulfillment_database_up"}
    for family in families:
        assert family.type in {"counter", "gauge", "histogram"}, family.name
        assert re.fullmatch(r"[A-Z][^\n]+ [^\n]+\.", family.documentation), (
            family.name,
            family.documentation,
        )
        assert text.count(f"# HELP {family.name} ") + text.count(f"# HELP {family.name}_total ") == 1
    assert len(families) == len({family.name for family in families})


def test_metrics_are_closed_unless_opened(db, client):
    assert client.get("/metrics").status_code == 404


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_one_process_reports_the_metrics_of_all(tmp_path):
    world = build_world()
    Subscription.objects.filter(application=world.application).update(requests_per_minute=40)
    client = world.as_application()
    headers = client.credentials
    with serving(tmp_path, workers=2, METRICS_TOKEN=TOKEN, TMPDIR=str(tmp_path)) as served:
        for _ in range(50):
            requests.get(f"{served.url}/api/v1/store/associated", headers=headers, timeout=PATIENCE)
        requests.get(f"{served.url}/nothing/{'x' * 40}", timeout=PATIENCE)
        refused = requests.get(f"{served.url}/metrics", timeout=PATIENCE)
        wrong = requests.get(
            f"{served.url}/metrics", headers={"Authorization": "Bearer no"}, timeout=PATIENCE
        )
        answers = [
            requests.get(
                f"{served.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE
            )
            for _ in range(6)
        ]

    assert (refused.status_code, wrong.status_code) == (401, 401)
    for response in answers:
        text = response.text
        known = {"route": "api/v1/store/<str:store_id>", "caller": "application"}
        assert figure(text, "fulfillment_requests_total", status="200", **known) == 40
        assert figure(text, "fulfillment_requests_total", status="429", **known) == 10
        assert figure(text, "fulfillment_request_seconds_count", **known) == 50
        assert figure(text, "fulfillment_rate_limit_refusals_total", policy="subscription") == 10
        assert figure(text, "fulfillment_requests_total", route="none", status="404") == 1
        assert figure(text, "fulfillment_database_up") == 1
        assert 0 < figure(text, "fulfillment_files_free_ratio") < 1
        assert "fulfillment_workers_alive 0.0" in text
        assert "fulfillment_deliveries_waiting 0.0" in text
        assert "xxxx" not in text
        assert_described(text)


def assert_measured(text: str, name: str, count: int, **labels: str) -> None:
    """A histogram of so many: its buckets lead up to them, and its sum lies where they say."""
    buckets = [figure(text, f"{name}_bucket", le=str(float(limit)), **labels) for limit in SECONDS]
    assert buckets == sorted(buckets)
    assert figure(text, f"{name}_bucket", le="+Inf", **labels) == count
    assert figure(text, f"{name}_count", **labels) == count
    reported, limits = figure(text, f"{name}_sum", **labels), (0.0, *SECONDS, float("inf"))
    held = [after - before for before, after in pairwise((0.0, *buckets, float(count)))]
    least = sum(number * limit for number, limit in zip(held, limits[:-1], strict=True))
    most = sum(number * limit for number, limit in zip(held, limits[1:], strict=True) if number)
    assert reported > 0
    assert least <= reported <= most


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_time_of_answers_and_proofs_is_reported_in_buckets(tmp_path):
    world = build_world()
    make_card(world.associated)
    client = world.as_application()
    headers = client.credentials
    address = "/api/v1/store/associated"
    with serving(tmp_path, METRICS_TOKEN=TOKEN, TMPDIR=str(tmp_path)) as served:

        def reported() -> str:
            requested = {"Authorization": f"Bearer {TOKEN}"}
            return requests.get(f"{served.url}/metrics", headers=requested, timeout=PATIENCE).text

        before = reported()
        # The third is the first again, kept and not made anew.
        for name in ("Ada", "Grace", "Ada"):
            response = requests.post(
                f"{served.url}{address}/product/card/proof",
                json={"Name": name},
                headers=headers,
                timeout=PATIENCE,
            )
            assert response.status_code == 200, response.text
        for _ in range(5):
            requests.get(f"{served.url}{address}", headers=headers, timeout=PATIENCE)
        after = reported()

    assert figure(before, "fulfillment_render_seconds_count") == 0
    assert_measured(after, "fulfillment_render_seconds", 2, kind="proof")
    stages = {
        "merge": 3,
        "pdf": 2,
        "png": 2,
        "sizes": 2,
        "hand-over": 2,
        "preflight": 2,
        "files": 2,
        "row": 2,
    }
    for stage, count in stages.items():
        assert_measured(after, "fulfillment_proof_stage_seconds", count, stage=stage)
    known = {"route": "api/v1/store/<str:store_id>", "caller": "application"}
    assert_measured(after, "fulfillment_request_seconds", 5, **known)
    assert_described(after)


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_web_reports_the_counts_and_backlog_of_workers(tmp_path, settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    world = build_world()
    forget_jobs()
    requested = {"Authorization": f"Bearer {TOKEN}"}
    with receiving() as receiver, serving(tmp_path, METRICS_TOKEN=TOKEN, TMPDIR=str(tmp_path)) as served:

        def reported(name: str, **labels: str) -> float:
            return figure(
                requests.get(f"{served.url}/metrics", headers=requested, timeout=PATIENCE).text,
                name,
                **labels,
            )

        make_webhook(world.application, receiver.url())
        make_webhook(world.application, receiver.url("/status/503"))
        make_event(world.application)
        Delivery.objects.update(next_try=timezone.now() - timedelta(seconds=100))
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO procrastinate_jobs (queue_name, task_name) VALUES ('default', 'x')")
        waiting = reported("fulfillment_queue_jobs"), reported("fulfillment_deliveries_waiting")
        ages = reported("fulfillment_queue_oldest_seconds"), reported("fulfillment_deliveries_oldest_seconds")
        with working():
            receiver.wait_for(2)
            wait_for(lambda: reported("fulfillment_delivery_attempts_5m", result="refused") >= 1)
            wait_for(lambda: reported("fulfillment_delivery_attempts_5m", result="delivered") == 1)
            alive = reported("fulfillment_workers_alive")
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, status) VALUES ('mail', 'x', 'failed')"
            )
        left = reported("fulfillment_deliveries_waiting"), reported("fulfillment_queue_failed", queue="mail")

    assert waiting[0] >= 1
    assert waiting[1] == 2
    # Beside other tests the answer may be late by as much as they wait.
    assert 0 <= ages[0] < PATIENCE
    assert 100 <= ages[1] < 100 + PATIENCE
    assert alive == 1
    assert left == (1, 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_database_that_is_away_is_a_metric_as_well(tmp_path):
    requested = {"Authorization": f"Bearer {TOKEN}"}
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        gate = Gate(Path(folder))
        gate.open()
        with serving(tmp_path, database=gate.url, METRICS_TOKEN=TOKEN, TMPDIR=str(tmp_path)) as served:
            gate.shut()
            response = requests.get(f"{served.url}/metrics", headers=requested, timeout=PATIENCE)
        gate.shut()

    assert response.status_code == 200
    assert "fulfillment_database_up 0.0" in response.text
    assert "fulfillment_requests_total" in response.text
    assert_described(response.text)


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_metrics_are_open_to_a_network_when_configured(tmp_path):
    with serving(tmp_path, METRICS_NETWORKS="127.0.0.0/8", TMPDIR=str(tmp_path)) as served:
        assert requests.get(f"{served.url}/metrics", timeout=PATIENCE).status_code == 200
