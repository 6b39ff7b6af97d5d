"""The files of a job as its press gets them: the stamped print file and the tickets."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from accounts.admin.staff import StaffAdmin
from accounts.callers import Caller
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.page_messages import errors_as_messages
from production.interface import Job as AdapterJob
from production.jobs.models import Job
from production.jobs.selectors import adapter_job
from production.tickets import write_jdf, write_json_ticket, write_xjdf

TICKETS = {
    "xjdf": (write_xjdf, "application/xml"),
    "json": (write_json_ticket, "application/json"),
    "jdf": (write_jdf, "application/xml"),
}


class JobFiles(StaffAdmin):
    def file_view(self, request: HttpRequest, job_id: int, form: str) -> HttpResponse:
        job: Job = get_object_or_404(self.get_queryset(request), pk=job_id)
        if not self.has_view_permission(request, job):
            raise PermissionDenied
        if form != "pdf" and form not in TICKETS:
            raise Http404
        with errors_as_messages(request), FILES.limited(Caller.on_pages(request.user).key):
            return _response(adapter_job(job), form)
        return redirect("admin:production_job_change", job.pk)


def _response(job: AdapterJob, form: str) -> HttpResponse:
    if form == "pdf":
        printed = next((file.content for file in job.files if file.is_printed), None)
        if printed is None:
            raise Http404
        content, kind = printed, "application/pdf"
    else:
        write, kind = TICKETS[form]
        content = write(job, None)
    headers = {
        "Content-Disposition": f'attachment; filename="{job.number}.{form}"',
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(content, content_type=kind, headers=headers)
