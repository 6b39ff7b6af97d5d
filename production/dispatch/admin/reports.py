"""What providers reported, and why a report changed nothing; an operator marks it as seen."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from unfold.decorators import display

from fulfillment.core.admin.read_only import ReadOnlyAdmin
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.recorded_texts import translated
from production.dispatch.services.reports import mark_reports_seen
from production.jobs.models import ProviderReport, ReportOutcome

COLORS: dict[str, str] = {
    ReportOutcome.APPLIED: "success",
    ReportOutcome.LATE: "default",
    ReportOutcome.CONTRADICTION: "danger",
    ReportOutcome.UNKNOWN_JOB: "warning",
}


class OutcomeFilter(admin.SimpleListFilter):
    title = "outcome"
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("open", _("To review")), *((value, str(label)) for value, label in ReportOutcome.choices)]

    def queryset(self, request: HttpRequest, reports: QuerySet) -> QuerySet:
        if self.value() == "open":
            outcomes = (ReportOutcome.CONTRADICTION, ReportOutcome.UNKNOWN_JOB)
            return reports.filter(outcome__in=outcomes, is_seen=False)
        return reports.filter(outcome=self.value()) if self.value() in ReportOutcome.values else reports


@admin.register(ProviderReport)
class ReportAdmin(ReadOnlyAdmin):
    """Reports of providers, including those without effect."""

    list_display = ["job_number", "shown_state", "shown_outcome", "reason", "provider", "at", "received"]
    list_filter = [OutcomeFilter]
    search_fields = ["job_number"]
    exact_search = {"job_number": str, "tracking_number": str}
    search_help_text = "Job number or tracking number"
    ordering = ["-id"]
    sortable_by = ()
    list_select_related = ["provider", "job"]
    empty_help = "Providers report the progress of their jobs here."
    actions = ["mark_seen"]
    recorded_fields = ["explanation", "message"]
    fields = [
        "job_number",
        "job",
        "provider",
        "shown_state",
        "shown_outcome",
        "explanation",
        "at",
        "received",
        "repeats",
        "carrier",
        "tracking_number",
        "tracking_url",
        "message",
        "is_seen",
        "raw",
    ]

    @admin.display(description="state")
    def shown_state(self, report: ProviderReport) -> str:
        return report.shown_state

    @admin.display(description="explanation")
    def reason(self, report: ProviderReport) -> str:
        return translated(report.explanation)

    @display(description="outcome", label={name: COLORS[value] for value, name in ReportOutcome.choices})
    def shown_outcome(self, report: ProviderReport) -> str:
        return report.get_outcome_display()

    @harmless
    @admin.action(description="Mark as seen", permissions=["view"])
    def mark_seen(self, request: HttpRequest, chosen: QuerySet) -> None:
        count = mark_reports_seen(reports=chosen)
        message = ngettext("%(count)s report marked as seen.", "%(count)s reports marked as seen.", count)
        self.message_user(request, message % {"count": count})
