"""How providers are chosen for the jobs of one order, and how jobs wait that find none."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from production.dispatch.services import choosing
from production.dispatch.services.choosing import SLOTS, choose_for_order
from production.dispatch.services.provider_orders import begin_provider_order
from production.dispatch.services.sending import claim_due_jobs, work_on_job
from production.interface import ProviderRefused
from production.jobs.models import Attempt, AttemptOutcome, HoldReason, Job, JobState
from production.jobs.services.outcomes import record_left_out, record_refused
from production.providers.models import Provider
from production.routing.models import RoutingRule
from stores.orders.models import Order
from tests.factories.orders import card_data, order_body
from tests.factories.production import accept, make_provider, make_rule
from tests.support.orders.shop import Shop
from tests.support.production.jobs import large_reads
from tests.support.production.provider_orders import make_due, placed

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("a_day", [None, 1])
def test_many_items_are_chosen_for_with_no_more_statements_than_few(shop, press, a_day):
    """All other choices wait meanwhile, of jobs that get a provider and of jobs that find none free."""
    Provider.objects.filter(pk=press.pk).update(daily_capacity=a_day)
    chosen, counts = [], []
    for items in (3, 8):
        first = placed(shop, items).jobs.get(item__position=0)
        Job.objects.filter(pk=first.pk).update(provider=press)
        with SLOTS.of_one_job() as slots, CaptureQueriesContext(connection) as statements:
            chosen.append(len(begin_provider_order(first.pk, slots)))
        counts.append(len(statements))

    assert counts[1] <= counts[0]
    assert chosen == ([2, 1] if a_day else [3, 8])


@pytest.fixture
def full(shop: Shop, tmp_path) -> Provider:
    """Takes jobs of up to 200 pieces, but none today; another provider takes larger ones."""
    provider = make_provider(tmp_path, "full", daily_capacity=1)
    make_rule(provider, name="Small", position=1, maximum_quantity=200)
    make_rule(make_provider(tmp_path), name="Large", position=2)
    RoutingRule.objects.get(name="Small").choices.update(daily_capacity=0)
    return provider


def _order(shop: Shop, *quantities: int) -> Order:
    data = card_data()
    items = [
        {"ProductID": "card-two-sided", "Quantity": quantity, "TemplateData": data} for quantity in quantities
    ]
    return accept(shop.place(body=order_body(Items=items)).json()["OrderID"])


def _first(order: Order) -> int:
    return order.jobs.order_by("item__position").values_list("pk", flat=True)[0]


def _due(*orders: Order) -> Sequence[int]:
    """Claims what is due: how many jobs of each order."""
    claimed = claim_due_jobs(limit=1000)
    return [order.jobs.filter(pk__in=claimed).count() for order in orders]


@pytest.mark.parametrize("had_provider", [False, True])
def test_one_look_postpones_all_jobs_of_an_order_that_wait(shop, full, tmp_path, had_provider):
    """The next claim finds the job of another provider; the statements are few, however many jobs there are.

    Also of jobs whose provider was disabled before it had them.
    """
    closed = make_provider(tmp_path, "closed", is_enabled=False) if had_provider else None
    counts = []
    for items in (5, 50):
        order, other = _order(shop, *[100] * items), _order(shop, 500)
        order.jobs.update(provider=closed)
        with CaptureQueriesContext(connection) as statements:
            assert work_on_job(job_pk=_first(order)) is False
        counts.append(len(statements))
        assert _due(order, other) == [0, 1]
        assert set(order.jobs.values_list("provider", "state")) == {(closed and closed.pk, JobState.QUEUED)}

    assert max(counts) <= 20
    unread = ('"stores_product"."template"', '"stores_order"."rendering"', '"stores_store"."rendering"')
    jobs = [statement["sql"] for statement in statements if "stores_orderitem" in statement["sql"]]
    assert not [name for name in unread for sql in jobs if name in sql]
    assert "per day of this rule are used up" in order.jobs.first().message


def test_sibling_claimed_meanwhile_looks_no_more(shop, full):
    order = _order(shop, 100, 100, 100)
    [first, second, *_] = claim_due_jobs(limit=3)
    work_on_job(job_pk=first)

    with CaptureQueriesContext(connection) as statements:
        assert work_on_job(job_pk=second) is False

    assert not [statement for statement in statements if "production_routingrule" in statement["sql"]]
    assert _due(order) == [0]


def test_same_look_chooses_what_is_free_and_fails_what_matches_no_rule(shop, full):
    order = _order(shop, 100, 500, 100, 1000)
    RoutingRule.objects.filter(name="Large").update(maximum_quantity=500)

    work_on_job(job_pk=_first(order))

    found = order.jobs.order_by("item__position").values_list("state", "provider__code")
    waits = (JobState.QUEUED, None)
    assert list(found) == [waits, (JobState.QUEUED, "press"), waits, (JobState.FAILED, None)]
    assert _due(order) == [1]


def test_all_jobs_are_chosen_at_the_first_look_after_capacity_was_freed(shop, full):
    order = _order(shop, *[100] * 5)
    work_on_job(job_pk=_first(order))
    latest = order.jobs.latest("next_try").next_try
    assert latest <= timezone.now() + choosing.WAIT_FOR_PROVIDER

    full.choices.update(daily_capacity=None)
    Provider.objects.update(daily_capacity=None)
    make_due()
    work_on_job(job_pk=_first(order))

    assert order.jobs.filter(provider=full).count() == 5


def _end_attempt(job: Job, provider: Provider, message: str, *, is_left_out: bool = False) -> None:
    attempt = Attempt.objects.create(
        job=job, number=job.number, provider=provider, kind="Submit", started=timezone.now()
    )
    if is_left_out:
        record_left_out(attempt=attempt, outcome=AttemptOutcome.REFUSED, message=message)
    else:
        record_refused(attempt=attempt, error=ProviderRefused(message))


def _look(order: Order) -> Job:
    make_due()
    work_on_job(job_pk=_first(order))
    return order.jobs.get()


def test_job_fails_with_the_last_refusal_once_every_provider_of_its_rule_refused_it(shop, full, tmp_path):
    """Also after a wait for another provider, and not with the fault of another job, which was sent with it."""
    press, order = make_provider(tmp_path, "first"), _order(shop, 100)
    choice = full.choices.get()
    choice.rule.choices.create(provider=press, priority=0)
    _end_attempt(order.jobs.get(), press, "No such paper.")
    waiting = _look(order)
    assert (waiting.state, waiting.provider) == (JobState.QUEUED, None)
    assert "First: it refused this job; Full: its 0 jobs per day" in waiting.message

    _end_attempt(waiting, full, "No such product, of another job.", is_left_out=True)
    choice.delete()
    failed = _look(order)
    assert failed.state == JobState.FAILED
    assert failed.message == "Every provider refused it. First refused it: No such paper."


def test_job_waits_for_a_provider_that_was_disabled_after_it_refused_it(shop, full):
    order = _order(shop, 100)
    _end_attempt(order.jobs.get(), full, "No such paper.")
    Provider.objects.filter(pk=full.pk).update(is_enabled=False)

    waiting = _look(order)

    assert (waiting.state, waiting.message) == (
        JobState.QUEUED,
        "Waits for a provider. Full: it is disabled",
    )


@pytest.mark.parametrize("had_provider", [False, True])
def test_wait_grows_with_the_orders_that_wait_for_the_same_rule(
    shop, full, tmp_path, monkeypatch, had_provider
):
    """One that is held waits for a person, and delays no others."""
    monkeypatch.setattr(choosing, "WAIT_FOR_EACH", timedelta(seconds=100))
    closed = make_provider(tmp_path, "closed", is_enabled=False) if had_provider else None
    rule = RoutingRule.objects.get(name="Small")
    _order(shop, 100).jobs.update(provider=closed, rule=rule, held=HoldReason.MANUAL, next_try=None)
    waits = []
    for _ in range(5):
        order = _order(shop, 100, 100)
        order.jobs.update(provider=closed)
        work_on_job(job_pk=_first(order))
        [wait] = {job.next_try - job.updated for job in order.jobs.all()}
        waits.append(round(wait.total_seconds()))

    assert waits == [15, 100, 200, 300, 300]


def test_jobs_of_an_order_are_made_and_chosen_for_without_templates(shop, press):
    """Each of its hundreds of jobs would have a copy."""
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    order = shop.place(body=order_body(Items=[item] * 2)).json()["OrderID"]

    with CaptureQueriesContext(connection) as statements, SLOTS.of_one_job() as slots:
        first = accept(order).jobs.earliest("pk")
        choose_for_order(job_pk=first.pk)
        sent = begin_provider_order(first.pk, slots)

    assert len(sent) == 2
    assert large_reads(statements) == []
