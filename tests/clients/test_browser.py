"""The TypeScript library as it is built, in a page of another site."""

import json
import os
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from playwright.sync_api import Page, sync_playwright

from accounts.models import User
from applications.registration.models import Application
from tests.browser.conftest import BROWSER_PATIENCE
from tests.clients.conftest import PROGRAMS
from tests.support.browser.chromium import CHROMIUM

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


class Site(SimpleHTTPRequestHandler):
    """A folder; the callback is the page itself."""

    def translate_path(self, path: str) -> str:
        return super().translate_path("/page.html" if urlsplit(path).path == "/callback" else path)

    def log_message(self, *said: object) -> None:
        """Says nothing."""


@pytest.fixture
def shop(npm_project, given, tmp_path, settings) -> Iterator[str]:
    """Serves the built modules, the page and what it needs to know."""
    if CHROMIUM is None:
        give_up = pytest.fail if os.environ.get("BROWSER_TESTS") == "required" else pytest.skip
        give_up("Chromium is not installed.")
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "store-fulfillment").symlink_to(npm_project / "node_modules" / "store-fulfillment" / "dist")
    for name in ("page.html", "page.js"):
        (folder / name).symlink_to(PROGRAMS / name)
    (folder / "picture.png").symlink_to(given["picture"])
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Site, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{server.server_port}"
        settings.API_ALLOWED_ORIGINS = [origin]
        application = public_application(given, f"{origin}/callback")
        known = {
            "url": given["url"],
            "clientId": application.client_id,
            "subscriptionKey": given["application"]["subscription_key"],
            "product": "business-card-standard",
        }
        (folder / "given.json").write_text(json.dumps(known))
        yield origin
        server.shutdown()


def public_application(given: dict[str, Any], reply_url: str) -> Application:
    """That of the demo, without its keys: a page can keep no secret."""
    application = Application.objects.get(client_id=given["application"]["external_id"])
    application.client_type, application.redirect_uris = Application.CLIENT_PUBLIC, reply_url
    application.save()
    return application


@pytest.fixture
def session(given, settings) -> dict[str, str]:
    browser = Client()
    browser.force_login(User.objects.get(pk=given["user"]["id"]))
    name = settings.SESSION_COOKIE_NAME
    return {"name": name, "value": browser.cookies[name].value, "url": given["url"]}


def open_and_allow(page: Page, address: str) -> dict[str, Any]:
    page.goto(address)
    page.get_by_role("button", name="Allow").click()
    page.wait_for_function("document.querySelector('#said')?.textContent")
    found: dict[str, Any] = json.loads(page.inner_text("#said"))
    return found


def test_page_of_another_site_signs_in_reads_draws_and_uploads(shop, session):
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = chromium.new_context()
        context.set_default_timeout(BROWSER_PATIENCE)
        context.add_cookies([session])
        found = open_and_allow(context.new_page(), f"{shop}/page.html")
        chromium.close()

    assert "demo" in found.pop("stores")
    assert found == {
        "hasLimit": True,
        "renewed": 1,
        "pdf": "%PDF",
        "widths": [900, 900],
        "refusal": ["NotFound", 404, "product_not_found"],
    }
