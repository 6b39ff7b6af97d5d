"""Real pages in a real Chromium; skipped where none is installed, unless BROWSER_TESTS=required."""

import asyncio
import os
import re
import signal
import subprocess
from asyncio import AbstractEventLoop
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from stores.catalog.models import Product
from tests.factories.orders import make_card
from tests.support.browser.browser_sessions import cookies_of, in_database
from tests.support.browser.chromium import CHROMIUM
from tests.support.browser.console_fixtures import place_orders
from tests.support.database.snapshots import Snapshot
from tests.support.patience import PATIENCE
from tests.support.scenario import PASSWORD, World

# Of everything that is expected on a page or done with it.
BROWSER_PATIENCE = 1000 * PATIENCE
expect.set_options(timeout=BROWSER_PATIENCE)
# As Playwright starts it itself, as far as it counts for pages.
QUIET = [
    "--headless",
    "--accept-lang=en-US",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--mute-audio",
    # A process of its own for the pages of each test, and one made ahead, cost a quarter of the time of these tests.
    "--process-per-site",
    "--renderer-process-limit=1",
    "--disable-features=SpareRendererForSitePerProcess",
]
# Violations are also reported to the page, for policies that only report.
REPORT_VIOLATIONS = """addEventListener("securitypolicyviolation", (event) =>
    console.error(`Content-Security-Policy: ${event.violatedDirective} ${event.blockedURI}`))"""


@dataclass
class Visitor:
    """A browser window and what its console complained about."""

    page: Page
    address: str
    world: World
    complaints: list[str] = field(default_factory=list)
    brings_axe: bool = False
    # That pages are looked at in, where `faults_of` chose it.
    scheme: str = ""

    def go(self, path: str) -> int:
        response = self.page.goto(self.address + path)
        assert response is not None
        return response.status

    def sign_in(self, name: str = "user") -> None:
        self.page.fill("#id_username", name)
        self.page.fill("#id_password", PASSWORD)
        self.page.click("main button[type=submit]")

    def enter(self, path: str, name: str = "user") -> None:
        """Signed in by a cookie alone; those of `test_journeys.py` go through the form."""
        self.page.context.add_cookies(in_database(cookies_of, name, self.address))
        self.go(path)

    def confirm_password(self, page: Page | None = None) -> None:
        """On the page that asks for it before a dangerous action."""
        page = page or self.page
        page.fill("#id_password", PASSWORD)
        page.get_by_role("button", name="Continue").click()

    def end_confirmation(self) -> None:
        """As ten minutes after the sign-in: the next dangerous action asks for the password."""
        self.page.wait_for_selector("header form")
        self.page.evaluate("""async () => await fetch("/profile/confirmation/end",
            {method: "POST", body: new FormData(document.querySelector("header form"))})""")


@pytest.fixture(scope="session")
def chromium_address(tmp_path_factory) -> Iterator[str]:
    """One Chromium for all tests, each with windows of its own: to start it takes as long as most of them."""
    if CHROMIUM is None:
        give_up = pytest.fail if os.environ.get("BROWSER_TESTS") == "required" else pytest.skip
        give_up("Chromium is not installed.")
    profile = tmp_path_factory.mktemp("chromium")
    command = [CHROMIUM, *QUIET, "--remote-debugging-port=0", f"--user-data-dir={profile}"]
    # Debian's is a script that waits for the browser: a signal has to reach both.
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    said: list[str] = []
    for line in process.stderr:
        said.append(line)
        if found := re.search(r"ws://\S+", line):
            break
    else:
        pytest.fail("Chromium did not start: " + "".join(said[-5:]))
    # Read on, or it stops when the pipe is full.
    Thread(target=process.stderr.read, daemon=True).start()
    yield found[0]
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    process.stderr.close()


@pytest.fixture(scope="session")
def driven_chromium(chromium_address: str) -> Iterator[tuple[Browser, AbstractEventLoop]]:
    """One driver for all tests, which takes long to start; its loop runs only within `chromium`."""
    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        browser = playwright.chromium.connect_over_cdp(chromium_address, timeout=BROWSER_PATIENCE)
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture
def chromium(
    site: tuple[str, World], driven_chromium: tuple[Browser, AbstractEventLoop]
) -> Iterator[Browser]:
    """After what writes: Django refuses the database to a thread in which a loop runs."""
    browser, loop = driven_chromium
    asyncio._set_running_loop(loop)
    yield browser
    asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def windows() -> dict[tuple[int, str], BrowserContext]:
    """Contexts by width and color scheme, for one test after the other: each has a process and a cache to fill."""
    return {}


@pytest.fixture
def site(transactional_db, live_server, made_world: Snapshot[World], settings) -> tuple[str, World]:
    settings.PUBLIC_URL = live_server.url
    return live_server.url, made_world.restore()


@pytest.fixture
def business_card(site: tuple[str, World]) -> None:
    """At the demo store."""
    make_card(site[1].demo, "business-card")


@pytest.fixture
def product_page(site: tuple[str, World]) -> str:
    place_orders(site[1])
    return f"/admin/stores/product/{Product.objects.get(external_id='card-two-sided').pk}/change/"


@pytest.fixture
def visitor(request, site, chromium: Browser, windows) -> Iterator[Visitor]:
    """At a desk; a test may ask for another window: `parametrize("visitor", [(width, scheme)], indirect=True)`."""
    window = width, scheme = getattr(request, "param", (1280, "light"))
    context = windows.get(window)
    if context is None:
        context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
        context.set_default_timeout(BROWSER_PATIENCE)
        context.add_init_script(REPORT_VIOLATIONS)
        # It stays open: a window anew for each test, with the frame that Chromium draws, takes longer than the test.
        context.new_page()
        windows[window] = context
    page = context.new_page()
    found = Visitor(page, *site)
    page.on("console", lambda said: found.complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    yield found
    leave_nothing(context, found.address)


def leave_nothing(context: BrowserContext, address: str) -> None:
    """Of the session, the storage and the pages of a test; what was cached of static files stays."""
    first, *others = context.pages
    for page in others:
        page.close()
    context.clear_cookies()
    context.clear_permissions()
    session = context.new_cdp_session(first)
    session.send("Storage.clearDataForOrigin", {"origin": address, "storageTypes": "all"})
    session.detach()


class Returned(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(
            b"<!doctype html><title>Back</title><link rel=icon href=data:,>Back at the application"
        )

    def log_message(self, *said: object) -> None:
        """Says nothing."""


@pytest.fixture
def reply_url(site: tuple[str, World]) -> Iterator[str]:
    """Where the application of the world is really waiting for the answer, at another origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Returned)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/callback"
    application = site[1].application
    application.redirect_uris = address
    application.save()
    yield address
    server.shutdown()
    server.server_close()
