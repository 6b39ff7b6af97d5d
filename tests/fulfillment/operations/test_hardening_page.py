"""docs/operating/hardening.md is what a stricter unit breaks, measured."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from production.jobs.models import Job
from production.providers.models import Provider
from stores.catalog.models import Product
from tests.factories.orders import card_data, make_card, order_body
from tests.factories.pictures import make_photo_card, upload
from tests.factories.production import accept, make_provider, make_rule, make_sftp_provider
from tests.support.cases import IS_EVERY_CASE
from tests.support.deployment.hardening import cannot_filter, namespaces
from tests.support.deployment.unit_work import START, WORK, Case, below
from tests.support.deployment.units import ROOT, UNITS, hardening_of
from tests.support.patience import PATIENCE
from tests.support.production.sftp_server import running_sftp_server
from tests.support.scenario import World, build_world
from tests.support.servers.workers import worker_environment
from tests.tools.hardening_page import PAGE, Stricter, page, row, stricter_lines

WEB = UNITS["web"]
PRODUCT_OF = {"hot": "photo-card", "sftp": "card-two-sided"}
missing = cannot_filter() or ("" if namespaces() else "mounts of its own are not allowed here")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(bool(missing), reason=missing),
]


@dataclass
class Bench:
    """One case of each kind of work for each line that is taken away; no service runs."""

    folder: Path
    cases: dict[str, Case]
    environment: dict[str, str]

    def broken(self, stricter: Stricter) -> dict[str, str]:
        """What fails below the unit of web with one stricter line, by the name of the work."""
        result = subprocess.run(
            below(self._unit_with(stricter), [sys.executable, "-c", START], self.folder),
            input=self.cases[stricter.named].as_json(),
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        # Where not even Python starts, nothing works.
        return json.loads(result.stdout) if result.returncode == 0 else dict.fromkeys(WORK, result.stderr)

    def _unit_with(self, stricter: Stricter) -> Path:
        lines = {**hardening_of(WEB), stricter.name: list(stricter.values)}
        unit = self.folder / f"{uuid4().hex}.service"
        unit.write_text("".join(f"{name}={value}\n" for name, values in lines.items() for value in values))
        return unit


WRITES = os.environ.get("HARDENING_PAGE") == "write"
# Of each way to restrict one; all cases take all lines.
FEW = (
    "no `ReadWritePaths`",
    "`RestrictAddressFamilies` without `AF_INET`",
    "`SystemCallFilter=~@resources`",
)


def measured_lines() -> list[Stricter]:
    return [line for line in stricter_lines() if IS_EVERY_CASE or WRITES or line.named in FEW]


@pytest.fixture
def bench(tmp_path, settings) -> Iterator[Bench]:
    settings.MEDIA_ROOT, settings.PRODUCTION_FOLDERS = str(tmp_path / "media"), [tmp_path / "presses"]
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    for name in ("media", "presses", "tmp", "backups"):
        (tmp_path / name).mkdir()
    world = build_world()
    make_card(world.associated)
    make_photo_card(world.associated)
    environment = worker_environment(
        MEDIA_ROOT=str(tmp_path / "media"),
        PRODUCTION_FOLDERS=str(tmp_path / "presses"),
        PUBLIC_URL="http://127.0.0.1",
    )
    with running_sftp_server(tmp_path / "sftp") as press:
        names = [line.named for line in measured_lines()]
        jobs = jobs_of(
            world,
            names,
            {"hot": make_provider(tmp_path / "presses", "hot"), "sftp": make_sftp_provider(press)},
        )
        client, user = world.as_application(), world.as_user(world.user)
        cases = {
            name: Case(
                application={"token": client.token, "key": client.key},
                user={"token": user.token, "key": user.key},
                application_id=str(world.application.pk),
                jobs=jobs[name],
                backups=str(tmp_path / "backups" / str(number)),
                order=order_body(("card-two-sided", 100)) | {"Items": [card_item()]},
            )
            for number, name in enumerate(names)
        }
        yield Bench(tmp_path, cases, environment)


def card_item() -> dict[str, Any]:
    return {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}


def jobs_of(world: World, names: list[str], presses: dict[str, Provider]) -> dict[str, dict[str, int]]:
    """For each name a job to each press: all of one order."""
    for code, provider in presses.items():
        make_rule(provider, name=f"To {code}", product=Product.objects.get(external_id=PRODUCT_OF[code]))
    client = world.as_application()
    photo = {"ProductID": "photo-card", "Quantity": 100, "TemplateData": {"Photo": upload(client)}}
    items = [item for _ in names for item in (card_item(), photo)]
    placed = client.call("POST", "/store/associated/order", order_body(Items=items))
    assert placed.status_code == 201, placed.content
    accept(placed.json()["OrderID"])
    of = {code: Job.objects.filter(item__product__external_id=PRODUCT_OF[code]) for code in presses}
    keys = {code: list(jobs.values_list("pk", flat=True)) for code, jobs in of.items()}
    return {name: {code: keys[code][number] for code in presses} for number, name in enumerate(names)}


def test_page_says_what_each_line_breaks(bench):
    # One after the other: a backup or a provider that fails in one process stands in the way of another.
    broken = {line.named: bench.broken(line) for line in measured_lines()}

    # What fails below the unit as it is would fail below all of them.
    assert set.intersection(*map(set, broken.values())) == set()
    assert "renderer_killed" in broken["`SystemCallFilter=~@resources`"]["proof"]
    assert "renderer_killed" in broken["`SystemCallFilter=~@resources`"]["photo"]
    if WRITES:
        PAGE.write_text(page(broken), encoding="utf-8")
    text = PAGE.read_text("utf-8")
    rows = [row(name, works) for name, works in broken.items()]
    assert [row for row in rows if f"{row}\n" not in text] == [], json.dumps(broken, indent=1)
    if IS_EVERY_CASE:
        assert text == page(broken)
