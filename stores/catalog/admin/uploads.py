"""Uploads, imports and downloads of catalog files in the console."""

from collections.abc import Sequence
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse
from django.utils.formats import number_format
from django.utils.http import content_disposition_header
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST
from unfold.decorators import display
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextInputWidget

from accounts.callers import Caller
from applications.webhooks.selectors.deliveries import alive_workers
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.admin.confirmation import confirmation_page
from fulfillment.core.admin.read_only import ReadOnlyAdmin
from fulfillment.core.concurrency_limits import FILES, LimitedStream
from fulfillment.core.errors import DomainError
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import in_percent
from stores.catalog.models import CatalogUpload, CatalogUploadState, Store
from stores.catalog.services.imports import MAX_CHANGES, export_catalog
from stores.catalog.services.uploads import (
    UPLOAD_BYTES,
    check_catalog_again,
    discard_catalog_upload,
    receive_catalog_upload,
    start_catalog_import,
)

State = CatalogUploadState
COLORS: dict[str, str] = {
    State.WAITING: "warning",
    State.CHECKING: "warning",
    State.REFUSED: "danger",
    State.CHECKED: "info",
    State.QUEUED: "warning",
    State.IMPORTING: "warning",
    State.IMPORTED: "success",
    State.FAILED: "danger",
}
UNFINISHED = {State.WAITING, State.CHECKING, State.QUEUED, State.IMPORTING}
BEFORE_A_WORKER = {State.WAITING, State.QUEUED}
LIST = "admin:stores_catalogupload_changelist"
COUNTED = {
    "products_new": gettext_lazy("products new"),
    "products_changed": gettext_lazy("products changed"),
    "products_same": gettext_lazy("products unchanged"),
    "stores_new": gettext_lazy("stores new"),
    "stores_changed": gettext_lazy("stores changed"),
    "stores_same": gettext_lazy("stores unchanged"),
    "stores_reordered": gettext_lazy("stores reordered"),
}
IN_MEMORY = 8 * 1024 * 1024
BLOCK = 64 * 1024


class CatalogUploadForm(forms.Form):
    store = forms.CharField(
        label=gettext_lazy("Only this store"),
        required=False,
        max_length=64,
        widget=UnfoldAdminTextInputWidget,
        help_text=gettext_lazy(
            "A StoreID: a file that names another store is refused. Empty: any store, new ones too."
        ),
    )
    file = forms.FileField(
        label=gettext_lazy("Catalog file"),
        widget=UnfoldAdminFileFieldWidget,
        help_text=format_lazy(
            gettext_lazy(
                "JSON, plain or packed with gzip, at most {upload_bytes} MB. It is checked first; "
                "nothing changes before you confirm."
            ),
            upload_bytes=UPLOAD_BYTES // 2**20,
        ),
    )

    def clean_store(self) -> Store | None:
        store_id = self.cleaned_data["store"].strip()
        store = Store.objects.filter(external_id=store_id).first()
        if store_id and store is None:
            raise forms.ValidationError(_("No store has this StoreID. Leave it empty to import a new store."))
        return store


