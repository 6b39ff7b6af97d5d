"""Navigation and dashboard of this app in the operator console."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from accounts.admin.staff import staff_on
from fulfillment.core.admin.offers import Attention, Card, Entry
from production.jobs.models import Job
from production.jobs.selectors.board import MOST_COUNTED, STAGES, count_stages, open_reports, stuck_jobs
from production.providers.models import Provider
from production.providers.selectors.providers import failing_providers
from stores.catalog.admin.scoping import ORDER_GRANTS

NAVIGATION = [
    Entry("Work", "Production", "precision_manufacturing", "production.job", 107),
    Entry("Work", "Provider reports", "fact_check", "production.providerreport", 115, minor=True),
    Entry("System", "Print providers", "print", "production.provider", 430, minor=True),
    Entry("System", "Routing rules", "alt_route", "production.routingrule", 435, minor=True),
]


def _visible(request: HttpRequest) -> QuerySet[Job]:
    return staff_on(request).visible(Job.objects.all(), "store", ORDER_GRANTS)


def needs_attention(request: HttpRequest) -> list[Attention]:
    staff = staff_on(request)
    if not staff.holds(ORDER_GRANTS) or not Job.objects.exists():
        return []
    jobs, board = _visible(request), reverse("admin:production_job_changelist")
    counts = count_stages(jobs)
    stuck = stuck_jobs(jobs)[: MOST_COUNTED + 1].count()
    found = [
        _attention(counts["failed"], "print job failed", "print jobs failed", f"{board}?stage=failed", 50),
        _attention(
            stuck, "print job cannot be sent", "print jobs cannot be sent", f"{board}?stage=queued", 120
        ),
    ]
    if staff.is_operator:
        found += _of_operators()
    return [one for one in found if one.count]


def _of_operators() -> list[Attention]:
    providers = list(failing_providers()[:1001])
    reports = open_reports()[: MOST_COUNTED + 1].count()
    address = reverse("admin:production_provider_changelist")
    if len(providers) == 1:
        address = reverse("admin:production_provider_change", args=[providers[0].pk])
    open_list = f"{reverse('admin:production_providerreport_changelist')}?outcome=open"
    return [
        _attention(len(providers), "print provider fails", "print providers fail", address, 60),
        _attention(reports, "report contradicts", "reports contradict what is known", open_list, 300),
    ]


def _attention(count: int, one: str, many: str, address: str, position: int) -> Attention:
    words = one if count == 1 else many
    return Attention(count, words, address, position, is_at_least=count > MOST_COUNTED)


def dashboard_cards(request: HttpRequest) -> list[Card]:
    """Nothing where no provider was ever set up."""
    if not staff_on(request).holds(ORDER_GRANTS) or not Provider.objects.exists():
        return []
    counts = count_stages(_visible(request))
    rows: list[dict[str, Any]] = [
        {"key": stage.key, "name": stage.name, "count": counts[stage.key], "is_alarm": stage.is_alarm}
        for stage in STAGES[1:]
        if stage.key in counts
    ]
    return [Card("admin/dashboard/production.html", {"rows": rows, "work": counts["work"]}, 220)]
