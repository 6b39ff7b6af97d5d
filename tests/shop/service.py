"""The service with the demo's data, its worker and the press behind the demo's hot folder."""

import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from fulfillment.local.schema import load_schema
from tests.shop.processes import ROOT, Process, running
from tests.support.servers.granian import granian_command
from tests.support.servers.ports import free_port

STORE = "summit-print"
RECEIVED, ACCEPTED = 10, 30
SECRETS = ("SECRET_KEY", "FULFILLMENT_PEPPERS", "FULFILLMENT_ENCRYPTION_KEYS")


@dataclass
class Service:
    url: str
    web: Process
    worker: Process
    demo: dict[str, Any]
    hot_folder: Path
    manage: Callable[..., str]

    def withdraw(self, product_id: str) -> None:
        """As in the operator console."""
        change = f"Product.objects.filter(external_id={product_id!r}).update(is_active=False)"
        self.manage("shell", "--command", f"from stores.catalog.models import Product; {change}")

    def call(self, method: str, path: str, body: Any = None, *, by: str = "operator") -> Any:
        headers = {
            "Authorization": f"Bearer {self.demo[by]['access_token']}",
            "Ocp-Apim-Subscription-Key": self.demo[by]["subscription_key"],
        }
        response = requests.request(
            method, f"{self.url}/api/v1{path}", json=body, headers=headers, timeout=60
        )
        assert response.ok, f"{method} {path}: {response.status_code} {response.text}"
        return response.json() if response.content else None

    def orders(self, **filters: str | int) -> list[dict[str, Any]]:
        """Those of the shop; the demo has some of its own."""
        query = "&".join(f"{name}={value}" for name, value in {"take": 1000, **filters}.items())
        rows = self.call("GET", f"/store/{STORE}/order/exportview?{query}")
        return [row for row in rows if (row["ExternalID"] or "").startswith("order_")]

    def set_status(self, order_id: str, status: int, **more: Any) -> None:
        self.call("POST", f"/store/{STORE}/order/{order_id}/status", {"Status": status, **more})

    def webhook(self, url: str) -> str:
        """Its secret."""
        application = self.demo["application"]["id"]
        body = {"URL": url, "EventTypes": ["order.*"]}
        return self.call("POST", f"/application/{application}/webhook", body, by="application")["Secret"]

    @contextlib.contextmanager
    def accepting(self) -> Iterator[None]:
        """The staff of the store, who accept whatever comes."""
        ended = threading.Event()

        def accept() -> None:
            while not ended.wait(0.3):
                # The service may be the one that is killed just now.
                with contextlib.suppress(requests.RequestException, AssertionError):
                    for row in self.orders(status=RECEIVED):
                        self.set_status(row["OrderID"], ACCEPTED)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


@contextlib.contextmanager
def served(folder: Path, database: str) -> Iterator[Service]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME")},
        "FULFILLMENT_MODE": "development",
        **{name: secrets.token_urlsafe(48) for name in SECRETS},
        "DATABASE_URL": database,
        "PUBLIC_URL": url,
        "MEDIA_ROOT": str(folder / "media"),
        "PRODUCTION_FOLDERS": str(folder / "production"),
        "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
        "DEMO_ADVANCE_SECONDS": "0",
    }
    load_schema(database)

    def manage(*command: str) -> Process:
        return Process(
            [sys.executable, "manage.py", *command], ROOT, environment, folder / f"{command[0]}.log"
        )

    def output(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    output("migrate")
    demo = json.loads(output("demo", "--json"))
    server = [*granian_command(port, workers=2, threads=8), "fulfillment.wsgi:application"]
    web = Process(server, ROOT, environment, folder / "web.log", f"{url}/healthz")
    worker, press = manage("worker"), manage("play_press", "--seconds", "0.2")
    with running(web), running(worker), running(press):
        yield Service(url, web, worker, demo, folder / "production" / "demo-press" / "in", output)
