"""The alert rules and the dashboard of docs/deploy/monitoring, with Prometheus itself."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import requests
import yaml
from django.conf import settings

from fulfillment.core.observability import instruments
from fulfillment.core.plugins import offered_values
from fulfillment.site.metrics import GAUGES
from tests.support.patience import PATIENCE, wait_for
from tests.support.scenario import build_world
from tests.support.servers.live_server import serving
from tests.support.servers.ports import free_port
from tests.support.servers.proxies import require_program

FOLDER = Path(settings.BASE_DIR) / "docs/deploy/monitoring"
TOKEN = "a-token-of-the-metrics-0123456789-abcdef"
READ = 'method="GET",route="api/v1/store/<str:store_id>",caller="application"'
ORDER = 'method="POST",route="api/v1/store/<str:store_id>/order",caller="application"'
PARTS = ("migrations", "storage", "temporary", "process", "names", "clock")
REFUSED = ("full", "connections", "other")
# A healthy hour: the value of each series in every minute.
HEALTHY = {
    'up{job="fulfillment",instance="web"}': "1x90",
    "fulfillment_database_up": "1x90",
    **{f'fulfillment_check_ok{{check="{part}"}}': "1x90" for part in PARTS},
    **{f'fulfillment_database_refusals_total{{reason="{reason}"}}': "2x90" for reason in REFUSED},
    'fulfillment_queue_retried{queue="mail"}': "0x90",
    "fulfillment_files_free_ratio": "0.4x90",
    "fulfillment_workers_alive": "2x90",
    'fulfillment_queue_oldest_seconds{queue="mail"}': "1x90",
    'fulfillment_queue_failed{queue="mail"}': "3x90",
    "fulfillment_deliveries_oldest_seconds": "2x90",
    "fulfillment_print_jobs_oldest_seconds": "5x90",
    "fulfillment_print_jobs_failed": "4x90",
    "fulfillment_print_providers_failing": "0x90",
    "fulfillment_budget_balances_wrong": "0x90",
    "fulfillment_drill_passed_seconds": "500000+60x90",
    f'fulfillment_requests_total{{{READ},status="200"}}': "0+6000x90",
    f'fulfillment_requests_total{{{READ},status="500"}}': "0+0x90",
    f'fulfillment_request_seconds_bucket{{{READ},le="0.1"}}': "0+6000x90",
    f"fulfillment_request_seconds_count{{{READ}}}": "0+6000x90",
    f'fulfillment_request_seconds_bucket{{{ORDER},le="0.5"}}': "0+600x90",
    f"fulfillment_request_seconds_count{{{ORDER}}}": "0+600x90",
}
# What each fault changes from the 60th minute on, after the same healthy hour.
FAULTS = {
    "ServiceDown": {'up{job="fulfillment",instance="web"}': "1x59 0x30"},
    "DatabaseDown": {"fulfillment_database_up": "1x59 0x30"},
    "DatabaseFull": {'fulfillment_database_refusals_total{reason="full"}': "2x59 8+6x30"},
    "NoConnections": {'fulfillment_database_refusals_total{reason="connections"}': "2x59 8+6x30"},
    "MigrationsMissing": {'fulfillment_check_ok{check="migrations"}': "1x59 0x30"},
    "StorageFails": {'fulfillment_check_ok{check="storage"}': "1x59 0x30"},
    "FilesNearlyFull": {"fulfillment_files_free_ratio": "0.11x59 0.09x30"},
    "TemporaryFull": {'fulfillment_check_ok{check="temporary"}': "1x59 0x30"},
    "ProcessShort": {'fulfillment_check_ok{check="process"}': "1x59 0x30"},
    "NamesNotFound": {'fulfillment_check_ok{check="names"}': "1x59 0x30"},
    "ClockWrong": {'fulfillment_check_ok{check="clock"}': "1x59 0x30"},
    "JobsRetried": {'fulfillment_queue_retried{queue="mail"}': "0x59 1x30"},
    "NoWorker": {"fulfillment_workers_alive": "2x59 0x30"},
    "JobsWait": {'fulfillment_queue_oldest_seconds{queue="mail"}': "1x59 180+60x30"},
    "JobsFailed": {'fulfillment_queue_failed{queue="mail"}': "3x59 4x30"},
    "WebhooksLate": {"fulfillment_deliveries_oldest_seconds": "2x59 60+60x30"},
    "PrintJobsLate": {"fulfillment_print_jobs_oldest_seconds": "5x59 360+60x30"},
    "PrintProviderFailing": {"fulfillment_print_providers_failing": "0x59 1x30"},
    "PrintJobsFailed": {"fulfillment_print_jobs_failed": "4x59 5x30"},
    "BudgetBalancesWrong": {"fulfillment_budget_balances_wrong": "0x59 1x30"},
    # Eight days are 691,200 seconds.
    "DrillOverdue": {"fulfillment_drill_passed_seconds": "600000x59 691201+60x30"},
    # The whole service fails: of 6,000 requests a minute each one.
    "ErrorBudgetBurns": {f'fulfillment_requests_total{{{READ},status="500"}}': "0x59 6000+6000x30"},
    "ReadsSlow": {f'fulfillment_request_seconds_bucket{{{READ},le="0.1"}}': "0+6000x59 354000x30"},
    "OrdersSlow": {f'fulfillment_request_seconds_bucket{{{ORDER},le="0.5"}}': "0+600x59 35400x30"},
}


def rules():
    groups = yaml.safe_load((FOLDER / "alerts.yml").read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def queries():
    panels = json.loads((FOLDER / "dashboard.json").read_text("utf-8"))["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def test_rules_and_dashboard_name_metrics_that_the_service_has():
    gauges = [*GAUGES, *offered_values("metrics", "GAUGES")]
    exported = {f"fulfillment_{name}" for gauge in gauges for name in gauge.texts}
    exported |= {"fulfillment_database_up", "fulfillment_check_ok", "fulfillment_files_free_ratio"}
    for name in ("requests", "request_seconds", "refusals", "render_seconds", "database_refusals"):
        family = getattr(instruments, name)
        exported |= {f"{family._name}{ending}" for ending in ("_total", "_bucket", "_count")}
    used = " ".join([*(rule["expr"] for rule in rules()), *queries()])

    assert set(re.findall(r"\bfulfillment_\w+", used)) - exported == set()
    assert {rule["alert"] for rule in rules() if "alert" in rule} == set(FAULTS)


def test_every_alert_is_among_the_incidents():
    page = (Path(settings.BASE_DIR) / "docs/operating/incidents.md").read_text("utf-8")

    assert [name for name in FAULTS if f"`{name}`" not in page] == []


def test_incidents_show_the_severity_of_every_alert():
    page = (Path(settings.BASE_DIR) / "docs/operating/incidents.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[\w`, ]+`) \| `(page|ticket)` \|", page, re.M)

    shown = {name: severity for names, severity in rows for name in re.findall(r"\w+", names)}

    assert shown == {rule["alert"]: rule["labels"]["severity"] for rule in rules() if "alert" in rule}


# What `make soak ARGS="--only faults"` read from /metrics of the running service before and during each fault.
RECORDED = json.loads((Path(__file__).parent / "data" / "fault_metrics.json").read_text("utf-8"))
ALERTS = {
    "the disk of the database is full": "DatabaseFull",
    "the disk of the files is full": "StorageFails",
    "the disk of temporary files is full": "TemporaryFull",
    "names are not found": "NamesNotFound",
    "the mail server is unreachable": "JobsRetried",
    "PostgreSQL is at max_connections": "NoConnections",
    "no file can be opened": "ProcessShort",
    "the memory of a process is used up": "ProcessShort",
    "the bucket is slow": "StorageFails",
    "the bucket refuses requests": "StorageFails",
    "the bucket is unreachable": "StorageFails",
    "the clock is two hours ahead": "ClockWrong",
    "the clock is two hours behind": "ClockWrong",
}


def recorded_series(metric):
    """An hour as before the fault, then as during it; with the traffic of the healthy hour, answered as it was."""
    series = {name: values for name, values in HEALTHY.items() if name.startswith("fulfillment_request")}
    before, during = metric["before"], metric["metrics"]
    for name in before.keys() | during.keys():
        labelled = name.replace("{", '{instance="web",', 1) if "{" in name else f'{name}{{instance="web"}}'
        was, is_now = before.get(name), during.get(name)
        first = "_x59" if was is None else f"{was}x59"
        then = "_x30" if is_now is None else f"{is_now}x30"
        if "_total" in name and is_now is not None:
            then = f"{is_now}+{is_now - (was or 0)}x30"
        series[labelled] = f"{first} {then}"
    series['up{job="fulfillment",instance="web"}'] = "1x59 1x30" if during else "1x59 0x30"
    if metric["reads"] == "503":
        series[f'fulfillment_requests_total{{{READ},status="503"}}'] = "0x59 6000+6000x30"
    return series


def promtool(tmp_path, tests):
    """Runs the tests: (series, alert that must fire after two minutes; none may before, and no other)."""
    require_program("promtool", package="prometheus")
    shutil.copy(FOLDER / "alerts.yml", tmp_path)
    documents = []
    for series, expected in tests:
        before = [{"eval_time": "59m", "alertname": name, "exp_alerts": []} for name in FAULTS]
        others = [
            {"eval_time": "62m", "alertname": name, "exp_alerts": []} for name in FAULTS if name != expected
        ]
        own = {"expr": f'count(ALERTS{{alertname="{expected}",alertstate="firing"}})', "eval_time": "62m"}
        documents.append(
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "alert_rule_test": [*before, *others],
                "promql_expr_test": [{**own, "exp_samples": [{"labels": "{}", "value": 1}]}],
            }
        )
    document = {"rule_files": ["alerts.yml"], "evaluation_interval": "1m", "tests": documents}
    # Which is YAML as well, and is written much faster.
    (tmp_path / "test.yml").write_text(json.dumps(document), "utf-8")
    result = subprocess.run(
        ["promtool", "test", "rules", "test.yml"], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_each_fault_raises_its_alert_within_two_minutes_and_no_other(tmp_path):
    promtool(tmp_path, [({**HEALTHY, **changes}, fault) for fault, changes in FAULTS.items()])


@pytest.mark.slow
def test_recorded_fault_raises_its_alert_within_two_minutes_and_no_other(tmp_path):
    promtool(tmp_path, [(recorded_series(RECORDED[fault]), alert) for fault, alert in ALERTS.items()])


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_prometheus_answers_every_query_of_the_dashboard(tmp_path):
    require_program("prometheus")
    world, port = build_world(), free_port()
    client = world.as_application()
    with serving(tmp_path, METRICS_TOKEN=TOKEN, TMPDIR=str(tmp_path)) as served:
        _read_often(served.url, client)
        config = yaml.safe_load((FOLDER / "prometheus.yml").read_text("utf-8"))
        config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        config["scrape_configs"][0]["static_configs"] = [{"targets": [served.url.removeprefix("http://")]}]
        (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config), "utf-8")
        (tmp_path / "token").write_text(TOKEN, "utf-8")
        shutil.copy(FOLDER / "alerts.yml", tmp_path)
        command = ["prometheus", f"--web.listen-address=127.0.0.1:{port}", "--storage.tsdb.path=data"]
        with (tmp_path / "prometheus.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "--config.file=prometheus.yml"], cwd=tmp_path, stdout=log, stderr=log
            )
        try:
            address = f"http://127.0.0.1:{port}/api/v1"
            wait_for(lambda: _value(address, 'rate(fulfillment_requests_total{status="200"}[1m])'), PATIENCE)
            answers = {query: _answer(address, query) for query in queries()}
            loaded = requests.get(f"{address}/rules", timeout=PATIENCE).json()["data"]["groups"]
        finally:
            process.terminate()
            process.wait(PATIENCE)

    assert [query for query, response in answers.items() if response["status"] != "success"] == []
    assert answers["max(fulfillment_workers_alive)"]["data"]["result"][0]["value"][1] == "0"
    assert sum(len(group["rules"]) for group in loaded) == len(rules())


def _read_often(url, client):
    headers = client.credentials
    for _ in range(10):
        requests.get(f"{url}/api/v1/store/associated", headers=headers, timeout=PATIENCE)


def _answer(address, query):
    return requests.get(f"{address}/query", params={"query": query}, timeout=PATIENCE).json()


def _value(address, query):
    try:
        return _answer(address, query).get("data", {}).get("result")
    except (requests.ConnectionError, requests.JSONDecodeError):
        # It is starting.
        return None
