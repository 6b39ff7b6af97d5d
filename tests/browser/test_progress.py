"""Long work shows how far it is: the bar moves, ends in the report, and can be followed without JavaScript."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connection
from playwright.sync_api import expect

from delivery.datasets.services import locking
from delivery.datasets.services.imports import import_upload
from stores.catalog.services import uploads
from stores.catalog.services.imports import export_catalog
from tests.factories.stores import make_product
from tests.support.browser.console_forms import open_console
from tests.support.patience import PATIENCE
from tests.support.servers.queued_jobs import work_off

pytestmark = pytest.mark.slow


LINES, PRODUCTS = 40_000, 400
# Every value the bar has had.
NOTE_VALUES = """() => {
    const bar = document.querySelector("progress");
    window.values = [bar.value];
    new MutationObserver(() => window.values.push(bar.value)).observe(bar, { attributes: true });
}"""


class Halfway:
    """Work in a thread, as a process of its own would do it, that waits half done until the page has shown it."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.work, self.reached, self.seen = work, Event(), Event()
        self.thread = Thread(target=self._do)

    def pause(self) -> None:
        self.reached.set()
        self.seen.wait(PATIENCE)

    def go_on(self) -> None:
        self.seen.set()
        self.thread.join(PATIENCE)

    def _do(self) -> None:
        try:
            self.work()
        finally:
            connection.close()


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    """More lines than are read between two looks at the clock."""
    file = tmp_path / "counts.csv"
    rows = (
        f"{80_000 + number // 40},C{number % 40 + 1:03},{number % 600},5,{number % 600 + 5}"
        for number in range(LINES)
    )
    file.write_text("\n".join(["ZIP,CRRT,RES,BUS,TOT", *rows]))
    return file


@pytest.fixture
def eddm(monkeypatch) -> Iterator[list[Halfway]]:
    """Imports that were started: in a thread of this process, which knows the database of the test."""
    started: list[Halfway] = []

    class Process:
        def __init__(self, command: list[str], **options: Any) -> None:
            started.append(Halfway(lambda: import_upload(run_id=int(command[-1]))))
            started[-1].thread.start()

        def wait(self) -> None:
            started[-1].thread.join()

    show = locking.ProgressLine._show

    def show_and_wait(self, phase: str, share: float, **more: Any) -> None:
        before = self.next
        show(self, phase, share, **more)
        if self.next != before and 0.05 < share < 0.6 and not started[-1].reached.is_set():
            started[-1].pause()

    monkeypatch.setattr("delivery.datasets.services.imports.subprocess.Popen", Process)
    monkeypatch.setattr(locking, "EVERY_SECONDS", 0)
    monkeypatch.setattr(locking.ProgressLine, "_show", show_and_wait)
    yield started
    for one in started:
        one.go_on()


@pytest.fixture
def catalog(site, tmp_path: Path) -> Path:
    """Read in several bites."""
    store = make_product(site[1].associated).store
    whole = json.loads(b"".join(export_catalog(store_ids=[store.external_id])))
    products = whole["Stores"][0]["Products"]
    products += [{**products[0], "ID": f"more-{number}"} for number in range(PRODUCTS)]
    file = tmp_path / "spring.json"
    file.write_text(json.dumps(whole))
    return file


def follow(visitor, work: Halfway, ends: str) -> None:
    """The bar is seen to move, with a script and without one, and then gives way to the report."""
    page = visitor.page
    page.evaluate(NOTE_VALUES)
    assert work.reached.wait(PATIENCE)
    context = page.context.browser.new_context(
        java_script_enabled=False, storage_state=page.context.storage_state()
    )
    plain = context.new_page()
    plain.goto(page.url)
    reached = float(plain.locator("progress").get_attribute("value"))
    assert 0 < reached < 100
    expect(plain.locator("[data-progress-url] [role=status]")).to_contain_text(f"{reached:.0f}%")

    expect(page.locator("progress")).to_have_js_property("value", reached)
    values = page.evaluate("window.values")
    assert values == sorted(values)
    assert values[-1] == reached
    expect(page.locator("[data-progress-url] [role=status]")).to_contain_text(f"{reached:.0f}%")
    work.go_on()
    plain.get_by_role("link", name="Refresh").click()
    expect(plain.locator("progress")).to_have_count(0)
    expect(plain.get_by_text(ends, exact=True).first).to_be_visible()
    context.close()

    expect(page.locator("progress")).to_have_count(0)
    expect(page.get_by_text(ends, exact=True).first).to_be_visible()


def test_import_of_delivery_counts_shows_how_far_it_is(visitor, eddm, counts):
    page = open_console(visitor, "/admin/delivery/importrun/add/")
    page.set_input_files("input[type=file]", counts)
    page.locator("main form [type=submit]").first.click()
    expect(page.get_by_text("Preview of the first lines")).to_be_visible()

    page.fill("[name=vintage]", "2026-09")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator("progress")).to_be_visible()

    follow(visitor, eddm[0], "Loaded")
    assert visitor.complaints == []


def test_import_of_a_catalog_shows_how_far_it_is(catalog, visitor, monkeypatch):
    checks = Halfway(lambda: work_off(uploads.TASK))
    show = uploads._Progress.show

    def show_and_wait(self, position: int) -> None:
        self.next_update = 0
        show(self, position)
        if 0.1 < position / self.upload.size < 0.9 and not checks.reached.is_set():
            checks.pause()

    monkeypatch.setattr(uploads._Progress, "show", show_and_wait)
    page = open_console(visitor, "/admin/stores/catalogupload/add/")
    page.set_input_files("input[type=file]", catalog)
    page.get_by_role("button", name="Upload and check").click()
    expect(page.locator("progress")).to_be_visible()

    checks.thread.start()
    follow(visitor, checks, "Checked")
    expect(page.get_by_role("button", name="Import it now")).to_be_visible()
    assert visitor.complaints == []
