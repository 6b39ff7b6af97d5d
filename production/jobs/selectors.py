"""Finds jobs: by the codes on their sheets, and beside each other in an order."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from production.jobs.models import Attempt, AttemptOutcome, Job, JobState, Scan, ScanStep
from production.providers.selectors import is_down
from stores.catalog.models import Product
from stores.orders.models import Order

# The numbers of an order and an item, with a generation when the job was sent again.
NUMBER = re.compile(r"(\d{1,18}-\d{1,6})(?:-(\d{1,4}))?", re.ASCII)


class OrderPlace(NamedTuple):
    """A job among those of its order at the same provider; 0 of 0 for a cancelled one."""

    number: int
    total: int
    other_jobs: Sequence[Job]


def unavailable_attempts(job: Job) -> QuerySet[Attempt]:
    """Those under its number that a provider did not take."""
    return Attempt.objects.filter(job=job, number=job.number, outcome=AttemptOutcome.UNAVAILABLE).order_by()


def last_refusal(job: Job) -> str:
    """What the last provider that refused it under its number said, with its name; "" if none did.

    An attempt also ends as refused where another job, sent with it, was at fault: that provider may still get it.
    """
    of_number = job.attempts.filter(number=job.number, provider__in=job.refused_by)
    attempt = of_number.filter(outcome=AttemptOutcome.REFUSED).select_related("provider").last()
    return f"{attempt.provider} refused it: {attempt.message}" if attempt else ""


def excluded_providers(job: Job) -> list[int]:
    """Its provider, those that refused it, and those that failed to take it in the later half of its failures.

    So it moves ever more rarely between providers that fail: each time it counts for their jobs of the day. One that
    is down or disabled is not chosen again, so a job leaves it for any other.
    """
    excluded = [*job.refused_by, job.provider_id or 0]
    if (
        job.failing_since is None
        or job.provider is None
        or not job.provider.is_enabled
        or is_down(job.provider)
    ):
        return excluded
    now = timezone.now()
    lately = now - (now - job.failing_since) / 2
    return [
        *excluded,
        *unavailable_attempts(job).filter(finished__gt=lately).values_list("provider", flat=True),
    ]


def siblings_of(job: Job) -> QuerySet[Job]:
    """The jobs of the order at the same provider, or with none yet, this one included, in the order of the items.

    The providers of all jobs of an order are chosen before the first one is sent, so tickets agree.
    """
    of_order = Job.objects.filter(order=job.order_id, provider=job.provider_id)
    return of_order.exclude(state=JobState.CANCELLED).order_by("item__position")


def order_places(jobs: Iterable[Job]) -> dict[int, OrderPlace]:
    """Finds what `siblings_of` finds, for all these jobs in one statement; by the keys of the jobs."""
    job_list = list(jobs)
    order_keys = {job.order_id for job in job_list if job.order.item_count > 1}
    jobs_of_order: dict[UUID, list[Job]] = {}
    siblings = Job.objects.filter(order__in=order_keys).exclude(state=JobState.CANCELLED)
    for job in siblings.only("number", "order", "provider").order_by("item__position"):
        jobs_of_order.setdefault(job.order_id, []).append(job)
    return {job.pk: _find_place(job, jobs_of_order.get(job.order_id, [job])) for job in job_list}


def _find_place(job: Job, jobs_of_order: Sequence[Job]) -> OrderPlace:
    siblings = [candidate for candidate in jobs_of_order if candidate.provider_id == job.provider_id]
    if job not in siblings:
        return OrderPlace(0, 0, ())
    return OrderPlace(
        siblings.index(job) + 1, len(siblings), [sibling for sibling in siblings if sibling != job]
    )


def job_number(order: Order, position: int) -> str:
    return f"{order.number}-{position + 1}"


def page_count(product: Product) -> int:
    return len((product.template or {}).get("Pages") or []) or product.page_count


def job_of_code(visible: QuerySet[Job], code: str) -> Job | None:
    """The job whose sheets carry this number, also one that it had before it was sent again."""
    if (parts := NUMBER.fullmatch(code)) is None:
        return None
    first, generation = parts[1], int(parts[2] or 1)
    of_item = Q(number=first) | Q(number__startswith=f"{first}-")
    return visible.filter(of_item, generation__gte=generation).select_related("order").first()


def jobs_of_sheet(visible: QuerySet[Job], sheet_id: int, generation: int) -> list[Job]:
    """The jobs on a gang sheet whose printed sheets carry this generation of its number."""
    on_sheet = visible.filter(gang_sheet=sheet_id, gang_sheet__generation=generation)
    return list(on_sheet.select_related("order").order_by("pk"))


def packed_of_order(job: Job) -> tuple[int, int]:
    """How many jobs of the order at the same provider are packed, and how many there are."""
    jobs = siblings_of(job).order_by()
    packed_jobs = jobs.filter(scans__step=ScanStep.PACKED, scans__number=F("number"))
    return packed_jobs.distinct().count(), jobs.count()


def is_packed_unseen(scan: Scan) -> bool:
    """Whether these sheets were packed and not scanned as printed or cut before, which is allowed."""
    before = Scan.objects.filter(job=scan.job_id, number=scan.number)
    return scan.step == ScanStep.PACKED and not before.exclude(step=ScanStep.PACKED).exists()
