"""The page for scanners on the shop floor, and the address to which it sends each scan."""

from http import HTTPStatus

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.formats import date_format

from accounts.admin.staff import StaffAdmin
from fulfillment.core.errors import DomainError
from production.dispatch.services.scans import record_scan
from production.jobs.models import Scan, ScanStep
from production.jobs.selectors import job_of_code, packed_of_order
from stores.orders.admin.actions import actor_on


class ScanForm(forms.Form):
    id = forms.UUIDField()
    code = forms.CharField(max_length=100)
    step = forms.ChoiceField(choices=ScanStep.choices)
    pieces = forms.IntegerField(required=False)
    at = forms.DateTimeField(required=False)


class JobScans(StaffAdmin):
    def scan_view(self, request: HttpRequest) -> HttpResponse:
        """The page waits for codes and sends them one by one; each is answered with a sentence."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            return self._scanned(request)
        steps = [step for step in ScanStep if step != ScanStep.MISSING]
        context = {**self.page_context(request, "Scan jobs"), "steps": steps}
        return TemplateResponse(request, "admin/production/scan.html", context)

    def _scanned(self, request: HttpRequest) -> JsonResponse:
        form = ScanForm(request.POST)
        if not form.is_valid():
            return _refused(HTTPStatus.BAD_REQUEST, f"This is no scan: {', '.join(form.errors)}.")
        sent = form.cleaned_data
        job = job_of_code(self.get_queryset(request), sent["code"])
        if job is None or not self.has_change_permission(request, job):
            return _refused(HTTPStatus.NOT_FOUND, f"There is no job {sent['code']} here.")
        try:
            scan = record_scan(
                job=job,
                scan_id=sent["id"],
                step=ScanStep(sent["step"]),
                pieces=sent["pieces"],
                at=sent["at"],
                actor=actor_on(request),
            )
        except DomainError as error:
            return _refused(error.status, error.message)
        return JsonResponse({"words": _words(scan, is_repeated=scan.pk != sent["id"])})


def _refused(status: int, message: str) -> JsonResponse:
    return JsonResponse({"problem": message}, status=status)


def _words(scan: Scan, *, is_repeated: bool) -> str:
    job = scan.job
    what = f"{scan.number}, {job.item.product_name}"
    if is_repeated:
        return f"{what}: {scan.step.lower()} already, {date_format(timezone.localtime(scan.at), 'DATETIME_FORMAT')}."
    if scan.step == ScanStep.MISSING:
        return f"{what}: {scan.pieces:,} missing, printed again as {job.number}."
    packed, jobs = packed_of_order(job)
    of_order = f" {packed} of {jobs} jobs of the order are packed." if scan.step == ScanStep.PACKED else ""
    return f"{what}: {scan.step.lower()}, {job.quantity:,} pieces.{of_order}"
