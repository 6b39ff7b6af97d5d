"""The service behind PgBouncer in transaction mode, as docs/deploy/ha configures it."""

import contextlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from accounts.demo import USER
from applications.demo import APPLICATION_ID, APPLICATION_KEY, APPLICATION_SUBSCRIPTION_KEY
from fulfillment.local.postgres_layout import find_host
from tests.support.cluster.programs import make_folder, pooled_url, require_packages, start_pgbouncer
from tests.support.database.tables import load_demo_catalog, load_tables
from tests.support.patience import PATIENCE, wait_for
from tests.support.servers.live_server import Served, serving
from tests.support.servers.ports import free_port
from tests.support.servers.postgres_server import ROOT, Restarted, own_postgres
from tests.support.servers.webhook_receiver import receiving

pytestmark = pytest.mark.slow

CARD = "business-card-standard"
MANY = 16
VALUES = {"Name": "Ada Lovelace", "Email": "ada@example.com"}
RECIPIENT = {
    "Name": "Dana Whitfield",
    "Address1": "1200 17th Street",
    "City": "Denver",
    "State": "CO",
    "PostalCode": "80202",
    "CountryCode": "US",
}
ITEM = {"ProductID": CARD, "Quantity": 500, "TemplateData": VALUES}
ADVISORY = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"


@dataclass
class Pooled:
    database: Restarted
    served: Served
    folder: Path
    variables: dict[str, str]

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> requests.Response:
        known = {
            "Authorization": f"Bearer {self.token}",
            "Ocp-Apim-Subscription-Key": APPLICATION_SUBSCRIPTION_KEY,
        }
        return requests.request(
            method,
            f"{self.served.url}/api/v1{path}",
            json=body,
            headers=known | {name.replace("_", "-"): value for name, value in headers.items()},
            timeout=PATIENCE,
        )

    def sign_in_application(self) -> None:
        response = requests.post(
            f"{self.served.url}/oauth/token",
            data={"grant_type": "client_credentials"},
            auth=(APPLICATION_ID, APPLICATION_KEY),
            timeout=PATIENCE,
        )
        assert response.ok, response.text + (self.folder / "pgbouncer" / "pgbouncer.log").read_text()
        self.token = response.json()["access_token"]

    @contextlib.contextmanager
    def working(self, log: Path, **more: str) -> Iterator[None]:
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "manage.py", "worker"],
                cwd=ROOT,
                env=self.database.environment(self.served.url) | self.variables | more,
                stdout=output,
                stderr=output,
            )
        try:
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE)


@pytest.fixture(scope="module")
def pooled(django_db_setup) -> Iterator[Pooled]:
    require_packages("pgbouncer")
    with own_postgres() as database, tempfile.TemporaryDirectory(prefix="pooler-", dir="/tmp") as name:
        folder, port = Path(name), free_port()
        load_tables(database.url, database.manage)
        load_demo_catalog(database.manage)
        database.rows("UPDATE accounts_subscription SET requests_per_minute = 1000000")
        sockets, server_port = database.socket
        owner = find_host(database.folder).owner
        folder.chmod(0o755)
        inside = make_folder(folder / "pgbouncer", owner)
        pooler = start_pgbouncer(inside, port, host=sockets, server_port=server_port, owner=owner)
        variables = {
            "DATABASE_URL": pooled_url(port),
            "DATABASE_POOLER": "transaction",
            "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
        }
        try:
            with serving(folder, threads=8, **variables) as served:
                service = Pooled(database, served, folder, variables)
                service.sign_in_application()
                yield service
            assert "Traceback" not in served.log.read_text()
        finally:
            pooler.terminate()
            pooler.wait(PATIENCE)


def answered(responses: list[requests.Response], status: int) -> list[Any]:
    assert {response.status_code for response in responses} == {status}, responses[0].text
    return [response.json() for response in responses]


def at_once(act: Any, count: int = MANY) -> list[requests.Response]:
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(act, range(count)))


