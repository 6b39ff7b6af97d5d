"""Pages of console and portal beside the orders of the benchmark: time of the server, and what a browser feels."""

import gzip
import re
import shutil
import statistics
import time
from collections.abc import Iterator
from typing import Any

import requests
from playwright.sync_api import BrowserContext, Request, sync_playwright

from tests.benchmarks.servers import Server

SERVER_MS, PAINT_MS, SHIFT, KILOBYTES, MAP_KILOBYTES = 150, 1000, 0.05, 200, 600
NAME, PASSWORD = "pages", "a long pass phrase"
# Pictures within other answers, such as those that the editor draws.
PICTURE = re.compile(rb"data:image/[^\"]+")
# What the page waited for its largest part, and how far its parts moved.
WATCH = """
window.paint = 0; window.shift = 0;
new PerformanceObserver(l => l.getEntries().forEach(e => { window.paint = e.startTime; }))
  .observe({type: "largest-contentful-paint", buffered: true});
new PerformanceObserver(l => l.getEntries().forEach(e => { if (!e.hadRecentInput) window.shift += e.value; }))
  .observe({type: "layout-shift", buffered: true});
"""


def page_lines(server: Server, store: str) -> list[str]:
    """A row of the table for each page, the slowest first."""
    cookies = _sign_in(server)
    addresses = dict(_addresses(store))
    times = {name: _server_ms(server, cookies, path) for name, path in addresses.items()}
    felt = _felt(server, cookies, addresses)
    lines = []
    for name, taken in sorted(times.items(), key=lambda one: -one[1]):
        paint, shift, size = felt[name]
        most = MAP_KILOBYTES if name == "mailing map" else KILOBYTES
        missed = taken > SERVER_MS or paint > PAINT_MS or shift > SHIFT or size > most
        value = f"{taken:.0f} ms, painted {paint:.0f} ms, shift {shift:.3f}, {size:.0f} kB"
        mark = f"≤ {SERVER_MS} ms, {PAINT_MS} ms, {SHIFT}, {most} kB"
        lines.append(f"| page: {name} | {value} | {mark}{' **(over)**' if missed else ''} |")
    return lines


def _addresses(store: str) -> Iterator[tuple[str, str]]:
    from applications.registration.models import Application
    from stores.catalog.models import Product
    from stores.orders.models import Order

    order = Order.objects.filter(store__external_id=store).order_by("-created", "-pk")[0]
    application = Application.objects.get(name="Bench")
    product = Product.objects.filter(store__external_id=store).order_by("pk")[0]
    orders = "/admin/stores/order/"
    yield "console start", "/admin/"
    yield "orders", orders
    yield "orders, due late", f"{orders}?due=late"
    yield "orders of a store", f"{orders}?store={store}"
    yield "orders, oldest first", f"{orders}?sort=oldest"
    yield "orders found by a name", f"{orders}?q=Grace+Kim"
    yield "orders found by a rare name", f"{orders}?q=Zebulon"
    yield "search of everything", "/admin/search/?s=grace"
    yield "order", f"{orders}{order.pk}/change/"
    yield "approvals", "/admin/stores/approvalrequest/"
    yield "budgets", "/admin/stores/budget/"
    yield "production", "/admin/production/job/"
    yield "products", "/admin/stores/product/"
    yield "product", f"/admin/stores/product/{product.pk}/change/"
    yield "product editor", f"/admin/stores/product/{product.pk}/template/"
    yield "new product", "/admin/stores/product/add/"
    yield "new role", "/admin/accounts/role/add/"
    yield "batches", "/admin/stores/batch/"
    yield "stores", "/admin/stores/store/"
    yield "audit log", "/admin/audit/"
    yield "system", "/admin/system/"
    yield "portal start", "/"
    yield "catalog", "/catalog"
    yield "store's catalog", f"/catalog/{store}"
    yield "playground", f"/catalog/{store}/{product.external_id}"
    yield "application", f"/applications/{application.pk}"
    yield "application's orders", f"/applications/{application.pk}/orders"
    yield "application's requests", f"/applications/{application.pk}/requests"
    yield "mailing map", "/mailings"
    yield "API reference", "/api/v1/docs"


def _sign_in(server: Server) -> dict[str, str]:
    from accounts.models import Tenant, User
    from tests.factories.accounts import OperatorFactory

    if not User.objects.filter(username=NAME).exists():
        OperatorFactory(tenant=Tenant.objects.get(domain="bench.example"), username=NAME, password=PASSWORD)
    session = requests.Session()
    login = f"{server.url}/accounts/login/"
    session.get(login)
    form = {"username": f"{NAME}@bench.example", "password": PASSWORD}
    form["csrfmiddlewaretoken"] = session.cookies["csrftoken"] or ""
    answer = session.post(login, form, allow_redirects=False)
    if answer.status_code != 302:
        raise SystemExit(f"The operator of the benchmark could not sign in ({answer.status_code}).")
    return {cookie.name: cookie.value or "" for cookie in session.cookies}


def _server_ms(server: Server, cookies: dict[str, str], path: str) -> float:
    """The median of seven after two; no page is asked for more than ten times a second."""
    taken = []
    for _ in range(9):
        started = time.perf_counter()
        answer = requests.get(server.url + path, cookies=cookies, timeout=60)
        taken.append((time.perf_counter() - started) * 1000)
        if answer.status_code != 200:
            raise SystemExit(f"{path} answered {answer.status_code}.")
        time.sleep(0.1)
    return statistics.median(taken[2:])


def _felt(
    server: Server, cookies: dict[str, str], addresses: dict[str, str]
) -> dict[str, tuple[float, float, float]]:
    """For each page the milliseconds to its largest paint, its shift, and kilobytes without pictures."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        felt = {}
        for name, path in addresses.items():
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            context.add_cookies([{"name": n, "value": v, "url": server.url} for n, v in cookies.items()])
            context.add_init_script(WATCH)
            felt[name] = _visit(context, server.url + path)
            context.close()
        browser.close()
    return felt


def _visit(context: BrowserContext, address: str) -> tuple[float, float, float]:
    """Sizes are those of a first visit, paint and shift those of a second one, when the browser has the files."""
    page = context.new_page()
    requests_made: list[Request] = []
    page.on("requestfinished", lambda request: requests_made.append(request))
    page.goto(address, wait_until="networkidle")
    size = sum(map(_sent_bytes, list(requests_made)))
    page.reload(wait_until="networkidle")
    page.wait_for_function("window.paint > 0")
    felt: dict[str, Any] = page.evaluate("({paint: window.paint, shift: window.shift})")
    return float(felt["paint"]), float(felt["shift"]), size / 1000


def _sent_bytes(request: Request) -> int:
    """As installed services send it: the development server of this run does not compress files."""
    response = request.response()
    if request.resource_type == "image" or response is None:
        return 0
    body = PICTURE.sub(b"", response.body())
    return len(body) if request.resource_type == "font" else len(gzip.compress(body))
