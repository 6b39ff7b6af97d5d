"""A webhook from its making to a resend, with a worker that really sends and an endpoint that really answers."""

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from threading import Thread

import pytest
from django.utils import timezone
from playwright.sync_api import expect
from standardwebhooks import Webhook

from applications.webhooks.models import Delivery, DeliveryAttempt, Event
from applications.webhooks.services.webhooks import create_webhook
from tests.support.browser.visual_checks import faults_of
from tests.support.servers.workers import forget_jobs, working

pytestmark = pytest.mark.slow


class Endpoint(BaseHTTPRequestHandler):
    """Answers 500 to the first request and 200 to those after."""

    got: list[tuple[dict[str, str], bytes]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append((dict(self.headers.items()), body))
        response = b"Not today" if len(self.got) == 1 else b"Thank you"
        self.send_response(500 if len(self.got) == 1 else 200)
        self.send_header("Content-Length", str(len(response)))
        self.end_headers()
        self.wfile.write(response)

    def log_message(self, *said: object) -> None:
        """Says nothing."""


@pytest.fixture
def site(site, settings) -> Iterator:
    """With a worker; it is started before the browser, whose loop keeps Django from the database."""
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    forget_jobs()
    with working():
        yield site


@pytest.fixture
def endpoint() -> Iterator[str]:
    Endpoint.got.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hooks"
    server.shutdown()
    server.server_close()


def test_webhook_is_made_tested_and_a_delivery_resent(visitor, endpoint):
    page = visitor.page
    visitor.enter(f"/applications/{visitor.world.application.pk}/webhooks")
    page.get_by_role("link", name="Add webhook").click()
    page.fill("#id_url", endpoint)
    page.get_by_role("button", name="Add webhook").click()
    secret = page.locator("#secret").inner_text()

    page.get_by_role("button", name="Send test event").click()

    # The page looks again by itself until the answer is there.
    answers = page.get_by_role("region", name="Response")
    expect(answers).to_have_text(["Not today"])
    assert re.search(r"\d+ ms", page.locator(".attempt").first.inner_text())
    page.get_by_role("button", name="Resend").click()
    expect(answers).to_have_text(["Thank you", "Not today"])
    expect(page.locator("#tries .facts")).to_contain_text("Delivered")

    headers, body = Endpoint.got[-1]
    assert Webhook(secret).verify(body.decode(), headers) == json.loads(page.locator("#body").inner_text())
    assert visitor.complaints == []


@pytest.fixture
def tried(site):
    """Two deliveries that ended, made before the browser."""
    application = site[1].application
    webhook, _ = create_webhook(application=application, values={"URL": "https://93.184.216.34/in"})
    now = timezone.now()
    for number in (1, 2):
        event = Event.objects.create(
            application=application,
            type="order.shipped",
            timestamp=now,
            data={"OrderNumber": f"1000{number}"},
        )
        delivery = Delivery.objects.create(event=event, webhook=webhook, state="Failed", tries=1, created=now)
        DeliveryAttempt.objects.create(delivery=delivery, timestamp=now, milliseconds=9, status_code=500)
    return f"/applications/{application.pk}/webhooks/{webhook.pk}"


def test_developer_checks_a_signature_and_resends_several(tried, visitor):
    page = visitor.page
    visitor.enter(tried)
    page.get_by_role("link", name="Check a signature").click()
    page.get_by_role("button", name="Check signature").click()
    expect(page.get_by_role("status").first).to_contain_text("Valid.")
    page.locator("#id_body").press_sequentially(" ")
    page.get_by_role("button", name="Check signature").click()
    expect(page.get_by_role("status").first).to_contain_text("Not valid.")
    faults = faults_of(visitor, "tester", lambda: visitor.go(f"{tried}/signature"))
    visitor.go(f"{tried}?state=Failed")
    faults += faults_of(visitor, "log", lambda: visitor.go(f"{tried}?state=Failed"))
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="Resend selected").click()
    expect(page.get_by_role("status").first).to_contain_text("2 events resent.")
    assert faults == []