@admin.register(CatalogUpload)
class CatalogUploadAdmin(ReadOnlyAdmin):
    """Uploads are for users who may change stores. The record of an upload stays and shows who imported it."""

    harmless_pages = ("add", "progress", "import", "check", "discard")
    list_display = [
        "file_name",
        "shown_state",
        "store",
        "summary_text",
        "created",
        "created_by",
        "imported_by",
    ]
    list_filter = ["state"]
    list_select_related = ["store", "created_by__tenant", "imported_by__tenant"]
    search_fields = ["file_name", "store__external_id"]
    search_help_text = "File or StoreID"
    add_label = "Import a catalog"
    empty_help = "Import a catalog file to create or change stores and products."
    list_before_template = "admin/stores/catalog_uploads_before.html"
    change_form_outer_before_template = "admin/stores/catalog_upload_before.html"
    change_form_outer_after_template = "admin/stores/catalog_upload_after.html"
    fields = [
        "shown_state", "file_name", "shown_size", "store", "created", "created_by", "imported_by", "finished",
    ]  # fmt: skip

    @display(description="state", label={label: COLORS[value] for value, label in State.choices})
    def shown_state(self, upload: CatalogUpload) -> str:
        return upload.get_state_display()

    @admin.display(description="size")
    def shown_size(self, upload: CatalogUpload) -> str:
        return str(filesizeformat(upload.size))

    @admin.display(description="what it does")
    def summary_text(self, upload: CatalogUpload) -> str:
        if upload.fault_count:
            count = number_format(upload.fault_count, force_grouping=True)
            return ngettext("%(count)s error", "%(count)s errors", upload.fault_count) % {"count": count}
        return ", ".join(f"{name}: {count:,}" for name, count in _list_counts(upload.summary) if count) or "—"

    def get_queryset(self, request: HttpRequest) -> QuerySet[CatalogUpload]:
        uploads = super().get_queryset(request)
        return uploads.defer("store__rendering", "store__verbose_rendering", "faults")

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return self._may_change(request)

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("<int:upload_id>/progress/", self.progress_view, "progress"),
            ("<int:upload_id>/import/", require_POST(self.import_view), "import"),
            ("<int:upload_id>/check/", require_POST(self.check_view), "check"),
            ("<int:upload_id>/discard/", require_POST(self.discard_view), "discard"),
        ]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        is_post = request.method == "POST"
        initial = {"store": request.GET.get("store", "")[:64]}
        form = CatalogUploadForm(
            request.POST if is_post else None, request.FILES if is_post else None, initial=initial
        )
        if form.is_valid() and (upload := self._receive(request, form)):
            return redirect(self.address_of(upload))
        context = {
            **self.page_context(request, _("Import a catalog")),
            "form": form,
        }
        return TemplateResponse(request, "admin/stores/catalog_upload.html", context)

    def record_context(self, request: HttpRequest, upload: CatalogUpload) -> dict[str, Any]:
        return {**_describe_report(upload), "catalog": upload}

    def progress_view(self, request: HttpRequest, upload_id: int) -> JsonResponse:
        upload = get_object_or_404(self.get_queryset(request), pk=upload_id)
        shown = {
            "percent": upload.percent,
            "text": _progress_text(upload),
            "is_under_way": upload.state in UNFINISHED,
        }
        return JsonResponse(shown, headers={"Cache-Control": "no-store"})

    def import_view(self, request: HttpRequest, upload_id: int) -> HttpResponse:
        upload = self._upload(request, upload_id)
        user: Any = request.user
        with errors_as_messages(request):
            start_catalog_import(upload=upload, by=user)
            messages.success(request, _("The catalog is being imported."))
        return redirect(self.address_of(upload))

    def check_view(self, request: HttpRequest, upload_id: int) -> HttpResponse:
        upload = self._upload(request, upload_id)
        with errors_as_messages(request):
            check_catalog_again(upload=upload)
            messages.success(request, _("The file is being checked again."))
        return redirect(self.address_of(upload))

    def discard_view(self, request: HttpRequest, upload_id: int) -> HttpResponse:
        upload = self._upload(request, upload_id)
        question = _("Discard the file %(file_name)s? Nothing was imported from it.") % {
            "file_name": upload.file_name
        }
        if page := confirmation_page(
            self, request, question=question, button=_("Discard"), back=self.address_of(upload)
        ):
            return page
        with errors_as_messages(request):
            discard_catalog_upload(upload=upload)
            message = _("The file %(file_name)s was discarded.")
            messages.success(request, message % {"file_name": upload.file_name})
        return redirect(LIST)

    def _receive(self, request: HttpRequest, form: CatalogUploadForm) -> CatalogUpload | None:
        user: Any = request.user
        values = form.cleaned_data
        try:
            return receive_catalog_upload(upload=values["file"], by=user, store=values["store"])
        except DomainError as error:
            form.add_error("file", translated(error.message))
            return None

    def _upload(self, request: HttpRequest, upload_id: int) -> CatalogUpload:
        upload: CatalogUpload = get_object_or_404(self.get_queryset(request), pk=upload_id)
        if not self._may_change(request, upload.store):
            raise PermissionDenied
        return upload

    def _may_change(self, request: HttpRequest, store: Store | None = None) -> bool:
        """Whether the user may change this store, and therefore import into it."""
        stores: Any = self.admin_site.get_model_admin(Store)
        return bool(self.has_access(request, "add") and stores.has_change_permission(request, store))


def _list_counts(summary: dict[str, Any]) -> list[tuple[str, int]]:
    """The changes of an import by their names, for stores and products."""
    return [(str(words), int(summary.get(name, 0))) for name, words in COUNTED.items()]


def _progress_text(upload: CatalogUpload) -> str:
    shown = upload.get_state_display()
    if upload.error:
        return f"{shown}. {translated(upload.error)}"
    if upload.state in BEFORE_A_WORKER and not alive_workers():
        return _("%(shown)s. No worker is running: start one with “manage.py worker”.") % {"shown": shown}
    return (
        f"{shown}, {in_percent(upload.percent)}" if upload.percent and upload.state in UNFINISHED else shown
    )


def _describe_report(upload: CatalogUpload) -> dict[str, Any]:
    counts = _list_counts(upload.summary) if upload.summary else []
    changes = upload.summary.get("changes", [])
    return {
        "is_under_way": upload.state in UNFINISHED,
        "progress_text": _progress_text(upload),
        "counts": counts,
        "changes": changes,
        "has_more_changes": len(changes) >= MAX_CHANGES,
        "changes_nothing": bool(counts) and not changes,
        "hidden_faults": upload.fault_count - len(upload.faults),
    }


def catalog_response(request: HttpRequest, store_ids: Sequence[str], name: str) -> HttpResponseBase:
    """The catalog file of these stores, or a redirect to the list if the service refuses.

    Holds a slot of FILES until the file is sent. The file is complete before the first byte is sent, because a slow
    reader would keep the transaction open.
    """
    with errors_as_messages(request), FILES.slot(Caller.on_pages(request.user).key) as held:
        file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - the answer closes it
        file.writelines(export_catalog(store_ids=store_ids) if store_ids else ())
        headers = {
            "Content-Disposition": content_disposition_header(True, name),
            "Content-Length": str(file.tell()),
        }
        file.seek(0)
        until_sent = held.whole.pop_all()
        until_sent.callback(file.close)
        blocks = LimitedStream(iter(partial(file.read, BLOCK), b""), until_sent)
        return StreamingHttpResponse(blocks, content_type="application/json", headers=headers)
    return redirect("admin:stores_store_changelist")
