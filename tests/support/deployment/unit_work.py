"""The service's kinds of work, each by itself, for a process below a systemd unit."""

import contextlib
import io
import json
import socket
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.core.management import call_command
from django.db import connection
from PIL import Image

from production.dispatch.services.sending import work_on_job
from production.jobs.models import Job, JobState
from production.providers.models import Provider
from production.providers.services import note_success
from tests.factories.orders import card_data
from tests.support.deployment.hardening import hardened
from tests.support.scenario import ApiClient

# A process that reads a Case as JSON and writes what failed, by the name of the work.
START = "import django; django.setup(); from tests.support.deployment.unit_work import main; main()"


@dataclass
class Case:
    """What a test made for one process: credentials, rows, and a folder of its own for its backup."""

    application: dict[str, str]
    user: dict[str, str]
    application_id: str
    jobs: dict[str, int]
    backups: str
    order: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> str:
        return json.dumps(asdict(self))

    def call(
        self, path: str, body: bytes, kind: str, *, method: str = "POST", by: str = "application"
    ) -> Any:
        client = ApiClient(**getattr(self, by))
        response = client.generic(method, f"/api/v1{path}", body, kind, headers={"Host": "127.0.0.1"})
        content = b"".join(response.streaming_content) if response.streaming else response.content
        assert response.status_code < 300, content.decode("utf-8", "replace")
        return content

    def post(self, path: str, values: object) -> Any:
        return json.loads(self.call(path, json.dumps(values).encode(), "application/json"))


STORE = "/store/associated"


def picture(form: str, size: tuple[int, int]) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", size, "teal").save(content, form)
    return content.getvalue()


def answer_http(case: Case) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass


def open_ipv6(case: Case) -> None:
    """Machines without an address of IPv6 have such sockets as well."""
    socket.socket(socket.AF_INET6).close()


def make_proof(case: Case) -> None:
    values = {**card_data(), "Name": f"Ada {uuid4().hex[:8]}"}
    case.post(f"{STORE}/product/card-two-sided/proof", values)


def take_photo(case: Case) -> None:
    """Of 9 megapixels: more than a web process decodes itself."""
    case.call(f"{STORE}/asset", picture("JPEG", (3600, 2500)), "image/jpeg")


def make_print_file(case: Case) -> None:
    case.post(f"{STORE}/order", case.order)


def take_icon(case: Case) -> None:
    path = f"/application/{case.application_id}/icon"
    case.call(path, picture("PNG", (215, 215)), "image/png", by="user")


def export_orders(case: Case) -> None:
    assert case.call(f"{STORE}/order/exportview", b"", "", method="GET")


def send_by_sftp(case: Case) -> None:
    _send(case.jobs["sftp"])


def send_by_hot_folder(case: Case) -> None:
    _send(case.jobs["hot"])


def _send(job: int) -> None:
    # A process before this one may have failed at one of them.
    for provider in Provider.objects.all():
        note_success(provider=provider)
    work_on_job(job_pk=job)
    sent = Job.objects.get(pk=job)
    assert sent.state == JobState.SENT, sent.message


def back_up(case: Case) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        call_command("backup", case.backups)


WORK: dict[str, Callable[[Case], None]] = {
    "HTTP": answer_http,
    "IPv6": open_ipv6,
    "proof": make_proof,
    "photo": take_photo,
    "print file": make_print_file,
    "icon": take_icon,
    "export": export_orders,
    "SFTP": send_by_sftp,
    "hot folder": send_by_hot_folder,
    "backup": back_up,
}


def main() -> None:
    case, failed = Case(**json.load(sys.stdin)), {}
    for name, work in WORK.items():
        try:
            work(case)
        except Exception as error:  # noqa: BLE001 - any way of failing is what the test asks for
            failed[name] = f"{type(error).__name__}: {error}"[:500]
    sys.stdout.write(json.dumps(failed))


def below(unit: Path, command: list[str], folder: Path) -> list[str]:
    """The command below the unit: it writes to `folder`, and its /tmp is there."""
    database = Path(connection.settings_dict["HOST"])
    kept = [database] if database.is_absolute() else []
    return hardened(unit, command, writable=folder, temporary=folder / "tmp", kept=kept)
