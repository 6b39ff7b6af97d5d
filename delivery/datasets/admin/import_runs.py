"""The admin of imports: upload, preview, progress and report."""

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from unfold.decorators import display

from delivery.datasets.admin.import_forms import LABELS, ImportForm, ImportUploadForm
from delivery.datasets.models import ImportRun, ImportState
from delivery.datasets.problems import REMEDIES
from delivery.datasets.services.importer import ImportOptions, Preview
from delivery.datasets.services.imports import discard_upload, preview_upload, receive_upload, start_import
from delivery.datasets.services.locking import end_interrupted_imports
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.admin.confirmation import confirmation_page
from fulfillment.core.admin.read_only import ReadOnlyAdmin
from fulfillment.core.errors import DomainError
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import in_percent

COLORS: dict[str, str] = {
    ImportState.UPLOADED: "info",
    ImportState.WAITING: "warning",
    ImportState.RUNNING: "warning",
    ImportState.LOADED: "success",
    ImportState.FAILED: "danger",
}
UNFINISHED = {ImportState.WAITING, ImportState.RUNNING}


@admin.register(ImportRun)
class ImportRunAdmin(ReadOnlyAdmin):
    harmless_pages = ("add", "prepare", "throw_away", "progress", "problems")
    list_display = [
        "id", "shown_state", "file_name", "lines", "rejected", "warning_count", "dataset", "created",
        "created_by",
    ]  # fmt: skip
    list_select_related = ["dataset"]
    list_filter = ["state"]
    search_fields = ["file_name", "created_by"]
    search_help_text = "File or who imported it"
    add_label = "Import a file"
    empty_help = "Import a file of delivery counts: the API answers look-ups from it once it is active."
    change_form_outer_after_template = "admin/delivery/import_after.html"
    fields = [
        "shown_state", "file_name", "row_count", "reject_count", "warning_count", "dataset", "created", "created_by",
        "finished",
    ]  # fmt: skip

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return request.user.has_perm("delivery.add_importrun")

    @display(description="state", label={label: COLORS[value] for value, label in ImportState.choices})
    def shown_state(self, run: ImportRun) -> str:
        return run.get_state_display()

    @admin.display(description="lines")
    def lines(self, run: ImportRun) -> int:
        return run.row_count

    @admin.display(description="rejected")
    def rejected(self, run: ImportRun) -> int:
        return run.reject_count

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("<int:run_id>/prepare/", self.prepare_view, "prepare"),
            ("<int:run_id>/throw-away/", require_POST(self.throw_away_view), "throw_away"),
            ("<int:run_id>/progress/", self.progress_view, "progress"),
            ("<int:run_id>/problems/", self.problems_view, "problems"),
        ]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        form = ImportUploadForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            try:
                run = receive_upload(upload=form.cleaned_data["file"], by=request.user.get_username())
            except DomainError as error:
                form.add_error("file", translated(error.message))
            else:
                return redirect("admin:delivery_importrun_prepare", run.pk)
        context = self.page_context(request, _("Import delivery populations"), form=form)
        return TemplateResponse(request, "admin/delivery/upload.html", context)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        end_interrupted_imports()
        run = self.get_object(request, object_id)
        if run and run.state == ImportState.UPLOADED:
            return redirect("admin:delivery_importrun_prepare", run.pk)
        return super().change_view(request, object_id, form_url, extra_context)

    def record_context(self, request: HttpRequest, run: ImportRun) -> dict[str, Any]:
        return {
            "run": run,
            "is_under_way": run.state in UNFINISHED,
            "progress_text": _progress_text(run),
            **_describe_report(run),
        }

    def prepare_view(self, request: HttpRequest, run_id: int) -> HttpResponse:
        """Preview and column mapping: "Preview again" reads the first lines again, "Import" starts."""
        run = get_object_or_404(ImportRun, pk=run_id)
        if run.state != ImportState.UPLOADED:
            return redirect(self.address_of(run))
        preview = preview_upload(run=run, options=ImportOptions(), by=str(request.user.pk))
        initial = {"format": "auto", "vintage": preview.vintage, "types": settings.EDDM_ROUTE_TYPES}
        form = ImportForm(request.POST or None, preview=preview, initial=initial)
        if form.is_valid():
            preview = preview_upload(run=run, options=form.chosen_options, by=str(request.user.pk))
            if "start" in request.POST and not preview.error:
                with errors_as_messages(request):
                    start_import(run=run, options=form.chosen_options)
                return redirect(self.address_of(run))
        context = self.page_context(
            request,
            f"Import {run.file_name}",
            below=run,
            run=run,
            form=form,
            preview=preview,
            table=_preview_table(preview),
        )
        return TemplateResponse(request, "admin/delivery/prepare.html", context)

    def throw_away_view(self, request: HttpRequest, run_id: int) -> HttpResponse:
        run = get_object_or_404(ImportRun, pk=run_id)
        question = _("Discard the upload %(file_name)s? Nothing was imported from it.") % {
            "file_name": run.file_name
        }
        back = reverse("admin:delivery_importrun_prepare", args=[run.pk])
        if page := confirmation_page(self, request, question=question, button=_("Discard"), back=back):
            return page
        with errors_as_messages(request):
            discard_upload(run=run)
            message = _("The upload %(file_name)s was discarded.")
            messages.success(request, message % {"file_name": run.file_name})
        return redirect("admin:delivery_importrun_changelist")

    def progress_view(self, request: HttpRequest, run_id: int) -> HttpResponse:
        end_interrupted_imports()
        run = get_object_or_404(ImportRun, pk=run_id)
        progress = {
            "percent": run.percent,
            "text": _progress_text(run),
            "is_under_way": run.state in UNFINISHED,
        }
        return JsonResponse(progress, headers={"Cache-Control": "no-store"})

    def problems_view(self, request: HttpRequest, run_id: int) -> FileResponse:
        run = get_object_or_404(ImportRun, pk=run_id)
        if not run.problem_file:
            raise Http404
        name = f"eddm-import-{run.pk}-problems.csv"
        return FileResponse(run.problem_file.open(), as_attachment=True, filename=name)


def _progress_text(run: ImportRun) -> str:
    if run.state == ImportState.RUNNING:
        return _("%(phase)s, %(percent)s: %(rows)s lines, %(rejected)s rejected") % {
            "phase": translated(run.phase),
            "percent": in_percent(run.percent),
            "rows": number_format(run.row_count, force_grouping=True),
            "rejected": number_format(run.reject_count, force_grouping=True),
        }
    return run.get_state_display()


def _describe_report(run: ImportRun) -> dict[str, Any]:
    counts = sorted(run.problem_counts.items(), key=lambda item: -item[1])
    return {
        "problem_counts": {
            "headers": [_("Code"), _("Lines"), _("What it means")],
            "rows": [
                [code, number_format(count, force_grouping=True), translated(REMEDIES.get(code, ""))]
                for code, count in counts
            ],
        },
        "problems": {
            "headers": [_("Line"), _("Column"), _("Value"), _("Code")],
            "rows": [[p.line, p.column, p.value, p.code] for p in run.problems.all()],
        },
        "concerns": run.dataset.concerns if run.dataset else [],
    }


def _preview_table(preview: Preview) -> dict[str, Any]:
    return {
        "headers": [_("Line"), *LABELS.values()],
        "rows": [list(row) for row in preview.rows],
    }
