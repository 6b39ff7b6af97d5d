"""Reads and orders with Idempotency-Keys while parts fail: by clients/python, and by requests without retries."""

import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import requests

from applications.demo import APPLICATION_ID, APPLICATION_KEY, APPLICATION_SUBSCRIPTION_KEY
from tests.benchmarks.soak.writers import HALVES
from tests.support.cluster.machines import Cluster
from tests.support.cluster.service import Service
from tests.support.patience import PATIENCE, wait_for
from tests.support.servers.webhook_receiver import Receiver

CLIENTS, PROBES = 3, 2
PAUSE_SECONDS, TIMEOUT = 0.1, 60
REPLAYED = 50
ORDER = {
    "Recipient": {
        "Name": "Dana Whitfield",
        "Address1": "1200 17th Street",
        "City": "Denver",
        "State": "CO",
        "PostalCode": "80202",
        "CountryCode": "US",
    },
    "Items": [
        {
            "ProductID": "business-card-standard",
            "Quantity": 500,
            "TemplateData": {"Name": "Ada Lovelace", "Email": "ada@example.com"},
        }
    ],
}
KEPT = "SELECT metadata->>'Soak', id::text FROM stores_order WHERE metadata ? 'Soak'"
# The demo data has other tokens and keys.
CHECKED = {
    name: statement for name, statement in HALVES.items() if "token" not in name and "key" not in name
} | {
    "a key made two orders": """
        SELECT metadata->>'Soak' FROM stores_order WHERE metadata ? 'Soak' GROUP BY 1 HAVING count(*) > 1"""
}


