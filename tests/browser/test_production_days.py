"""Production by day, as a planner reads it in the morning."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from production.jobs.models import Job, JobState
from stores.orders.business_days import add_business_days
from stores.orders.models import Order
from tests.factories.production import accept, make_provider, make_rule
from tests.support.browser.axe import violations
from tests.support.browser.console_fixtures import place_orders
from tests.support.browser.console_forms import SIZES, open_console
from tests.support.browser.visual_checks import shoot

pytestmark = pytest.mark.slow
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture
def jobs(site, settings, tmp_path) -> list[Job]:
    """One job for yesterday, and one for the next business day at a second provider."""
    settings.PRODUCTION_FOLDERS = [tmp_path]
    press = make_provider(tmp_path)
    other = make_provider(tmp_path, "offset")
    make_rule(press)
    place_orders(site[1])
    for order in Order.objects.filter(status=10, store=site[1].associated)[:2]:
        accept(order)
    found = list(Job.objects.order_by("pk")[:2])
    today = timezone.localdate()
    dues = (today - timedelta(days=1), add_business_days(today, 1))
    for job, due, provider in zip(found, dues, (press, other), strict=True):
        Job.objects.filter(pk=job.pk).update(due=due, provider=provider, state=JobState.SENT, next_try=None)
    return found


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_planner_sees_each_day_and_one_provider_alone(jobs, visitor):
    page = visitor.page
    open_console(visitor, "/admin/production/job/")
    page.get_by_role("link", name="By day").click()

    late, today = (page.get_by_role("region", name=re.compile(rf"^{name}\b")) for name in ("Late", "Today"))
    following = page.get_by_role("region").filter(has=page.locator("#day-next"))
    for column, job in ((late, jobs[0]), (following, jobs[1])):
        expect(column).to_contain_text(job.number)
        expect(column).to_contain_text("Sent")
        expect(column).to_contain_text("order Accepted")
        picture = column.get_by_role("listitem").locator("img")
        picture.scroll_into_view_if_needed()
        picture.evaluate("image => image.decode()")
    shoot(page, f"production-days-{page.viewport_size['width']}")
    assert page.evaluate(OVERFLOW) <= 0
    assert [one["where"] for one in violations(page) if one["isRequired"]] == []

    page.get_by_role("link", name="Offset", exact=True).click()
    expect(following).to_contain_text(jobs[1].number)
    expect(late).to_contain_text("Nothing.")
    expect(today).to_contain_text("Nothing.")
    page.get_by_role("link", name=jobs[1].number).click()
    page.wait_for_url(f"{visitor.address}/admin/production/job/{jobs[1].pk}/change/")
