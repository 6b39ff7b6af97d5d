"""The units of docs/deploy: below every line of their hardening, the service does its whole work."""

import contextlib
import io
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import requests
from PIL import Image

from applications.webhooks.selectors.deliveries import alive_workers
from production.jobs.models import Job, JobState
from production.providers.models import Provider
from stores.catalog.models import Product
from stores.orders.models import Order
from tests.factories.orders import card_data, make_card, order_body
from tests.factories.pictures import make_photo_card
from tests.factories.production import accept, make_provider, make_rule, make_sftp_provider
from tests.support.deployment.hardening import cannot_filter, namespaces
from tests.support.deployment.open_files import opened_for_writing, watching
from tests.support.deployment.unit_work import below
from tests.support.deployment.units import ROOT, UNITS, read_unit
from tests.support.patience import PATIENCE, wait_for
from tests.support.production.sftp_server import PressServer, running_sftp_server
from tests.support.scenario import World, build_world
from tests.support.servers.live_server import served_environment
from tests.support.servers.ports import free_port
from tests.support.servers.processes import end_group
from tests.support.servers.workers import forget_jobs, worker_environment

WEB, WORKER, BACKUP = UNITS["web"], UNITS["worker"], UNITS["backup"]
missing = cannot_filter()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(bool(missing), reason=missing),
]


@dataclass
class Machine:
    """A service below its units; everything it may write is in `folder`."""

    folder: Path
    world: World
    url: str
    press: PressServer

    def call(self, method: str, path: str, **sent: Any) -> requests.Response:
        client = sent.pop("client", None) or self.world.as_application()
        headers = {
            **client.credentials,
            **sent.pop("headers", {}),
        }
        return requests.request(method, f"{self.url}/api/v1{path}", headers=headers, timeout=PATIENCE, **sent)

    def command(self, unit: Path, port: int = 0) -> list[str]:
        """What ExecStart of the unit says, with the paths of this checkout."""
        line = read_unit(unit)["ExecStart"][0]
        for told, here in (
            ("/opt/fulfillment/current/.venv/bin/python", sys.executable),
            ("/opt/fulfillment/current/", f"{ROOT}/"),
            ("/var/backups/fulfillment/", f"{self.folder}/backups/"),
            ("--port 8000", f"--port {port}"),
            ("%%", "%"),
        ):
            line = line.replace(told, here)
        return below(unit, shlex.split(line), self.folder)


@contextlib.contextmanager
def running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield process
    finally:
        end_group(process)


@pytest.fixture
def machine(tmp_path, settings) -> Iterator[Machine]:
    settings.MEDIA_ROOT, settings.PRODUCTION_FOLDERS = str(tmp_path / "media"), [tmp_path / "presses"]
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    for name in ("media", "presses", "tmp", "backups"):
        (tmp_path / name).mkdir()
    forget_jobs()
    world, port = build_world(), free_port()
    url = f"http://127.0.0.1:{port}"
    shared = worker_environment(
        MEDIA_ROOT=str(tmp_path / "media"),
        PRODUCTION_FOLDERS=str(tmp_path / "presses"),
        PUBLIC_URL=url,
    )
    web = served_environment(url, shared["DATABASE_URL"]) | {
        name: shared[name] for name in ("MEDIA_ROOT", "PRODUCTION_FOLDERS")
    }
    with running_sftp_server(tmp_path / "sftp") as press:
        made = Machine(tmp_path, world, url, press)
        with (
            running(made.command(WEB, port), web, tmp_path / "web.log"),
            running(made.command(WORKER), shared, tmp_path / "worker.log"),
        ):
            wait_for(lambda: answers(url))
            wait_for(lambda: alive_workers() >= 1)
            with watching() as written:
                yield made
    if not namespaces():
        allowed = (tmp_path, Path(tempfile.gettempdir()))
        assert [path for path in written if not any(map(path.is_relative_to, allowed))] == []


def answers(url: str) -> bool:
    with contextlib.suppress(requests.RequestException):
        return requests.get(f"{url}/healthz", timeout=PATIENCE).ok
    return False


def photo_of_50_megapixels() -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (8000, 6250), "teal").save(content, "JPEG", quality=30)
    return content.getvalue()


