"""How many jobs of an order there are at a provider: tickets, console and scan page say the same, from the first on."""

import json
import uuid

import pytest
from django.urls import reverse

from production.dispatch.services.actions import hold_job
from production.dispatch.services.sending import claim_due_jobs, work_on_job
from production.jobs.models import Job, ScanStep
from production.jobs.selectors import order_places
from production.routing.models import RoutingRule
from stores.orders.models import Order
from tests.factories.orders import card_data, order_body
from tests.factories.production import STORE, accept, make_provider, make_rule, work_off_jobs
from tests.support.orders.shop import Shop
from tests.support.scenario import sign_in

pytestmark = pytest.mark.django_db
# Fewer than 200 pieces go to the press, others to the offset printer.
QUANTITIES = (100, 500, 100, 500, 100, 500)
PLACES = ["1 of 3", "1 of 3", "2 of 3", "2 of 3", "3 of 3", "3 of 3"]


@pytest.fixture
def order(shop: Shop, tmp_path) -> Order:
    make_rule(make_provider(tmp_path, "offset"), minimum_quantity=200, position=1)
    make_rule(make_provider(tmp_path), position=2)
    items = [
        {"ProductID": "card-two-sided", "Quantity": quantity, "TemplateData": card_data()}
        for quantity in QUANTITIES
    ]
    return accept(shop.place(body=order_body(Items=items)).json()["OrderID"])


def _jobs(order: Order) -> list[Job]:
    return list(order.jobs.select_related("order").order_by("item__position"))


def _work_one_by_one() -> None:
    while keys := claim_due_jobs(limit=1):
        work_on_job(job_pk=keys[0])


def _tickets(root) -> list[str]:
    tickets = [json.loads(path.read_bytes()) for path in root.glob("*/in/*/*.json")]
    tickets.sort(key=lambda ticket: ticket["Job"] if "Job" in ticket else ticket["JobNumber"])
    return [f"{ticket['ItemNumber']} of {ticket['Items']}" for ticket in tickets]


def _console(order: Order) -> list[str]:
    jobs = _jobs(order)
    places = order_places(jobs)
    return [f"{places[job.pk].number} of {places[job.pk].total}" for job in jobs]


def test_first_ticket_counts_the_jobs_that_go_to_its_provider(order, tmp_path):
    _work_one_by_one()

    assert _tickets(tmp_path) == _console(order) == PLACES


def test_held_job_has_its_provider_and_place_too(order, tmp_path):
    held = _jobs(order)[5]
    hold_job(job=held, actor=STORE)

    _work_one_by_one()

    held.refresh_from_db()
    assert (held.state, held.held, held.provider.code) == ("Queued", "Manual", "offset")
    assert _console(order) == PLACES
    assert _tickets(tmp_path) == PLACES[:5]


def test_job_that_no_provider_takes_now_is_not_counted_at_another(order, tmp_path):
    RoutingRule.objects.get(position=1).choices.update(daily_capacity=0)

    work_off_jobs()

    assert _tickets(tmp_path) == ["1 of 3", "2 of 3", "3 of 3"]
    assert _console(order) == PLACES


def test_scan_page_counts_the_packed_jobs_of_the_provider(world, client, order):
    _work_one_by_one()
    operator = sign_in(client, world.operator)

    for job, words in zip(_jobs(order)[::2], ("1 of 3", "2 of 3", "3 of 3"), strict=True):
        sent = {"id": str(uuid.uuid4()), "code": job.number, "step": ScanStep.PACKED}
        response = operator.post(reverse("admin:production_job_scan"), sent).json()["words"]
        assert response.endswith(f"{words} jobs of the order at Press are packed.")
