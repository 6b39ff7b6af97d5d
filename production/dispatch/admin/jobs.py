"""The board of print jobs, and the page of one job."""

from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.admin.staff import staff_on
from accounts.permissions import ORDER_GRANTS, Permission
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.admin.lists import BoundedPaginator
from fulfillment.core.errors import DomainError
from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import parse_number
from production.dispatch.admin.job_actions import JobActions, allowed_actions
from production.dispatch.admin.job_columns import JobColumns, waits_on_sheet
from production.dispatch.admin.job_files import JobFiles
from production.dispatch.admin.scans import JobScans
from production.dispatch.selectors import (
    MAX_COUNTED,
    STAGES,
    UNCOUNTED,
    board_ordering,
    count_stages,
    jobs_by_day,
    of_provider_and_store,
    open_by_provider,
    stage_filter,
    steps_of,
)
from production.dispatch.services.dry_runs import dry_run
from production.interface import ProviderRefused, ProviderUnavailable
from production.jobs.models import UNREAD, Job
from production.jobs.selectors import order_places
from production.providers.models import Provider
from stores.catalog.admin.scoping import ChoiceFilter, StoreFilter
from stores.orders.models import Order


class StageFilter(admin.SimpleListFilter):
    """The tabs above the list; by default the jobs in work."""

    title = "stage"
    parameter_name = "stage"
    # The tabs show the stages; the other filters keep the chosen one.
    template = "admin/production/stage_filter.html"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(stage.key, str(stage.name)) for stage in STAGES]

    def queryset(self, request: HttpRequest, jobs: QuerySet[Job]) -> QuerySet[Job]:
        return jobs.filter(stage_filter(self.value() or STAGES[0].key))


class ProviderFilter(ChoiceFilter):
    """Store staff choose among the providers of their open jobs."""

    title = "provider"
    parameter_name = "provider"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        staff = staff_on(request)
        if staff.is_operator:
            return list(Provider.objects.order_by("name").values_list("code", "name"))
        visible = staff.visible(Job.objects.all(), "store", model_admin.view_grants)
        return [(row["provider__code"], row["provider__name"]) for row in open_by_provider(visible)]

    def queryset(self, request: HttpRequest, jobs: QuerySet[Job]) -> QuerySet[Job] | None:
        return of_provider_and_store(jobs, provider=code) if (code := self.value()) else None


class JobPaginator(BoundedPaginator):
    """Finds the keys of a page along an index, and joins orders, items and stores to those alone."""

    def page(self, number: int | str) -> Any:
        page = super().page(number)
        jobs, page_jobs = cast(QuerySet[Job], self.object_list), cast(QuerySet[Job], page.object_list)
        keys = list(page_jobs.select_related(None).values_list("pk", flat=True))
        page.object_list = jobs.filter(pk__in=keys)
        return page