def test_person_signs_in(pooled):
    page = requests.Session()
    form = page.get(f"{pooled.served.url}/accounts/login/", timeout=PATIENCE).text
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)[1]
    fields = {"username": USER.username, "password": USER.password, "csrfmiddlewaretoken": token}
    page.post(f"{pooled.served.url}/accounts/login/", data=fields, timeout=PATIENCE)

    assert (
        page.get(f"{pooled.served.url}/profile", allow_redirects=False, timeout=PATIENCE).status_code == 200
    )


def test_reads_proofs_quotes_and_large_orders_are_answered_at_once(pooled):
    answered(at_once(lambda _: pooled.call("GET", "/store/demo/product")), 200)
    proofs = at_once(
        lambda number: pooled.call(
            "POST", f"/store/demo/product/{CARD}/proof", VALUES | {"Name": f"Ada {number}"}
        )
    )
    assert 200 in {proof.status_code for proof in proofs} <= {200, 429}
    quote = {"Items": [{"ProductID": CARD, "Quantity": 500}], "ShipTo": {"CountryCode": "US"}}
    quotes = at_once(lambda _: pooled.call("POST", "/store/demo/quote", quote))
    answered(quotes, 201)
    large = {"Recipient": RECIPIENT, "Items": [ITEM | {"ItemKey": str(number)} for number in range(25)]}
    assert {
        response.status_code
        for response in at_once(lambda _: pooled.call("POST", "/store/demo/order", large))
    } <= {201, 429}
    assert pooled.database.rows(ADVISORY) == [(0,)]


def test_orders_with_a_key_are_made_once_and_refused_keys_are_free_again(pooled):
    order = {"Recipient": RECIPIENT, "Items": [ITEM]}
    pairs = at_once(
        lambda number: pooled.call("POST", "/store/demo/order", order, Idempotency_Key=f"k-{number // 2}")
    )
    # Prints of many at once are refused with 429, for a moment.
    assert {response.status_code for response in pairs} <= {201, 409, 429}
    again = [
        pooled.call("POST", "/store/demo/order", order, Idempotency_Key=f"k-{number // 2}")
        for number in range(MANY)
    ]
    made = {record["OrderID"] for record in answered(again, 201)}
    assert made >= {response.json()["OrderID"] for response in pairs if response.status_code == 201}
    assert len(made) == MANY // 2

    refused = at_once(
        lambda _: pooled.call("POST", "/store/demo/order", {"Items": []}, Idempotency_Key="k-bad")
    )
    assert {response.status_code for response in refused} <= {400, 409, 429}
    assert pooled.call("POST", "/store/demo/order", order, Idempotency_Key="k-bad").status_code == 201


def test_worker_delivers_events_and_runs_jobs_and_reports_that_no_notification_arrives(pooled):
    [(application,)] = pooled.database.rows(
        "SELECT id FROM applications_application WHERE client_id = 'demo-application'"
    )
    log = pooled.folder / "worker.log"
    with receiving() as receiver, pooled.working(log, DEMO_ADVANCE_SECONDS="1"):
        hook = pooled.call("POST", f"/application/{application}/webhook", {"URL": receiver.url()})
        assert hook.status_code == 201, hook.text
        order = pooled.call("POST", "/store/demo/order", {"Recipient": RECIPIENT, "Items": [ITEM]}).json()
        # The job that moves demo orders on has run, and its events have arrived.
        wait_for(lambda: sum(order["OrderID"] in str(delivery.event) for delivery in receiver.received) >= 2)
        wait_for(lambda: "Set DATABASE_DIRECT_URL" in log.read_text())

    assert "Traceback" not in log.read_text()


def test_worker_is_notified_past_the_pooler(pooled):
    log = pooled.folder / "direct.log"
    with pooled.working(log, DATABASE_DIRECT_URL=pooled.database.url):
        wait_for(lambda: pooled.database.rows("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN %'"))

    assert "DATABASE_DIRECT_URL" not in log.read_text()
