"""What the console says of the other jobs of an order, and of its day of delivery."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.formats import date_format

from production.dispatch.selectors import jobs_by_day
from production.dispatch.services.actions import cancel_job
from production.jobs.models import Job, JobState
from production.jobs.services.adapter_jobs import build_adapter_job
from production.providers.models import Provider
from stores.catalog.models import Product
from stores.orders.models import Order
from tests.factories.production import STORE, make_provider, make_rule
from tests.support.orders.shop import Shop
from tests.support.production.provider_orders import placed

pytestmark = pytest.mark.django_db
BOARD = "/admin/production/job/"
MAX_STATEMENTS = 14
LINKED = '<a class="console-link whitespace-nowrap"'


@pytest.fixture
def order(shop: Shop, tmp_path) -> Order:
    make_rule(make_provider(tmp_path))
    return placed(shop, items=3)


def _page(client: Client, address: str) -> tuple[str, int]:
    client.get(address)
    with CaptureQueriesContext(connection) as found:
        response = client.get(address)
    assert response.status_code == 200
    return re.sub(r"\s+", " ", response.content.decode()), len(found)


def _link(job: Job) -> str:
    return f'href="/admin/production/job/{job.pk}/change/">{job.number}</a>'


def test_page_of_a_job_names_its_place_and_links_to_the_others(operator, order):
    first, second, third = order.jobs.order_by("item__position")

    page, statements = _page(operator, f"{BOARD}{second.pk}/change/")

    assert "2 of 3<br>" in page
    assert f"{_link(first)}, <a" in page
    assert _link(third) in page
    assert _link(second) not in page
    assert date_format(order.latest_delivery, "DATE_FORMAT") in page
    assert statements <= MAX_STATEMENTS


def test_job_of_an_order_of_one_item_says_nothing_of_others(operator, shop, tmp_path):
    make_rule(make_provider(tmp_path))
    job = placed(shop, items=1).jobs.get()

    page, _ = _page(operator, f"{BOARD}{job.pk}/change/")

    assert "Jobs of the order" not in page
    assert "Deliver by" in page


@pytest.mark.parametrize(
    ("edge", "sides"),
    [
        ("", "Two sides, head to head · Wire comb"),
        ("Top", "Two sides, head to foot · Wire comb · binding edge: top"),
    ],
)
def test_page_and_card_of_a_job_say_size_paper_and_how_pages_turn(operator, order, edge, sides):
    Product.objects.update(
        stock_code="SILK-300",
        stock_weight_gsm=300,
        coating="Satin",
        finish="On an easel",
        page_count=26,
        template=None,
        binding="WireComb",
        binding_edge=edge,
        width_mm=Decimal("203.200"),
        height_mm=Decimal("101.600"),
    )
    # An order that kept no finishing has that of the product.
    order.items.update(finishing=None)

    page, statements = _page(operator, f"{BOARD}{order.jobs.first().pk}/change/")
    cards, _ = _page(operator, f"{BOARD}days/")

    assert "203.2 × 101.6 mm" in page
    assert "SILK-300 · 300 g/m² · Satin · On an easel" in page
    assert sides in page
    assert "SILK-300 · Wire comb" in cards
    assert statements <= MAX_STATEMENTS


def test_cards_of_production_by_day_say_place_and_day_of_delivery(operator, order):
    first, second, third = order.jobs.order_by("item__position")

    page, statements = _page(operator, f"{BOARD}days/")

    assert f"deliver by {date_format(order.latest_delivery, 'MONTH_DAY_FORMAT')}" in page
    assert f'<a class="console-link" href="/admin/stores/order/{order.pk}/change/">2 of 3 of order' in page
    assert f"2 of 3 of order {order.number}</a>: {LINKED} {_link(first)}, <a" in page
    assert page.count(_link(third)) == 3
    assert second.number in page
    assert statements <= MAX_STATEMENTS


def test_columns_and_days_say_how_many_pieces_are_to_be_printed(operator, order, shop):
    other = placed(shop, items=1)
    late, later = timezone.localdate() - timedelta(days=3), timezone.localdate() + timedelta(days=9)
    Job.objects.filter(order=order).update(due=late, pieces=None)
    Job.objects.filter(order=other).update(due=later, pieces=7)
    reprint = order.jobs.order_by("item__position")[0]
    Job.objects.filter(pk=reprint.pk).update(due=late - timedelta(days=1), pieces=12)
    whole = sum(job.quantity for job in order.jobs.exclude(pk=reprint.pk))

    page, statements = _page(operator, f"{BOARD}days/")

    columns = {day.key: day for day in jobs_by_day(Job.objects.all())}
    assert columns["late"].pieces == 12 + whole
    assert [total for *_, total in columns["late"].jobs] == [(1, 12), (2, whole), (2, whole)]
    assert columns["today"].pieces == 0
    assert columns["later"].pieces == 7
    assert f"{12 + whole:,} pieces" in page
    assert f"2 jobs, {whole:,} pieces" in " ".join(page.split())
    assert statements <= MAX_STATEMENTS


def test_board_says_place_and_links_to_the_others(operator, order):
    first, _, third = order.jobs.order_by("item__position")

    page, statements = _page(operator, BOARD)

    assert f" · 2 of 3: {LINKED} {_link(first)}, {LINKED} {_link(third)}" in page
    assert statements <= MAX_STATEMENTS


def test_places_are_those_of_the_tickets(order, shop, tmp_path):
    """Without cancelled jobs, and without those of another provider."""
    jobs = list(order.jobs.order_by("item__position"))
    cancel_job(job=jobs[0], actor=STORE)
    other = placed(shop, items=3)
    away = other.jobs.order_by("item__position")[0]
    Job.objects.update(provider=Provider.objects.get(code="press"))
    Job.objects.filter(pk=away.pk).update(provider=make_provider(tmp_path, "offset"))
    Job.objects.filter(state=JobState.QUEUED).update(due=timezone.localdate())

    places = {
        job.number: (place.number, place.total)
        for day in jobs_by_day(Job.objects.all())
        for job, place, _ in day.jobs
    }

    assert len(places) == 5
    for job in Job.objects.exclude(state=JobState.CANCELLED).select_related("order"):
        siblings = build_adapter_job(job).siblings
        assert places[job.number] == (siblings.index(job.number) + 1, len(siblings))
    assert sorted(places.values()) == [(1, 1), (1, 2), (1, 2), (2, 2), (2, 2)]
