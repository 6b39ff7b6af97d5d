from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.text import Truncator
from django.views.decorators.http import require_POST
from unfold.contrib.filters.admin import TextFilter
from unfold.decorators import display

from accounts.admin.staff import StaffAdmin, staff_on
from accounts.permissions import Grant
from fulfillment.core.admin.confirmation import ask, asks_confirmation
from fulfillment.core.errors import DomainError
from production.adapters.interface import ProviderRefused, ProviderUnavailable
from production.jobs.admin.gang_sheets import GangSheetActions
from production.jobs.models import AT_PROVIDER, OPEN, Job, JobState
from production.jobs.selectors.board import MOST_COUNTED, STAGES, UNCOUNTED, count_stages, stage_filter
from production.jobs.selectors.dry_runs import dry_run
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
Service = Callable[..., Job]


class StageFilter(admin.SimpleListFilter):
    """The tabs above the list; what is in work, unless another one is chosen."""

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
        if not (code := self.value()):
            return None
        key = Provider.objects.filter(code=code).values_list("pk", flat=True).first()
        return jobs.none() if key is None else jobs.filter(provider=key)


@admin.register(Job)
class JobAdmin(GangSheetActions, StaffAdmin):
    """The production board. Staff of a store see and work on the jobs of its orders."""

    store_path = "store"
    view_grants: Sequence[str] = ORDER_GRANTS
    change_grants: Sequence[str] = (Grant.ORDER_ALL_WRITE,)
    knows_versions = True
    list_display = ["shown_number", "shown_state", "shown_due", "provider", "note", "store", "updated"]
    list_filter = [StageFilter, ProviderFilter, StoreFilter]
    list_filter_submit = True
    ordering = ["-id"]
    sortable_by = ()
    search_fields = ["number"]
    exact_search = {"number": str}
    search_help_text = "Job number or order number"
    list_before_template = "admin/production/board_before.html"
    change_form_outer_before_template = "admin/production/job_before.html"
    change_form_outer_after_template = "admin/production/job_after.html"
    empty_help = "Nothing here. An accepted order queues a job for each item that a routing rule fits."
    fields = ["reference", "trouble", "next_try", "created", "sent", "reported"]
    readonly_fields = fields
    actions = ["resend", "hold", "release", "reassign", "cancel", "download_gang_sheets"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        jobs = super().get_queryset(request).select_related("store", "provider", "item", "order")
        return jobs.defer(
            "store__rendering", "store__verbose_rendering", "order__rendering", "order__metadata"
        )

    def get_search_results(
        self, request: HttpRequest, records: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        """The order is looked up first: joined to the rest it would keep PostgreSQL from using any index."""
        term = search_term.strip()
        if term.isascii() and term.isdecimal() and len(term) < 19:
            order = Order.objects.filter(number=int(term)).values_list("pk", flat=True).first()
            return (records.none() if order is None else records.filter(order=order)), False
        return super().get_search_results(request, records, search_term)

    def has_add_permission(self, request: HttpRequest, *instance: Any) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, job: Job | None = None) -> bool:
        return False

    @display(description="state", label={name: COLOURS[value] for value, name in JobState.choices})
    def shown_state(self, job: Job) -> str:
        return job.get_state_display()

    @admin.display(description="provider")
    def provider_name(self, job: Job) -> str:
        return str(job.provider or "-")

    def _named(self, fields: Sequence[Any]) -> list[Any]:
        """The page of a provider is open to operators only."""
        return ["provider_name" if field == "provider" else field for field in super()._named(fields)]

    @admin.display(description="job")
    def shown_number(self, job: Job) -> str:
        return render_to_string("admin/production/job_name.html", {"job": job})

    @admin.display(description="due")
    def shown_due(self, job: Job) -> str:
        return render_to_string("admin/production/job_due.html", {"job": job, "days_late": _days_late(job)})

    @admin.display(description="note")
    def note(self, job: Job) -> str:
        return Truncator(self.trouble(job)).chars(70)

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
        kept = {name: value for name in ("provider", "store") if (value := request.GET.get(name))}
        return [
            {
                "name": stage.name,
                "query": urlencode({**kept, "stage": stage.key}),
                "count": min(counts.get(stage.key, 0), MOST_COUNTED),
                "has_more": counts.get(stage.key, 0) > MOST_COUNTED,
                "is_counted": stage.key not in UNCOUNTED,
                "is_alarm": stage.is_alarm and bool(counts.get(stage.key)),
                "is_current": stage.key == chosen,
            }
            for stage in STAGES
        ]

    def _scoped(self, request: HttpRequest) -> QuerySet[Job]:
        """As the list is filtered by provider and store."""
        jobs = staff_on(request).visible(Job.objects.all(), "store", self.view_grants)
        if code := request.GET.get("provider"):
            jobs = jobs.filter(provider__code=code)
        if store := request.GET.get("store"):
            jobs = jobs.filter(store__external_id=store)
        return jobs

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        job = self.get_object(request, object_id)
        context: dict[str, Any] = {"job": job, "show_save": False}
        if job is not None:
            may_change = self.has_change_permission(request, job)
            context |= {
                "days_late": _days_late(job),
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
        """Gives jobs to another provider, which is chosen here."""
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
        """Exactly what would be sent for the items of an order; nothing is sent. For operators."""
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
    @asks_confirmation(
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
    @asks_confirmation(
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
        """How many it was done for; each refusal is shown with its own reason."""
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


def _days_late(job: Job) -> int:
    return max(0, (timezone.now().date() - job.due).days) if job.state in OPEN else 0


def _allowed(job: Job) -> frozenset[str]:
    """What the buttons of its page offer."""
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
