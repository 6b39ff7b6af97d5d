from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.timezone import localtime
from django.views.decorators.http import require_POST
from unfold.contrib.filters.admin import TextFilter
from unfold.decorators import display
from unfold.widgets import CHECKBOX_CLASSES

from accounts.admin.staff import StaffAdmin, staff_on
from accounts.permissions import Grant
from fulfillment.core.admin.base import BoundedPaginator
from fulfillment.core.admin.confirmation import ask, requires_confirmation
from fulfillment.core.errors import DomainError
from production.adapters.interface import ProviderRefused, ProviderUnavailable
from production.jobs.admin.gang_sheets import GangSheetActions
from production.jobs.models import AT_PROVIDER, OPEN, Job, JobState, SheetState
from production.jobs.selectors.board import (
    MAX_COUNTED,
    ORDERS,
    STAGES,
    UNCOUNTED,
    count_stages,
    of_provider_and_store,
    stage_filter,
)
from production.jobs.selectors.dry_runs import dry_run
from production.jobs.selectors.steps import steps_of
from production.jobs.services.actions import (
    cancel_job,
    hold_job,
    reassign_job,
    release_job,
    resend_job,
)
from production.providers.models import Provider
from stores.catalog.admin.scoping import ORDER_GRANTS, StoreFilter
from stores.orders.admin.actions import actor_on
from stores.orders.models import Order

REASONS_SHOWN = 20
COLOURS: dict[str, str] = {
    JobState.QUEUED: "default",
    JobState.SENT: "info",
    JobState.ACKNOWLEDGED: "info",
    JobState.IN_PRODUCTION: "warning",
    JobState.SHIPPED: "success",
    JobState.FAILED: "danger",
    JobState.CANCELLED: "default",
}
CHECKBOX = '<input type="checkbox" name="{}" value="{}" class="{}" aria-label="Choose job {}">'
Service = Callable[..., Job]


class StageFilter(admin.SimpleListFilter):
    """The tabs above the list; by default the jobs in work."""

    title = "stage"
    parameter_name = "stage"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(stage.key, stage.name) for stage in STAGES[1:]]

    def choices(self, changelist: Any) -> Iterator[Any]:
        every, *others = super().choices(changelist)
        yield {**every, "display": STAGES[0].name}
        yield from others

    def queryset(self, request: HttpRequest, jobs: QuerySet[Job]) -> QuerySet[Job]:
        return jobs.filter(stage_filter(self.value() or STAGES[0].key))


class ProviderFilter(TextFilter):
    title = "provider code"
    parameter_name = "provider"

    def queryset(self, request: HttpRequest, jobs: QuerySet[Job]) -> QuerySet[Job] | None:
        return of_provider_and_store(jobs, provider=code) if (code := self.value()) else None


class JobPaginator(BoundedPaginator):
    """Finds the keys of a page along an index, and joins orders, items and stores to those alone."""

    def page(self, number: int | str) -> Any:
        page = super().page(number)
        jobs, listed = cast(QuerySet[Job], self.object_list), cast(QuerySet[Job], page.object_list)
        keys = list(listed.select_related(None).values_list("pk", flat=True))
        page.object_list = jobs.filter(pk__in=keys)
        return page


