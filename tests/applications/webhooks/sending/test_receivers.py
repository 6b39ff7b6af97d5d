"""The receivers of docs/webhooks.md do what they say: run as pasted, sent real deliveries."""

import contextlib
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from applications.webhooks.models import Delivery, DeliveryAttempt
from applications.webhooks.services.webhooks import rotate_secret
from tests.factories.webhooks import make_event, make_webhook
from tests.support.browser.javascript import require_javascript_library
from tests.support.patience import wait_for
from tests.support.servers.ports import free_port
from tests.support.servers.workers import forget_jobs, working

GUIDE = Path(__file__).parents[4] / "docs" / "webhooks.md"


def receiver_of_the_guide(language: str) -> str:
    (code,) = re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text("utf-8"), flags=re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
    return code


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


@contextlib.contextmanager
def running(command: list[str], port: int, secret: str, output: Path):
    variables = {**os.environ, "PORT": str(port), "WEBHOOK_SECRET": secret}
    with output.open("wb") as file:
        process = subprocess.Popen(command, env=variables, stdout=file, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: listens(port))
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("this_machine_allowed")
@pytest.mark.parametrize("language", ["python", "javascript"])
@pytest.mark.slow
def test_receiver_of_the_guide_works_as_pasted(world, tmp_path, language):
    code, port, output = receiver_of_the_guide(language), free_port(), tmp_path / "output"
    if language == "javascript":
        require_javascript_library()
    command = [sys.executable, "-c", code] if language == "python" else ["node", "-e", code]
    forget_jobs()
    webhook = make_webhook(world.application, f"http://127.0.0.1:{port}/")
    with running(command, port, webhook.known_secret, output), working():
        events = [make_event(world.application, kind) for kind in ("order.received", "order.shipped")]
        rotate_secret(webhook=webhook)
        events.append(make_event(world.application, "order.delivered"))
        wait_for(lambda: set(Delivery.objects.values_list("state", flat=True)) == {"Delivered"})
        webhook.secrets.filter(expires__isnull=False).delete()
        make_event(world.application, "order.returned")
        wait_for(lambda: DeliveryAttempt.objects.filter(status_code=401).exists())

    # An answer that comes too late makes a delivery come again.
    printed = set(output.read_text().split("\n")[:-1])
    assert printed == {f"{event.type} {event.event_id}" for event in events}
