"""What the shop's admin and its buyer see, in Chromium: `make test-shop ARGS="--screenshots FOLDER"`."""

import contextlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.shop.checks import held, placed
from tests.shop.processes import ROOT
from tests.shop.scene import Scene
from tests.shop.shop import ADMIN, STOREFRONT
from tests.support.browser.chromium import CHROMIUM
from tests.support.patience import PATIENCE

WINDOWS = {"light-1280": ("light", 1280), "dark-390": ("dark", 390)}


def check_pages(scene: Scene, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shop = scene.shop
    good, bad = shop.buy(), shop.buy(card={"Name": "", "Email": "ada@example.com"})
    placed(scene, good)
    held(scene, bad, "Name")
    variant = shop.known["variant"]
    product = shop.get(f"/admin/product-variants?id={variant}&fields=product_id")["variants"][0]["product_id"]
    pages = {
        "placed": (f"/app/orders/{good}", "Packing slip"),
        "held": (f"/app/orders/{bad}", "Retry"),
        "settings": ("/app/settings/print", "Connected"),
        "variant": (f"/app/products/{product}/variants/{variant}", "Pieces in one unit"),
    }
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name, (scheme, width) in WINDOWS.items():
            page = signed_in(browser, shop.url, scheme, width)
            for what, (path, words) in pages.items():
                page.goto(shop.url + path)
                expect(page.get_by_text(words, exact=True).first).to_be_visible(timeout=1000 * PATIENCE)
                photograph(page, folder / f"{what}-{name}.png")
            buyer_sees_card(page.context.new_page(), scene, folder / f"buyer-{name}.png")


def signed_in(browser: Browser, url: str, scheme: str, width: int) -> Page:
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 1000})
    context.set_default_timeout(1000 * PATIENCE)
    context.add_init_script(f"localStorage.setItem('medusa_admin_theme', '{scheme}')")
    page = context.new_page()
    page.goto(f"{url}/app/login")
    page.get_by_placeholder("Email").fill(ADMIN["email"])
    page.get_by_placeholder("Password").fill(ADMIN["password"])
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/app/orders*")
    return page


def photograph(page: Page, file: Path) -> None:
    page.get_by_role("heading", name="Print", exact=True).first.scroll_into_view_if_needed()
    page.wait_for_load_state("networkidle")
    page.screenshot(path=file)


def buyer_sees_card(page: Page, scene: Scene, file: Path) -> None:
    with example_served() as url:
        query = f"shop={scene.shop.url}&key={scene.shop.key}&region={scene.shop.known['region']}"
        page.goto(f"{url}/card.html?{query}&variant={scene.shop.known['variant']}")
        page.get_by_label("Name on the card").fill("Ada Lovelace")
        page.get_by_label("E-mail").fill("ada@example.com")
        page.keyboard.press("Tab")
        expect(page.get_by_role("img", name="Page 1")).to_be_visible(timeout=1000 * PATIENCE)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=file)
        page.get_by_role("button", name="Add to cart").click()
        expect(page.get_by_text("Added to the cart")).to_be_visible(timeout=1000 * PATIENCE)


class Files(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def example_served() -> Iterator[str]:
    handler = partial(Files, directory=ROOT / "clients" / "medusa" / "example")
    with ThreadingHTTPServer(("127.0.0.1", int(STOREFRONT.rsplit(":", 1)[1])), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield STOREFRONT
        server.shutdown()
        thread.join()
