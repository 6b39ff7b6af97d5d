"""The print file and the tickets of a job, as it would be sent now."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404

from accounts.admin.staff import StaffAdmin
from accounts.callers import Caller
from fulfillment.core.files.downloads import limited_pdf
from fulfillment.core.page_messages import errors_as_messages
from production.interface import AdapterJob
from production.jobs.models import Job
from production.jobs.services.adapter_jobs import build_adapter_job
from production.tickets import write_jdf, write_json_ticket, write_xjdf

TICKETS = {
    "xjdf": (write_xjdf, "application/xml"),
    "json": (write_json_ticket, "application/json"),
    "jdf": (write_jdf, "application/xml"),
}


class JobFiles(StaffAdmin):
    def file_view(self, request: HttpRequest, job_id: int, form: str) -> HttpResponseBase:
        job: Job = get_object_or_404(self.get_queryset(request), pk=job_id)
        if not self.has_view_permission(request, job):
            raise PermissionDenied
        if form != "pdf" and form not in TICKETS:
            raise Http404
        key = Caller.on_pages(request.user).key
        with errors_as_messages(request), limited_pdf(job.item.print_bytes, key) as respond:
            job_to_send, name = build_adapter_job(job), f"{job.number}.{form}"
            response = (
                respond(_find_print_file(job_to_send), name)
                if form == "pdf"
                else _write_ticket(job_to_send, form, name)
            )
            response["Cache-Control"] = "private, no-store"
            response["X-Content-Type-Options"] = "nosniff"
            return response
        return HttpResponseRedirect(self.address_of(job))


def _find_print_file(job: AdapterJob) -> bytes:
    for file in job.files:
        if file.is_printed:
            return file.content
    raise Http404


def _write_ticket(job: AdapterJob, form: str, name: str) -> HttpResponse:
    write, kind = TICKETS[form]
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(write(job), content_type=kind, headers=headers)
