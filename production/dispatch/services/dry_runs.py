"""Dry runs: what would be sent for an order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone

from fulfillment.core.errors import NotFound
from fulfillment.core.text import parse_number, parse_uuid
from production.interface import AdapterJob
from production.jobs.selectors import job_number
from production.jobs.services.adapter_jobs import build_item_job
from production.providers.models import Provider
from production.providers.selectors import adapter_of
from stores.orders.models import Order

MAX_ITEMS = 20


@dataclass(frozen=True, slots=True)
class DryRun:
    """What one request or folder would hold: a job, or those of the order that go together."""

    title: str
    parts: Mapping[str, Any]


def _find_order(reference: str) -> Order:
    """Finds an order by number or OrderID."""
    number = parse_number(reference)
    match = {"pk": parse_uuid(reference)} if number is None else {"number": number}
    order = Order.objects.select_related("store").filter(**match).first()
    if order is None:
        raise NotFound(f"There is no order {reference}.", code="order_not_found")
    return order


def dry_run(provider: Provider, reference: str) -> Sequence[DryRun]:
    """Dry runs of the order's first items; raises the adapter's errors."""
    order, adapter = _find_order(reference), adapter_of(provider)
    runs: dict[Any, list[AdapterJob]] = {}
    positions = order.items.order_by("position").values_list("position", flat=True)
    numbers = [job_number(order, position) for position in positions]
    for item in order.items.select_related("product").order_by("position")[:MAX_ITEMS]:
        number = job_number(order, item.position)
        job = build_item_job(order, item, number=number, created=timezone.now(), siblings=numbers)
        key = job.ship_by if provider.takes_several_items else number
        runs.setdefault(key, []).append(job)
    return [DryRun(_write_title(jobs), adapter.preview(_merge_jobs(jobs))) for jobs in runs.values()]


def _write_title(jobs: Sequence[AdapterJob]) -> str:
    names = ", ".join(
        f"{job.number}: {job.item.quantity:,} × {job.item.product_name}"  # noqa: RUF001 - a multiplication sign is meant
        for job in jobs
    )
    return f"Job{'s' if len(jobs) > 1 else ''} {names}"


def _merge_jobs(jobs: Sequence[AdapterJob]) -> AdapterJob:
    return replace(jobs[0], together=jobs) if len(jobs) > 1 else jobs[0]
