"""Scanning with a hand scanner, which types a number fast and ends with Enter, and with a phone out of reach."""

import re

import pytest
from playwright.sync_api import expect

from production.jobs.models import Job, JobState, Scan
from stores.orders.models import Order
from tests.factories.production import accept, make_provider, make_rule
from tests.support.browser.axe import violations
from tests.support.browser.browser_sessions import in_database
from tests.support.browser.console_fixtures import place_orders
from tests.support.browser.console_forms import SIZES, open_console
from tests.support.browser.visual_checks import shoot

pytestmark = pytest.mark.slow
PAGE = "/admin/production/job/scan/"


@pytest.fixture
def numbers(site, settings, tmp_path) -> list[str]:
    """Of two jobs at their provider."""
    settings.PRODUCTION_FOLDERS = [tmp_path]
    make_rule(make_provider(tmp_path))
    place_orders(site[1])
    for order in Order.objects.filter(status=10, store=site[1].associated)[:2]:
        accept(order)
    jobs = Job.objects.order_by("pk")[:2]
    Job.objects.filter(pk__in=jobs).update(state=JobState.SENT, next_try=None)
    return [job.number for job in jobs]


@pytest.fixture
def connected(visitor):
    """Switches the connection of the window, which later tests share."""
    yield lambda is_on: visitor.page.context.set_offline(not is_on)
    visitor.page.context.set_offline(False)


def scan(page, number: str) -> None:
    """As a scanner does it: keys without a pause."""
    page.keyboard.type(number)
    page.keyboard.press("Enter")


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_scans_are_recorded_as_fast_as_they_are_typed_and_kept_without_a_connection(
    numbers, visitor, connected
):
    page, first, second = visitor.page, *numbers
    open_console(visitor, "/admin/production/job/")
    page.get_by_role("link", name="Scan").click()
    page.wait_for_url("**/scan/", wait_until="load")
    log = page.get_by_role("region", name="Scanned here").get_by_role("listitem")
    for number in (*numbers, "123-4"):
        scan(page, number)
    expect(log).to_have_count(3)
    expect(log).to_contain_text(
        ["123-4: There is no job", f"{second}, ", re.compile(f"{first}, .*: printed")]
    )

    connected(False)
    page.get_by_label("Packed").check()
    for number in numbers:
        scan(page, number)
    expect(page.get_by_role("status")).to_have_text("2 scans kept on this device: no connection.")
    shoot(page, f"scan-{page.viewport_size['width']}")
    assert [one["where"] for one in violations(page) if one["isRequired"]] == []
    assert in_database(Scan.objects.count) == 2

    connected(True)
    expect(log).to_have_count(5)
    expect(page.locator("[data-waiting]")).to_be_empty()
    assert in_database(Scan.objects.filter(step="Packed").count) == 2
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('scan:')).length") == 0


def test_scan_whose_answer_was_lost_counts_once_after_the_page_is_opened_again(numbers, visitor):
    page, number = visitor.page, numbers[0]
    open_console(visitor, PAGE)
    # The request arrives, and its answer never does.
    page.route(
        f"**{PAGE}",
        lambda route: (route.fetch(), route.abort()) if route.request.method == "POST" else route.continue_(),
    )
    page.get_by_label("Missing: print again").check()
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    scan(page, number)
    expect(page.get_by_role("status")).to_contain_text("1 scan kept")
    page.unroute_all()
    page.reload()

    expect(page.get_by_role("region", name="Scanned here").get_by_role("listitem")).to_contain_text(
        f"7 missing, printed again as {number}-2."
    )
    assert in_database(Scan.objects.count) == 1
    assert in_database(lambda: Job.objects.get(number=f"{number}-2").pieces) == 7


# Chromium on Linux reads no bar codes, so that the detector is one whose view the test chooses.
CAMERA = """
window.inView = null;
window.BarcodeDetector = class { async detect() { return inView ? [{ rawValue: inView }] : []; } };
navigator.mediaDevices.getUserMedia = async () => {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  setInterval(() => context.fillRect(0, 0, Math.random() * 90, 90), 50);
  return canvas.captureStream(20);
};
"""


def test_code_that_stays_before_the_camera_is_recorded_once(numbers, visitor):
    first, second = numbers
    open_console(visitor, PAGE)
    assert visitor.page.get_by_role("button", name="Use the camera").is_hidden()
    page = visitor.page.context.new_page()
    try:
        page.add_init_script(CAMERA)
        page.goto(visitor.page.url)
        page.get_by_role("button", name="Use the camera").click()
        log = page.get_by_role("region", name="Scanned here").get_by_role("listitem")
        for count, number in enumerate((first, second), 1):
            page.evaluate("(number) => { inView = number }", number)
            expect(log).to_have_count(count)
        expect(page.locator("video")).to_be_visible()
        page.wait_for_timeout(600)
        expect(log).to_have_count(2)
    finally:
        page.close()
    assert in_database(Scan.objects.filter(step="Printed").count) == 2


def test_scan_that_the_device_cannot_keep_is_named_and_stays_in_the_field(numbers, visitor):
    page, number = visitor.page, numbers[0]
    open_console(visitor, PAGE)
    full = "throw new DOMException('full', 'QuotaExceededError')"
    page.evaluate(f"() => {{ Storage.prototype.setItem = () => {{ {full} }} }}")
    scan(page, number)

    log = page.get_by_role("region", name="Scanned here").get_by_role("listitem")
    expect(log).to_contain_text(f"{number}: not recorded.")
    expect(page.get_by_label("Job number")).to_have_value(number)