def order_is_made(machine: Machine) -> Order:
    """A proof, a photo of 50 megapixels, an order of both products, its print files."""
    store = "/store/associated"
    proof = machine.call("POST", f"{store}/product/card-two-sided/proof", json=card_data())
    assert proof.status_code in {200, 201}, proof.text
    pictures = [value for name, value in proof.json().items() if name.endswith("URL") and value]
    response = requests.get(pictures[0], timeout=PATIENCE)
    assert response.headers["Content-Type"].startswith("image/"), response.text[:300]
    asset = machine.call(
        "POST", f"{store}/asset", data=photo_of_50_megapixels(), headers={"Content-Type": "image/jpeg"}
    )
    assert asset.status_code == 201, asset.text
    items = [
        {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()},
        {"ProductID": "photo-card", "Quantity": 100, "TemplateData": {"Photo": asset.json()["AssetID"]}},
    ]
    placed = machine.call("POST", f"{store}/order", json=order_body(Items=items))
    assert placed.status_code == 201, placed.text
    for item in placed.json()["Items"]:
        printed = machine.call("GET", item["PrintFile"]["URL"].partition("/api/v1")[2])
        assert printed.content.startswith(b"%PDF"), printed.text[:300]
    return Order.objects.get(pk=placed.json()["OrderID"])


def icon_is_taken(machine: Machine) -> None:
    content = io.BytesIO()
    Image.new("RGB", (215, 215), "teal").save(content, "PNG")
    response = machine.call(
        "POST",
        f"/application/{machine.world.application.pk}/icon",
        data=content.getvalue(),
        headers={"Content-Type": "image/png"},
        client=machine.world.as_user(machine.world.user),
    )
    assert response.status_code == 204, response.text


def export_is_read(machine: Machine) -> None:
    exported = machine.call("GET", "/store/associated/order/exportview", headers={"Accept": "text/csv"})
    assert exported.status_code == 200, exported.text
    assert exported.text.count("\n") >= 2


def jobs_reach_both_presses(machine: Machine, order: Order, presses: dict[str, Provider]) -> None:
    for code, provider in presses.items():
        make_rule(provider, name=f"To {code}", product=Product.objects.get(external_id=PRODUCT_OF[code]))
    accept(order)
    wait_for(lambda: Job.objects.filter(state=JobState.SENT).count() == 2)
    assert any(name.endswith(".pdf") for name in machine.press.names())
    assert list((machine.folder / "presses" / "hot" / "in").rglob("*.pdf"))


PRODUCT_OF = {"hot": "photo-card", "sftp": "card-two-sided"}


def backup_is_made(machine: Machine) -> None:
    environment = worker_environment(MEDIA_ROOT=str(machine.folder / "media"))
    result = subprocess.run(
        machine.command(BACKUP), cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert result.returncode == 0, result.stderr
    assert list((machine.folder / "backups").glob("*/manifest.json"))


def test_service_does_its_whole_work_below_its_units(machine):
    store = machine.world.associated
    make_card(store)
    make_photo_card(store)
    order = order_is_made(machine)
    icon_is_taken(machine)
    export_is_read(machine)
    hot = make_provider(machine.folder / "presses", "hot")
    jobs_reach_both_presses(machine, order, {"hot": hot, "sftp": make_sftp_provider(machine.press)})
    backup_is_made(machine)


NO_MOUNTS = "mounts of its own are not allowed here"
ELSEWHERE = (
    "/",
    "/etc",
    "/usr",
    "/var/lib",
    "/sys",
    "/proc/sys/kernel",
    str(ROOT),
    str(ROOT / "fulfillment"),
)


@pytest.mark.skipif(not namespaces(), reason=NO_MOUNTS)
@pytest.mark.parametrize("unit", UNITS.values(), ids=list(UNITS))
def test_process_below_a_unit_writes_nowhere_else(tmp_path, unit):
    (tmp_path / "tmp").mkdir()
    folders = [*ELSEWHERE, "/tmp", "/var/tmp", str(tmp_path)]
    script = 'for folder; do touch "$folder/written" 2>/dev/null && echo "$folder"; done; ls -A /home'
    result = subprocess.run(
        below(unit, ["sh", "-c", script, "sh", *folders], tmp_path), cwd=ROOT, capture_output=True, text=True
    )

    assert result.stdout.split() == ["/tmp", "/var/tmp", str(tmp_path)], result.stderr
    assert (tmp_path / "tmp" / "written").exists()


def test_files_open_for_writing_are_listed(tmp_path):
    script = "import sys; a = open(sys.argv[1], 'w'); b = open(sys.argv[2]); print(flush=True); input()"
    read = tmp_path / "read"
    read.touch()
    with subprocess.Popen(
        [sys.executable, "-c", script, tmp_path / "written", read],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        process.stdout.readline()
        paths = set(opened_for_writing(process.pid))
        process.communicate(b"\n")

    assert paths == {tmp_path / "written"}
