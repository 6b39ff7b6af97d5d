"""A newcomer, from the start page to a first verified event, with every action counted."""

import os
import re
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Page, expect

from tests.factories.orders import make_card
from tests.support.patience import PATIENCE
from tests.support.scenario import PASSWORD
from tests.support.servers.client_library import install_python
from tests.support.servers.ports import free_port

pytestmark = pytest.mark.slow

MAX_ACTIONS = 25


class Newcomer:
    """Each click, each field filled in and each paste into a terminal is one action."""

    def __init__(self, page: Page) -> None:
        self.page, self.actions = page, []

    def click(self, role: str, name: str, **more) -> None:
        self.actions.append(f"click {name}")
        self.page.get_by_role(role, name=name, **more).first.click()

    def fill(self, label: str, text: str) -> None:
        self.actions.append(f"fill in {label}")
        self.page.get_by_label(label, exact=True).fill(text)

    def paste(self, what: str) -> None:
        self.actions.append(f"paste {what}")


@contextmanager
def running(command: list[str], **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A program in a terminal of the newcomer, until they close it."""
    with subprocess.Popen(
        command,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        # What never says anything must not hold the test up for ever.
        end = threading.Timer(PATIENCE, process.kill)
        end.start()
        try:
            yield process
        finally:
            end.cancel()
            process.terminate()


@contextmanager
def receiving_events(page: Page, person: Newcomer, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """With the lines of the portal: the command is installed, listens, and an endpoint verifies each event."""
    person.paste("the line that installs the command")
    install_python(page.locator("#install-curl").inner_text().split()[-1], folder / "installed")
    person.paste("the lines that listen")
    lines = page.locator("#listen").inner_text()
    environment = {name: value.strip("'") for name, value in re.findall(r"export (\w+)=(.*)", lines)}
    port = str(free_port())
    *_, arguments = lines.strip().splitlines()
    command = [sys.executable, str(folder / "installed" / "bin" / "fulfillment"), *arguments.split()[1:]]
    command[-1] = command[-1].replace("3000", port)
    environment |= {"PYTHONPATH": str(folder / "installed"), "FULFILLMENT_CONFIG": str(folder / "home")}
    (folder / "receiver.py").write_text(page.locator("#receiver-curl").inner_text())
    with running(command, **environment) as listener:
        secret = next(line.strip() for line in listener.stderr if line.startswith("whsec_"))
        person.paste("the secret, to start the endpoint")
        with running(
            [sys.executable, str(folder / "receiver.py")], WEBHOOK_SECRET=secret, PORT=port
        ) as endpoint:
            yield endpoint


@pytest.fixture
def site(site, settings, python_wheel):
    settings.SIGN_UP_ENABLED = True
    settings.CLIENT_DOWNLOADS = python_wheel.parent
    make_card(site[1].demo, "business-card")
    return site


def test_newcomer_reaches_a_proof_an_order_and_a_verified_event_in_few_actions(visitor, tmp_path):
    page, person = visitor.page, Newcomer(visitor.page)
    visitor.go("/")
    person.click("link", "Create an account")
    for label, text in (
        ("Username", "nora"),
        ("E-mail", "nora@far.example"),
        ("Password", PASSWORD),
    ):
        person.fill(label, text)
    person.click("button", "Create account")
    person.click("link", "New application")
    person.fill("Name", "Press Kit")
    person.click("checkbox", "Test application")
    person.click("button", "Create application")
    expect(page.get_by_text("1 of 7 done.")).to_be_visible()

    # A first token and a first read, with the lines of the portal in a terminal.
    person.click("link", "Get a first token")
    person.paste("the lines that get a token")
    client_id, key = page.locator("#token-curl").inner_text().split("-u '")[1].split("'")[0].split(":")
    token = requests.post(
        f"{visitor.address}/oauth/token",
        auth=(client_id, key),
        data={"grant_type": "client_credentials"},
        timeout=PATIENCE,
    ).json()["access_token"]
    person.paste("the lines that read the products")
    subscription_key = (
        page.locator("#products-curl").inner_text().split("Subscription-Key: ")[1].strip('"\n ')
    )
    headers = {"Authorization": f"Bearer {token}", "Ocp-Apim-Subscription-Key": subscription_key}
    products = requests.get(f"{visitor.address}/api/v1/store/demo/product", headers=headers, timeout=PATIENCE)
    assert [one["ID"] for one in products.json()] == ["business-card"]

    # A first proof and a first order, of which an endpoint in the newcomer's terminal gets a signed event.
    with receiving_events(page, person, tmp_path) as endpoint:
        person.click("link", "Catalog", exact=True)
        person.click("link", "Demo Print")
        person.click("link", "Product business-card")
        person.fill("Name on the card", "Nora New")
        expect(page.get_by_alt_text("Page 1 of the proof")).to_be_visible()
        person.click("button", "Place a demo order")
        expect(page.get_by_role("heading", name="Order 1")).to_be_visible()
        expect(page.get_by_alt_text("Proof of Product business-card")).to_be_visible()
        expect(page.locator(".badge-test").first).to_be_visible()
        assert endpoint.stdout.readline().startswith("order.received ")

    visitor.go("/")
    for done in (
        "Get a first token",
        "Make a first proof",
        "Receive a first event",
        "Place a first order",
    ):
        expect(page.locator(".is-done", has_text=done)).to_be_visible()
    assert len(person.actions) <= MAX_ACTIONS, person.actions
    assert visitor.complaints == []


def test_client_package_is_downloaded_from_its_page(visitor, python_wheel):
    visitor.go("/clients")

    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("link", name=python_wheel.name).click()

    assert Path(download.value.path()).read_bytes() == python_wheel.read_bytes()
    with zipfile.ZipFile(download.value.path()) as package:
        assert "store_fulfillment/client.py" in package.namelist()
    assert visitor.complaints == []