@admin.register(Job)
class JobAdmin(JobActions, JobFiles, JobScans, JobColumns):
    """The production board. Staff of a store see and work on the jobs of its orders."""

    plural_name = "Production"
    harmless_pages = (
        "change",
        "days",
        "scan",
        "reassign",
        "dry_run",
        "resend",
        "hold",
        "release",
        "cancel",
        "file",
    )
    forbidden = ("add", "delete")
    store_path = "store"
    view_grants: Sequence[str] = ORDER_GRANTS
    change_grants: Sequence[str] = (Permission.ORDER_ALL_WRITE,)
    handles_conflicts = True
    list_display = ["shown_number", "shown_state", "product_of_store", "provider", "due_when", "note"]
    list_filter = [StageFilter, ProviderFilter, StoreFilter]
    list_filter_submit = True
    paginator = JobPaginator
    ordering = ["-id"]
    sortable_by = ()
    search_fields = ["number"]
    exact_search = {"number": str}
    search_help_text = "Job number or order number"
    list_before_template = "admin/production/board_before.html"
    change_form_outer_before_template = "admin/production/job_before.html"
    change_form_outer_after_template = "admin/production/job_after.html"
    empty_help = (
        "No jobs here. Each item of an accepted order that matches a routing rule becomes a job; "
        "orders without one are produced by hand."
    )
    fields = [
        "order_link",
        "pictured_product",
        "size",
        "paper",
        "preset",
        "sides",
        "provider_link",
        "reference",
        "sent_with",
        "due_when",
        "deliver_by",
        "place_in_order",
        "sheet_link",
        "trouble",
        "next_try",
    ]
    readonly_fields = fields
    actions = ["resend", "hold", "release", "reassign", "cancel", "download_gang_sheets"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        jobs = super().get_queryset(request)
        return jobs.select_related("store", "provider", "item", "order", "gang_sheet").defer(*UNREAD)

    def get_ordering(self, request: HttpRequest) -> Sequence[str]:
        return board_ordering(request.GET.get(StageFilter.parameter_name) or STAGES[0].key)

    def get_search_results(
        self, request: HttpRequest, records: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        """Looks up the order first: a join would keep PostgreSQL from using an index."""
        term = search_term.strip()
        if number := parse_number(term):
            order = Order.objects.filter(number=number).values_list("pk", flat=True).first()
            return (records.none() if order is None else records.filter(order=order)), False
        return super().get_search_results(request, records, search_term)

    def get_fields(self, request: HttpRequest, job: Job | None = None) -> list[str]:
        """Leaves out empty fields."""
        filled = {
            "provider_link": job and job.provider_id,
            "paper": job and self.paper(job),
            "preset": job and self.preset(job),
            "place_in_order": job and job.order.item_count > 1,
            "reference": job and job.reference,
            "sent_with": job and job.provider_order,
            "sheet_link": job and job.gang_sheet_id,
            "trouble": job and not waits_on_sheet(job) and self.trouble(job),
            "next_try": job and job.next_try,
        }
        return [name for name in self.fields if filled.get(name, True)]

    def _unlinked_fields(self, fields: Sequence[Any]) -> list[Any]:
        """Shows provider names without links for staff, because only operators can open providers."""
        return [
            "provider_name" if field == "provider_link" else field
            for field in super()._unlinked_fields(fields)
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        response = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse) and response.context_data and "cl" in response.context_data:
            response.context_data["stages"] = self._list_stages(request)
            # A stage is chosen by its tab, not in the filters.
            response.context_data["cl"].has_active_filters = any(map(request.GET.get, ("provider", "store")))
            page_jobs = response.context_data["cl"].result_list
            places = order_places(page_jobs)
            for job in page_jobs:
                job.place_in_list = places[job.pk]
        return response

    def _list_stages(self, request: HttpRequest) -> list[dict[str, Any]]:
        counts = count_stages(self._scoped_jobs(request))
        current = request.GET.get(StageFilter.parameter_name) or STAGES[0].key
        filters = {name: value for name in ("provider", "store") if (value := request.GET.get(name))}
        return [
            {
                "name": stage.name,
                "query": urlencode({**filters, "stage": stage.key}),
                "count": min(counts.get(stage.key, 0), MAX_COUNTED),
                "has_more": counts.get(stage.key, 0) > MAX_COUNTED,
                "is_counted": stage.key not in UNCOUNTED,
                "is_alarm": stage.is_alarm and bool(counts.get(stage.key)),
                "is_current": stage.key == current,
            }
            for stage in STAGES
        ]

    def _scoped_jobs(self, request: HttpRequest) -> QuerySet[Job]:
        """The jobs visible under the list's filters by provider and store."""
        jobs = staff_on(request).visible(Job.objects.all(), "store", self.view_grants)
        codes = {name: request.GET.get(name, "") for name in ("provider", "store")}
        return of_provider_and_store(jobs, **codes)

    def record_context(self, request: HttpRequest, job: Job) -> dict[str, Any]:
        may_change = self.has_change_permission(request, job)
        return {
            "job": job,
            "show_save": False,
            "show_save_and_continue": False,
            "steps": steps_of(job),
            "attempts": list(job.attempts.select_related("provider").order_by("-id")[:50]),
            "reports": list(job.reports.order_by("-id")[:100]),
            "history": list(job.history.select_related("actor").order_by("-id")[:200]),
            "may": allowed_actions(job) if may_change else frozenset(),
        }

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("days/", self.days_view, "days"),
            ("scan/", self.scan_view, "scan"),
            ("reassign/", self.reassign_view, "reassign"),
            ("dry-run/<int:provider_id>", self.dry_run_view, "dry_run"),
            ("<int:job_id>/file.<slug:form>", self.file_view, "file"),
            ("<int:job_id>/resend", require_POST(self.resend_view), "resend"),
            ("<int:job_id>/hold", require_POST(self.hold_view), "hold"),
            ("<int:job_id>/release", require_POST(self.release_view), "release"),
            ("<int:job_id>/cancel", require_POST(self.cancel_view), "cancel"),
        ]

    def days_view(self, request: HttpRequest) -> HttpResponse:
        """The open jobs in columns by the day they must ship, of all providers or one."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        visible = staff_on(request).visible(Job.objects.all(), "store", self.view_grants)
        provider_code = request.GET.get("provider", "")[:40]
        context = {
            **self.page_context(request, _("Production by day"), is_view_of_list=True),
            "days": jobs_by_day(of_provider_and_store(visible, provider=provider_code)),
            "providers": open_by_provider(visible),
            "chosen": provider_code,
        }
        return TemplateResponse(request, "admin/production/days.html", context)

    def dry_run_view(self, request: HttpRequest, provider_id: int) -> HttpResponse:
        """Shows exactly what would be sent for an order, without sending it. For operators."""
        if not staff_on(request).is_operator:
            raise PermissionDenied
        provider = get_object_or_404(Provider, pk=provider_id)
        number, problem = request.GET.get("order", "").strip()[:40], ""
        runs: Sequence[Any] = ()
        if number:
            try:
                runs = dry_run(provider, number)
            except (DomainError, ProviderRefused, ProviderUnavailable, ValueError) as error:
                problem = translated(error)
        context = {
            **self.page_context(request, _("Dry run: %(provider)s") % {"provider": provider}, below=provider),
            "provider": provider,
            "order_number": number,
            "runs": runs,
            "problem": problem,
        }
        return TemplateResponse(request, "admin/production/dry_run.html", context)
