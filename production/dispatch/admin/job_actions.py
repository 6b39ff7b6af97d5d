"""What an operator or store staff can do with jobs, on the board and on the page of a job."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, ngettext_lazy

from accounts.admin.staff import StaffAdmin, staff_on
from accounts.callers import Caller
from fulfillment.core.admin.confirmation import confirmation_page, requires_confirmation
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import streamed_file
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import parse_number
from production.dispatch.services.actions import cancel_job, hold_job, reassign_job, release_job, resend_job
from production.gang_sheets.services.archives import gang_archive
from production.interface import MAX_JOBS
from production.jobs.models import AT_PROVIDER, HoldReason, Job, JobState
from production.routing.selectors import providers_for_stores
from stores.orders.admin.actors import actor_on

BOARD = "admin:production_job_changelist"
# Their numbers are in the address of the page: nginx takes 4 KB of headers from the service.
MAX_REASSIGNED = 200
REASONS_SHOWN = 20
Service = Callable[..., Job]


class JobActions(StaffAdmin):
    def resend_view(self, request: HttpRequest, job_id: int) -> HttpResponse:
        return self._apply_one(request, job_id, resend_job, _("Job %(job)s is being sent again."))

    def hold_view(self, request: HttpRequest, job_id: int) -> HttpResponse:
        return self._apply_one(request, job_id, hold_job, _("Job %(job)s is held."))

    def release_view(self, request: HttpRequest, job_id: int) -> HttpResponse:
        return self._apply_one(request, job_id, release_job, _("Job %(job)s is released."))

    def cancel_view(self, request: HttpRequest, job_id: int) -> HttpResponse:
        job = self.record_for(request, job_id)
        question = _("Cancel job %(job)s? If a provider already has it, it is cancelled there as well.")
        page = confirmation_page(
            self,
            request,
            question=question % {"job": job},
            button=_("Cancel the job"),
            back=self.address_of(job),
        )
        message = _("Job %(job)s is cancelled. If a provider has it, it is cancelled there next.")
        return page or self._apply_one(request, job_id, cancel_job, message)

    def reassign_view(self, request: HttpRequest) -> HttpResponse:
        """Shows a choice of providers and reassigns jobs to the chosen one."""
        values = request.POST if request.method == "POST" else request.GET
        jobs = self._jobs_to_reassign(request, values.getlist("id"))
        if not jobs:
            messages.error(request, _("Select the jobs to reassign in the list first."))
            return HttpResponseRedirect(reverse(BOARD))
        stores = None if staff_on(request).is_operator else {job.store_id for job in jobs}
        providers = providers_for_stores(stores)
        provider = providers.filter(code=values.get("provider", "")).first()
        if request.method == "POST" and provider is not None:
            if count := self._apply_each(request, jobs, reassign_job, provider=provider):
                message = ngettext(
                    "%(count)s job reassigned to %(provider)s.",
                    "%(count)s jobs reassigned to %(provider)s.",
                    count,
                )
                messages.success(request, message % {"count": count, "provider": provider})
            return HttpResponseRedirect(self.address_of(jobs[0]) if len(jobs) == 1 else reverse(BOARD))
        context = {
            **self.page_context(request, _("Reassign jobs")),
            "jobs": jobs,
            "providers": providers,
            "is_missing": request.method == "POST",
        }
        return TemplateResponse(request, "admin/production/reassign.html", context)

    def _jobs_to_reassign(self, request: HttpRequest, keys: Sequence[str]) -> list[Job]:
        numbers = [number for key in keys[:MAX_REASSIGNED] if (number := parse_number(key))]
        jobs = self.get_queryset(request).filter(pk__in=numbers).order_by("pk")
        return [job for job in jobs if self.has_change_permission(request, job)]

    @harmless
    @admin.action(description="Send again …", permissions=["change"])
    @requires_confirmation(
        gettext_lazy(
            "Send these jobs again? Waiting ones are tried at once; failed and cancelled ones are started again."
        ),
        gettext_lazy("Send again"),
    )
    def resend(self, request: HttpRequest, queryset: QuerySet) -> None:
        message = ngettext_lazy(
            "%(count)s job is being sent again.", "%(count)s jobs are being sent again.", "count"
        )
        self._apply_all(request, queryset, resend_job, message)

    @harmless
    @admin.action(description="Hold", permissions=["change"])
    def hold(self, request: HttpRequest, queryset: QuerySet) -> None:
        message = ngettext_lazy("%(count)s job is held.", "%(count)s jobs are held.", "count")
        self._apply_all(request, queryset, hold_job, message)

    @harmless
    @admin.action(description="Release", permissions=["change"])
    def release(self, request: HttpRequest, queryset: QuerySet) -> None:
        message = ngettext_lazy("%(count)s job is released.", "%(count)s jobs are released.", "count")
        self._apply_all(request, queryset, release_job, message)

    @harmless
    @admin.action(description="Cancel …", permissions=["change"])
    @requires_confirmation(
        gettext_lazy("Cancel these jobs? Jobs that a provider already has are cancelled there as well."),
        gettext_lazy("Cancel the jobs"),
    )
    def cancel(self, request: HttpRequest, queryset: QuerySet) -> None:
        message = ngettext_lazy(
            "%(count)s job is cancelled. If a provider has it, it is cancelled there next.",
            "%(count)s jobs are cancelled. Those that a provider has are cancelled there next.",
            "count",
        )
        self._apply_all(request, queryset, cancel_job, message)

    @harmless
    @admin.action(description="Reassign …", permissions=["change"])
    def reassign(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        keys = list(queryset.values_list("pk", flat=True)[: MAX_REASSIGNED + 1])
        if len(keys) > MAX_REASSIGNED:
            messages.error(request, _("Select at most %(max_jobs)s jobs.") % {"max_jobs": MAX_REASSIGNED})
            return None
        return HttpResponseRedirect(reverse("admin:production_job_reassign", query={"id": keys}))

    @harmless
    @admin.action(description="Download gang sheets", permissions=["change"])
    def download_gang_sheets(
        self, request: HttpRequest, queryset: QuerySet[Job]
    ) -> StreamingHttpResponse | None:
        jobs = [
            job for job in queryset.order_by("pk")[: MAX_JOBS + 1] if self.has_change_permission(request, job)
        ]
        if len(jobs) > MAX_JOBS:
            messages.error(request, _("Select at most %(max_jobs)s jobs.") % {"max_jobs": MAX_JOBS})
            return None
        caller = Caller.on_pages(request.user)
        return streamed_file(gang_archive(jobs), "gang-sheets.zip", caller.key)

    def _apply_all(
        self, request: HttpRequest, queryset: QuerySet, service: Service, message: Promise
    ) -> None:
        """`message` names the `count` of jobs."""
        jobs = [job for job in queryset.order_by("pk") if self.has_change_permission(request, job)]
        if count := self._apply_each(request, jobs, service):
            messages.success(request, message % {"count": count})

    def _apply_each(self, request: HttpRequest, jobs: Sequence[Job], service: Service, **values: Any) -> int:
        """Applies the service to each job; returns how many succeeded and shows each refusal."""
        actor, refusals = actor_on(request), []
        for job in jobs:
            try:
                service(job=job, actor=actor, **values)
            except DomainError as error:
                refusals.append(translated(error.message))
        for message in refusals[:REASONS_SHOWN]:
            messages.error(request, message)
        if len(refusals) > REASONS_SHOWN:
            messages.error(
                request,
                _("%(reasons_shown)s more were refused.") % {"reasons_shown": len(refusals) - REASONS_SHOWN},
            )
        return len(jobs) - len(refusals)

    def _apply_one(self, request: HttpRequest, job_id: int, service: Service, message: str) -> HttpResponse:
        job, actor = self.record_for(request, job_id), actor_on(request)
        with errors_as_messages(request):
            changed_job = service(job=job, actor=actor)
            messages.success(request, message % {"job": changed_job})
        return HttpResponseRedirect(self.address_of(job))


def allowed_actions(job: Job) -> frozenset[str]:
    """The buttons on the page of a job; the services check each action again."""
    is_leaving = job.cancel_requested is not None and job.state != JobState.CANCELLED
    actions = set()
    if job.state in (JobState.QUEUED, JobState.FAILED, JobState.CANCELLED) and not is_leaving:
        actions |= {"resend", "reassign"}
    if job.state == JobState.QUEUED and not is_leaving:
        actions.add("release" if job.held == HoldReason.MANUAL else "hold")
    if job.state in (JobState.QUEUED, JobState.FAILED, *AT_PROVIDER) and not is_leaving:
        actions.add("cancel")
    return frozenset(actions)
