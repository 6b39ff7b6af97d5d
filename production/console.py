"""Navigation and dashboard of this app in the operator console."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_noop as _
from django.utils.translation import ngettext

from accounts.admin.staff import staff_on
from accounts.permissions import ORDER_GRANTS
from fulfillment.core.caches import once_per_request
from fulfillment.core.plugins import Attention, DashboardCard, MenuItem
from production.dispatch.selectors import MAX_COUNTED, STAGES, count_stages, open_reports, stuck_jobs
from production.jobs.models import Job
from production.providers.models import Provider
from production.providers.selectors import failing_providers

NAVIGATION = [
    MenuItem(_("Work"), _("Production"), "precision_manufacturing", "production.job", 107),
    MenuItem(_("Production"), _("Gang sheets"), "grid_view", "production.gangsheet", 112, minor=True),
    MenuItem(
        _("Production"), _("Provider reports"), "fact_check", "production.providerreport", 116, minor=True
    ),
    MenuItem(_("Production"), _("Print providers"), "print", "production.provider", 113, minor=True),
    MenuItem(_("Production"), _("Routing rules"), "alt_route", "production.routingrule", 114, minor=True),
]
# By model: what the list is for, on the page *System*.
ABOUT = {
    "production.gangsheet": _("Sheets that print several jobs at once."),
    "production.providerreport": _("What providers reported about jobs, accepted or refused."),
    "production.provider": _("The presses and services that jobs are sent to."),
    "production.routingrule": _("Which provider gets a job, and the test of a rule."),
}


def _count_all(request: HttpRequest) -> dict[str, int]:
    """The counts for both cards, in one statement for each request."""

    def count() -> dict[str, int]:
        jobs = staff_on(request).visible(Job.objects.all(), "store", ORDER_GRANTS)
        return count_stages(
            jobs,
            stuck=stuck_jobs(jobs),
            providers=Provider.objects.all(),
            failing=failing_providers(),
            reports=open_reports(),
        )

    return once_per_request(request, "production_counts", count)


def needs_attention(request: HttpRequest) -> list[Attention]:
    staff = staff_on(request)
    if not staff.holds(ORDER_GRANTS):
        return []
    counts, board = _count_all(request), reverse("admin:production_job_changelist")
    entries = [
        _build_attention(
            counts["failed"],
            ngettext("print job failed", "print jobs failed", counts["failed"]),
            f"{board}?stage=failed",
            50,
        ),
        _build_attention(
            counts["stuck"],
            ngettext("print job cannot be sent", "print jobs cannot be sent", counts["stuck"]),
            f"{board}?stage=queued",
            120,
        ),
    ]
    if staff.is_operator:
        entries += _operator_attention(counts)
    return [entry for entry in entries if entry.count]


def _operator_attention(counts: dict[str, int]) -> list[Attention]:
    address = reverse("admin:production_provider_changelist")
    if counts["failing"] == 1 and (provider := failing_providers().first()):
        address = reverse("admin:production_provider_change", args=[provider.pk])
    open_list = f"{reverse('admin:production_providerreport_changelist')}?outcome=open"
    return [
        _build_attention(
            counts["failing"],
            ngettext("print provider fails", "print providers fail", counts["failing"]),
            address,
            60,
        ),
        _build_attention(
            counts["reports"],
            ngettext("report contradicts", "reports contradict what is known", counts["reports"]),
            open_list,
            300,
        ),
    ]


def _build_attention(count: int, words: str, address: str, position: int) -> Attention:
    return Attention(count, words, address, position, is_at_least=count > MAX_COUNTED)


def dashboard_cards(request: HttpRequest) -> list[DashboardCard]:
    """No card without a provider."""
    if not staff_on(request).holds(ORDER_GRANTS) or not (counts := _count_all(request))["providers"]:
        return []
    rows: list[dict[str, Any]] = [
        {"key": stage.key, "name": stage.name, "count": counts[stage.key], "is_alarm": stage.is_alarm}
        for stage in STAGES[1:]
        if stage.key in counts
    ]
    return [DashboardCard("admin/dashboard/production.html", {"rows": rows, "work": counts["work"]}, 220)]
