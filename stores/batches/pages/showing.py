"""A batch: its file, its rows with their proofs page by page, and what can be downloaded."""

from collections.abc import Sequence
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.callers import Caller
from accounts.pages.guards import signed_in
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.files.downloads import pdf_response
from stores.batches.files.writing import Format
from stores.batches.grid import after_in, listed_rows, states_in
from stores.batches.models import Batch, BatchRow, BatchStatus
from stores.batches.overview import BatchPage
from stores.batches.pages.opening import PORTAL
from stores.batches.places import Place
from stores.batches.row_files import rows_file, template_file
from stores.batches.selectors import counts_of, rows_of
from stores.batches.services.sheets import extreme_rows, render_contact_sheet

SHEET_ROWS = 500


@require_safe
@signed_in
def show_batch(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    batch = PORTAL.open(request, batch_id).batch
    page = BatchPage(batch, counts_of(batch))
    if not page.counts.rows:
        return PORTAL.render(request, "upload", page=page, batch=batch)
    if batch.status == BatchStatus.EMPTY:
        return PORTAL.lead_to("mapping", batch_id)
    return PORTAL.render(request, "batch", page=page, batch=batch, **listed_rows(page, request.GET))


@require_safe
@signed_in
def download_template(request: HttpRequest, batch_id: UUID, form: str, place: Place = PORTAL) -> HttpResponse:
    batch = place.open(request, batch_id).batch
    return template_file(batch, _known_form(form))


@require_safe
@signed_in
def download_rows(request: HttpRequest, batch_id: UUID, form: str, place: Place = PORTAL) -> HttpResponseBase:
    """All rows with what is wrong, or with orders and tracking."""
    opened = place.open(request, batch_id)
    return rows_file(
        opened.batch, states_in(request.GET.get("state", "all")), _known_form(form), opened.caller
    )


@require_safe
@signed_in
def download_contact_sheet(request: HttpRequest, batch_id: UUID, place: Place = PORTAL) -> HttpResponse:
    opened = place.open(request, batch_id)
    return contact_sheet_of(request, opened.batch, opened.caller)


def contact_sheet_of(request: HttpRequest, batch: Batch, caller: Caller) -> HttpResponse:
    # The extremes are looked for in all rows, which take memory.
    with FILES.limited(caller.key):
        if request.GET.get("rows") == "extremes":
            rows: Sequence[BatchRow] = extreme_rows(batch)[:SHEET_ROWS]
        else:
            rows = list(rows_of(batch, after=after_in(request.GET))[:SHEET_ROWS])
        content = render_contact_sheet(batch=batch, rows=rows, caller=caller)
    return pdf_response(content, f"batch-{batch.pk}.pdf")


def _known_form(form: str) -> Format:
    if form == "csv":
        return "csv"
    if form == "xlsx":
        return "xlsx"
    raise Http404(_("Rows are downloaded as csv or xlsx."))
