"""The page for scanners on the shop floor, and the address to which it sends each scan."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from uuid import uuid5

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _

from accounts.admin.staff import StaffAdmin
from fulfillment.core.errors import DomainError
from fulfillment.core.recorded_texts import translated
from production.dispatch.services.scans import record_scan
from production.gang_sheets.models import NUMBER as SHEET_NUMBER
from production.jobs.models import Job, Scan, ScanStep
from production.jobs.selectors import is_packed_unseen, job_of_code, jobs_of_sheet, packed_of_order
from stores.orders.admin.actors import actor_on


class ScanForm(forms.Form):
    id = forms.UUIDField()
    code = forms.CharField(max_length=100)
    step = forms.ChoiceField(choices=ScanStep.choices)
    pieces = forms.IntegerField(required=False)
    at = forms.DateTimeField(required=False)

    def clean_code(self) -> str:
        """People type the number of a gang sheet in small letters too."""
        return str(self.cleaned_data["code"]).upper()


class JobScans(StaffAdmin):
    def scan_view(self, request: HttpRequest) -> HttpResponse:
        """The page waits for codes and sends them one by one; each is answered with a sentence."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            return self._receive_scan(request)
        steps = [step for step in ScanStep if step != ScanStep.MISSING]
        context = {**self.page_context(request, _("Scan jobs"), is_view_of_list=True), "steps": steps}
        response = TemplateResponse(request, "admin/production/scan.html", context)
        response["Permissions-Policy"] = "camera=(self), geolocation=(), microphone=()"
        return response

    def _receive_scan(self, request: HttpRequest) -> JsonResponse:
        form = ScanForm(request.POST)
        if not form.is_valid():
            message = _("The scan cannot be read. These fields are missing or wrong: %(fields)s.")
            return _problem_response(HTTPStatus.BAD_REQUEST, message % {"fields": ", ".join(form.errors)})
        values = form.cleaned_data
        if sheet := SHEET_NUMBER.match(values["code"]):
            return self._scan_sheet(request, values, int(sheet[1]), int(sheet[2] or 1))
        job = job_of_code(self.get_queryset(request), values["code"])
        if job is None or not self.has_change_permission(request, job):
            return _problem_response(HTTPStatus.NOT_FOUND, _("There is no job with this number here."))
        try:
            scan = _record_scan(request, job, values)
        except DomainError as error:
            return _problem_response(error.status, translated(error.message))
        return JsonResponse({"words": _describe_scan(scan, is_repeated=scan.pk != values["id"])})

    def _scan_sheet(
        self, request: HttpRequest, values: dict[str, Any], sheet_id: int, generation: int
    ) -> JsonResponse:
        """A gang sheet is a scan of each job on it; jobs that are not printed now are named."""
        code, on_sheet = values["code"], jobs_of_sheet(self.get_queryset(request), sheet_id, generation)
        jobs = [job for job in on_sheet if self.has_change_permission(request, job)]
        if not jobs:
            return _problem_response(
                HTTPStatus.NOT_FOUND, _("There is no gang sheet %(code)s here.") % {"code": code}
            )
        if values["step"] == ScanStep.MISSING:
            message = _("%(code)s has %(jobs)s jobs. Type the number beside the pieces that are missing.")
            return _problem_response(HTTPStatus.BAD_REQUEST, message % {"code": code, "jobs": len(jobs)})
        refusals, scans = [], []
        for job in jobs:
            try:
                scans.append(_record_scan(request, job, {**values, "id": uuid5(values["id"], job.number)}))
            except DomainError as error:
                refusals.append(translated(error.message))
        summary = _("%(code)s: %(step)s, %(done)s of %(jobs)s jobs.") % {
            "code": code,
            "step": _name_step(values["step"]),
            "done": len(jobs) - len(refusals),
            "jobs": len(jobs),
        }
        words = " ".join([summary, *_unseen_warnings(scans), *refusals])
        return _problem_response(HTTPStatus.CONFLICT, words) if refusals else JsonResponse({"words": words})


def _record_scan(request: HttpRequest, job: Job, values: dict[str, Any]) -> Scan:
    return record_scan(
        job=job,
        scan_id=values["id"],
        step=ScanStep(values["step"]),
        pieces=values["pieces"],
        at=values["at"],
        actor=actor_on(request),
    )


def _problem_response(status: int, message: str) -> JsonResponse:
    return JsonResponse({"problem": message}, status=status)


def _describe_scan(scan: Scan, *, is_repeated: bool) -> str:
    job = scan.job
    facts = {
        "piece": f"{scan.number}, {job.item.product_name}",
        "step": _name_step(scan.step),
        "time": date_format(timezone.localtime(scan.at), "DATETIME_FORMAT"),
        "job": job.number,
    }
    if is_repeated:
        return _("%(piece)s: %(step)s already, %(time)s.") % facts
    pieces = (scan.pieces or 0) if scan.step == ScanStep.MISSING else job.quantity
    facts["pieces"] = number_format(pieces, force_grouping=True)
    if scan.step == ScanStep.MISSING:
        return _("%(piece)s: %(pieces)s missing, printed again as %(job)s.") % facts
    sentence = _("%(piece)s: %(step)s, %(pieces)s pieces.") % facts
    if scan.step != ScanStep.PACKED:
        return sentence
    return " ".join([sentence, *_unseen_warnings([scan]), _packed_text(job)])


def _unseen_warnings(scans: Sequence[Scan]) -> list[str]:
    """Names the jobs that were packed without an earlier scan, which is allowed."""
    jobs = ", ".join(scan.number for scan in scans if is_packed_unseen(scan))
    return [_("%(jobs)s: not scanned as printed or cut.") % {"jobs": jobs}] if jobs else []


def _packed_text(job: Job) -> str:
    packed, jobs = packed_of_order(job)
    facts = {"packed": packed, "jobs": jobs, "provider": job.provider}
    if jobs < job.order.item_count:
        return _("%(packed)s of %(jobs)s jobs of the order at %(provider)s are packed.") % facts
    return _("%(packed)s of %(jobs)s jobs of the order are packed.") % facts


def _name_step(step: str) -> str:
    return str(ScanStep(step).label).lower()