@admin.register(Job)
class JobAdmin(GangSheetActions, StaffAdmin):
    """The production board. Staff of a store see and work on the jobs of its orders."""

    store_path = "store"
    view_grants: Sequence[str] = ORDER_GRANTS
    change_grants: Sequence[str] = (Grant.ORDER_ALL_WRITE,)
    knows_versions = True
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
    empty_help = "Nothing here. An accepted order queues a job for each item that a routing rule fits."
    fields = [
        "order_link",
        "product",
        "provider",
        "reference",
        "due_when",
        "sheet_link",
        "trouble",
        "next_try",
    ]
    readonly_fields = fields
    actions = ["resend", "hold", "release", "reassign", "cancel", "download_gang_sheets"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        jobs = (
            super().get_queryset(request).select_related("store", "provider", "item", "order", "gang_sheet")
        )
        return jobs.defer(
            "store__rendering", "store__verbose_rendering", "order__rendering", "order__metadata"
        )

    def get_ordering(self, request: HttpRequest) -> Sequence[str]:
        return ORDERS.get(request.GET.get(StageFilter.parameter_name, ""), self.ordering)

    def get_search_results(
        self, request: HttpRequest, records: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        """Looks up the order first: a join would keep PostgreSQL from using an index."""
        term = search_term.strip()
        if term.isascii() and term.isdecimal() and len(term) < 19:
            order = Order.objects.filter(number=int(term)).values_list("pk", flat=True).first()
            return (records.none() if order is None else records.filter(order=order)), False
        return super().get_search_results(request, records, search_term)

    def get_fields(self, request: HttpRequest, job: Job | None = None) -> list[str]:
        """What is empty is left out."""
        filled = {
            "provider": job and job.provider_id,
            "reference": job and job.reference,
            "sheet_link": job and job.gang_sheet_id,
            "trouble": job and not _waits_on_sheet(job) and self.trouble(job),
            "next_try": job and job.next_try,
        }
        return [name for name in self.fields if filled.get(name, True)]

    def has_add_permission(self, request: HttpRequest, *instance: Any) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, job: Job | None = None) -> bool:
        return False

    @display(description="state", label={name: COLOURS[value] for value, name in JobState.choices})
    def shown_state(self, job: Job) -> str:
        return job.get_state_display()

    @admin.display(description="product")
    def product(self, job: Job) -> str:
        return f"{job.item.quantity:,} × {job.item.product_name}"  # noqa: RUF001 - a multiplication sign is meant

    @admin.display(description="product")
    def product_of_store(self, job: Job) -> SafeString:
        return format_html(
            '<div>{}<br><span class="console-facts">{}</span></div>', self.product(job), job.store
        )

    @admin.display(description="due")
    def due_when(self, job: Job) -> SafeString:
        late = (timezone.now().date() - job.due).days
        shown = date_format(job.due, "DATE_FORMAT")
        if late <= 0 or job.state not in OPEN:
            return format_html('<span class="whitespace-nowrap">{}</span>', shown)
        words = f"{late} day{'s' if late > 1 else ''} late"
        template = (
            '<div><span class="whitespace-nowrap">{}</span><br><span class="console-late">{}</span></div>'
        )
        return format_html(template, shown, words)

    @admin.display(description="provider")
    def provider_name(self, job: Job) -> str:
        return str(job.provider or "-")

    @display(description=StaffAdmin.action_checkbox.short_description)
    def action_checkbox(self, job: Job) -> SafeString:
        """As the widget writes it, without its templates: they are a third of the time of a row."""
        return format_html(
            CHECKBOX, ACTION_CHECKBOX_NAME, job.pk, " ".join([*CHECKBOX_CLASSES, "action-select"]), job
        )

    def _named(self, fields: Sequence[Any]) -> list[Any]:
        """Shows provider names without links for staff, because only operators can open providers."""
        return ["provider_name" if field == "provider" else field for field in super()._named(fields)]

    @admin.display(description="order")
    def order_link(self, job: Job) -> SafeString:
        address = reverse("admin:stores_order_change", args=[job.order_id])
        return format_html('<a class="console-link" href="{}">{}</a>', address, job.order.number)

    @admin.display(description="number")
    def shown_number(self, job: Job) -> SafeString:
        return format_html('<span class="console-named">{}<span>{}</span></span>', _picture(job), job.number)

    @admin.display(description="note")
    def note(self, job: Job) -> str | SafeString:
        if _waits_on_sheet(job):
            return self.sheet_link(job)
        return Truncator(self.trouble(job)).chars(70)

    @admin.display(description="gang sheet")
    def sheet_link(self, job: Job) -> str | SafeString:
        sheet = job.gang_sheet
        if sheet is None:
            return "-"
        address = reverse("admin:production_gangsheet_change", args=[sheet.pk])
        is_waiting = sheet.state == SheetState.COLLECTING and sheet.next_try
        goes = f", goes at {date_format(localtime(sheet.next_try), 'TIME_FORMAT')}" if is_waiting else ""
        return format_html(
            '<div><a class="console-link" href="{}">Gang sheet {}</a>{}</div>', address, sheet, goes
        )

    @admin.display(description="note")
    def trouble(self, job: Job) -> str:
        parts = [job.get_held_display()] if job.held else []
        parts += ["to be cancelled"] if job.cancel_requested and job.state != JobState.CANCELLED else []
        parts += ["may be at the provider"] if job.is_uncertain else []
        return " · ".join([*parts, *([job.message] if job.message else [])])

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        answer = super().changelist_view(request, extra_context)
        if isinstance(answer, TemplateResponse) and answer.context_data and "cl" in answer.context_data:
            answer.context_data["stages"] = self._stages(request)
        return answer

    def _stages(self, request: HttpRequest) -> list[dict[str, Any]]:
        counts = count_stages(self._scoped(request))
        chosen = request.GET.get(StageFilter.parameter_name) or STAGES[0].key
        filters = {name: value for name in ("provider", "store") if (value := request.GET.get(name))}
        return [
            {
                "name": stage.name,
                "query": urlencode({**filters, "stage": stage.key}),
                "count": min(counts.get(stage.key, 0), MAX_COUNTED),
                "has_more": counts.get(stage.key, 0) > MAX_COUNTED,
                "is_counted": stage.key not in UNCOUNTED,
                "is_alarm": stage.is_alarm and bool(counts.get(stage.key)),
                "is_current": stage.key == chosen,
            }
            for stage in STAGES
        ]

    def _scoped(self, request: HttpRequest) -> QuerySet[Job]:
        """The jobs visible under the list's filters by provider and store."""
        jobs = staff_on(request).visible(Job.objects.all(), "store", self.view_grants)
        chosen = {name: request.GET.get(name, "") for name in ("provider", "store")}
        return of_provider_and_store(jobs, **chosen)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        job = self.get_object(request, object_id)
        context: dict[str, Any] = {"job": job, "show_save": False, "show_save_and_continue": False}
        if job is not None:
            may_change = self.has_change_permission(request, job)
            context |= {
                "steps": steps_of(job),
                "attempts": list(job.attempts.select_related("provider").order_by("-id")[:50]),
                "reports": list(job.reports.order_by("-id")[:100]),
                "history": list(job.history.select_related("actor").order_by("-id")[:200]),
                "may": _allowed(job) if may_change else frozenset(),
                "others": Provider.objects.filter(is_enabled=True) if may_change else (),
            }
        answer: HttpResponse = super().change_view(
            request, object_id, form_url, {**(extra_context or {}), **context}
        )
        return answer

    def get_urls(self) -> list[URLPattern]:
        routes: list[tuple[str, Any, str]] = [
            ("reassign/", self.reassign_view, "reassign"),
            ("dry-run/<int:provider_id>", self.dry_run_view, "dry_run"),
            *(
                (f"<int:job_id>/{name}", require_POST(view), name)
                for name, view in (
                    ("resend", self.resend_view),
                    ("hold", self.hold_view),
                    ("release", self.release_view),
                    ("cancel", self.cancel_view),
                )
            ),
        ]
        own = [
            path(route, self.admin_site.admin_view(view), name=f"production_job_{name}")
            for route, view, name in routes
        ]
        return [*own, *super().get_urls()]

    def resend_view(self, request: HttpRequest, job_id: int) -> HttpResponse:
        return self._act(request, job_id, resend_job, "is on its way again.")

    def hold_view(self, request: HttpRequest, job_id: int) -> HttpResponse:
        return self._act(request, job_id, hold_job, "is held.")

    def release_view(self, request: HttpRequest, job_id: int) -> HttpResponse:
        return self._act(request, job_id, release_job, "is released.")

    def cancel_view(self, request: HttpRequest, job_id: int) -> HttpResponse:
        job = self._job(request, job_id)
        question = f"Cancel job {job}? Where a provider has it, it is cancelled there as well."
        page = ask(self, request, question=question, button="Cancel the job", back=_address(job))
        return page or self._act(request, job_id, cancel_job, "is cancelled, or will be at its provider.")

    def reassign_view(self, request: HttpRequest) -> HttpResponse:
        """Shows a choice of providers and reassigns jobs to the chosen one."""
        sent = request.POST if request.method == "POST" else None
        keys = [int(one) for one in (sent or request.GET).getlist("id") if one.isascii() and one.isdigit()]
        chosen = self.get_queryset(request).filter(pk__in=keys[:1000]).order_by("pk")
        jobs = [one for one in chosen if self.has_change_permission(request, one)]
        if not jobs:
            messages.error(request, "Choose the jobs to reassign on the board.")
            return HttpResponseRedirect(reverse("admin:production_job_changelist"))
        provider = Provider.objects.filter(
            is_enabled=True, code=(sent or request.GET).get("provider", "")
        ).first()
        if sent is not None and provider is not None:
            done = self._each(request, jobs, reassign_job, provider=provider)
            if done:
                messages.success(request, f"{done} job{'s' if done > 1 else ''} went to {provider}.")
            return HttpResponseRedirect(
                _address(jobs[0]) if len(jobs) == 1 else reverse("admin:production_job_changelist")
            )
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Reassign jobs",
            "jobs": jobs,
            "providers": Provider.objects.filter(is_enabled=True),
            "is_missing": sent is not None,
        }
        return TemplateResponse(request, "admin/production/reassign.html", context)

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
                problem = str(error)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Dry run: {provider}",
            "provider": provider,
            "order_number": number,
            "runs": runs,
            "problem": problem,
        }
        return TemplateResponse(request, "admin/production/dry_run.html", context)

    @admin.action(description="Send again …", permissions=["change"])
    @requires_confirmation(
        "Send these jobs again? Waiting ones are tried at once; failed and cancelled ones are started again.",
        "Send again",
    )
    def resend(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._bulk(request, chosen, resend_job, "on the way again")

    @admin.action(description="Hold", permissions=["change"])
    def hold(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._bulk(request, chosen, hold_job, "held")

    @admin.action(description="Release", permissions=["change"])
    def release(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._bulk(request, chosen, release_job, "released")

    @admin.action(description="Cancel …", permissions=["change"])
    @requires_confirmation(
        "Cancel these jobs? Where a provider has one, it is cancelled there as well.", "Cancel the jobs"
    )
    def cancel(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._bulk(request, chosen, cancel_job, "cancelled, or will be at their provider")

    @admin.action(description="Reassign …", permissions=["change"])
    def reassign(self, request: HttpRequest, chosen: QuerySet) -> HttpResponse:
        query = urlencode([("id", key) for key in chosen.values_list("pk", flat=True)[: self.list_per_page]])
        return HttpResponseRedirect(f"{reverse('admin:production_job_reassign')}?{query}")

    def _bulk(self, request: HttpRequest, chosen: QuerySet, service: Service, words: str) -> None:
        jobs = [job for job in chosen.order_by("pk") if self.has_change_permission(request, job)]
        if done := self._each(request, jobs, service):
            messages.success(request, f"{done} job{'s are' if done > 1 else ' is'} {words}.")

    def _each(self, request: HttpRequest, jobs: Sequence[Job], service: Service, **more: Any) -> int:
        """Applies the service to each job; returns how many succeeded and shows each refusal."""
        actor, refused = actor_on(request), []
        for job in jobs:
            try:
                service(job=job, actor=actor, **more)
            except DomainError as error:
                refused.append(error.message)
        for message in refused[:REASONS_SHOWN]:
            messages.error(request, message)
        if len(refused) > REASONS_SHOWN:
            messages.error(request, f"{len(refused) - REASONS_SHOWN} more were refused.")
        return len(jobs) - len(refused)

    def _act(self, request: HttpRequest, job_id: int, service: Service, words: str) -> HttpResponse:
        job, actor = self._job(request, job_id), actor_on(request)
        try:
            done = service(job=job, actor=actor)
            messages.success(request, f"Job {done} {words}")
        except DomainError as error:
            messages.error(request, error.message)
        return HttpResponseRedirect(_address(job))

    def _job(self, request: HttpRequest, job_id: int) -> Job:
        job: Job = get_object_or_404(self.get_queryset(request), pk=job_id)
        if not self.has_change_permission(request, job):
            raise PermissionDenied
        return job


def _waits_on_sheet(job: Job) -> bool:
    """And there is nothing else to say of it."""
    return bool(
        job.gang_sheet_id and job.state == JobState.QUEUED and not (job.is_uncertain or job.cancel_requested)
    )


def _picture(job: Job) -> SafeString:
    """The print file's first page; an erased one has none."""
    if not job.item.print_file:
        return format_html('<span class="orders-thumb">{}</span>', "")
    address = reverse("admin:stores_order_print_picture", args=[job.order_id, job.item.position, 0, "small"])
    template = '<span class="orders-thumb"><img src="{}?v={}" alt="" loading="lazy"></span>'
    return format_html(template, address, (job.item.print_sha256 or "")[:8])


def _allowed(job: Job) -> frozenset[str]:
    """The actions allowed for a job."""
    is_leaving = job.cancel_requested is not None and job.state != JobState.CANCELLED
    may = set()
    if job.state in (JobState.QUEUED, JobState.FAILED, JobState.CANCELLED) and not is_leaving:
        may |= {"resend", "reassign"}
    if job.state == JobState.QUEUED and not is_leaving:
        may.add("release" if job.held == "Manual" else "hold")
    if job.state in (JobState.QUEUED, JobState.FAILED, *AT_PROVIDER) and not is_leaving:
        may.add("cancel")
    return frozenset(may)


def _address(job: Job) -> str:
    return reverse("admin:production_job_change", args=[job.pk])