@dataclass
class Load:
    """`orders` maps the key of each acknowledged order to its OrderID, `acknowledged` has when that was."""

    service: Service
    cluster: Cluster
    receiver: Receiver
    library: Path
    orders: dict[str, str] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    acknowledged: list[float] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    client_errors: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        sys.path.insert(0, str(self.library))
        self.before = {name: set(self.cluster.rows(statement)) for name, statement in CHECKED.items()}
        self.of_demo = self.to_deliver()
        self._make_webhook()
        self.before["an event without its one delivery"] = set(
            self.cluster.rows(CHECKED["an event without its one delivery"])
        )
        tasks = [self._use_library] * CLIENTS + [self._probe] * PROBES
        self.threads = [threading.Thread(target=self._watched, args=(task,)) for task in tasks]
        for thread in self.threads:
            thread.start()
        wait_for(lambda: len(self.acknowledged) > 10)

    def stop(self) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join(PATIENCE)

    def _watched(self, task: Callable[[], None]) -> None:
        try:
            task()
        except Exception as error:  # noqa: BLE001 - any failure of a client is a finding
            self.wrong.append(f"a client ended of {error!r}")

    def _body(self) -> tuple[str, dict[str, Any]]:
        key = str(uuid.uuid4())
        self.sent.add(key)
        return key, ORDER | {"Metadata": {"Soak": key}}

    def _acknowledge(self, key: str, order_id: str) -> None:
        self.orders[key] = order_id
        self.acknowledged.append(time.monotonic())

    def _client(self) -> Any:
        from store_fulfillment import Client  # noqa: PLC0415 - installed for this test

        return Client(
            self.service.url,
            client_id=APPLICATION_ID,
            client_secret=APPLICATION_KEY,
            subscription_key=APPLICATION_SUBSCRIPTION_KEY,
            http_client=httpx.Client(verify=self.service.proxy.trusted),
        )

    def _use_library(self) -> None:
        with self._client() as client:
            while not self.over.wait(PAUSE_SECONDS):
                key, body = self._body()
                try:
                    client.products.list("demo")
                    self._acknowledge(key, client.orders.create("demo", body, idempotency_key=key)["OrderID"])
                except Exception as error:  # noqa: BLE001 - any error that a client sees is a finding
                    self.client_errors.append(f"{type(error).__name__}: {error}"[:300])

    def _token(self) -> str:
        return str(
            requests.post(
                f"{self.service.url}/oauth/token",
                data={"grant_type": "client_credentials"},
                auth=(APPLICATION_ID, APPLICATION_KEY),
                verify=str(self.service.proxy.certificate),
                timeout=TIMEOUT,
            ).json()["access_token"]
        )

    def _call(self, token: str, method: str, path: str, body: Any = None, key: str = "") -> requests.Response:
        headers = {
            "Authorization": f"Bearer {token}",
            "Ocp-Apim-Subscription-Key": APPLICATION_SUBSCRIPTION_KEY,
        }
        return requests.request(
            method,
            f"{self.service.url}/api/v1{path}",
            json=body,
            headers=headers | ({"Idempotency-Key": key} if key else {}),
            verify=str(self.service.proxy.certificate),
            timeout=TIMEOUT,
        )

    def _make_webhook(self) -> None:
        [(application,)] = self.cluster.rows(
            "SELECT id FROM applications_application WHERE client_id = %s", [APPLICATION_ID]
        )
        response = self._call(
            self._token(), "POST", f"/application/{application}/webhook", {"URL": self.receiver.url()}
        )
        assert response.status_code == 201, response.text

    def _probe(self) -> None:
        token = self._token()
        while not self.over.wait(PAUSE_SECONDS):
            key, body = self._body()
            try:
                response = self._call(token, "POST", "/store/demo/order", body, key)
            except requests.RequestException:
                self.refusals["closed"] += 1
                continue
            if response.status_code == 201:
                self._acknowledge(key, response.json()["OrderID"])
            elif response.status_code == 502 or (
                response.status_code == 503 and "Retry-After" in response.headers
            ):
                self.refusals[str(response.status_code)] += 1
            elif response.status_code != 429:
                self.wrong.append(f"{response.status_code} {response.text[:200]}")

    def longest_pause(self, since: float) -> float:
        """Seconds in which no write was acknowledged."""
        times = sorted([since, *(moment for moment in self.acknowledged if moment >= since)])
        return max((after - before for before, after in pairwise(times)), default=float("inf"))

    def lost(self) -> list[str]:
        # Read first, because more arrive meanwhile.
        arrived, orders = self.arrived(), dict(self.orders)
        kept = dict(self.cluster.rows(KEPT))
        events = {str(number) for (number,) in self.cluster.rows("SELECT event_id FROM applications_event")}
        lost = [f"order {key}" for key, order_id in orders.items() if kept.get(key) != order_id]
        lost += [f"order {key}, which was never sent" for key in kept.keys() - self.sent]
        return lost + [f"event {event_id}" for event_id in arrived - events]

    def arrived(self) -> set[str]:
        return {delivery.event["EventID"] for delivery in list(self.receiver.received)}

    def doubled(self) -> list[str]:
        return [
            f"{name}: {row}"
            for name, statement in CHECKED.items()
            for row in set(self.cluster.rows(statement)) - self.before[name]
        ]

    def to_deliver(self) -> set[str]:
        statement = "SELECT event_id FROM applications_event e WHERE EXISTS"
        rows = self.cluster.rows(f"{statement} (SELECT FROM applications_delivery d WHERE d.event_id = e.id)")
        return {str(number) for (number,) in rows}

    def undelivered(self) -> set[str]:
        return self.to_deliver() - self.of_demo - self.arrived()

    def forgotten_keys(self) -> list[str]:
        """Keys of acknowledged orders whose repetition is not answered as the first request was."""
        token = self._token()
        return [
            key
            for key, order_id in list(self.orders.items())[-REPLAYED:]
            if (
                response := self._call(
                    token, "POST", "/store/demo/order", ORDER | {"Metadata": {"Soak": key}}, key
                )
            )
            .json()
            .get("OrderID")
            != order_id
            or response.headers.get("Idempotent-Replayed") != "true"
        ]
