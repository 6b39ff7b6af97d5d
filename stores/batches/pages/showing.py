"""A batch: its file, its rows with their proofs page by page, and what can be downloaded."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts.callers import Caller
from accounts.pages.guards import signed_in
from fulfillment.core.text import parse_number
from stores.batches.files.writing import Format
from stores.batches.models import Batch, BatchRow, BatchStatus, RowState
from stores.batches.pages.opening import open_batch
from stores.batches.pages.overview import PROBLEMS, WITH_PROBLEMS, BatchPage
from stores.batches.pages.rows import columns_of, row_views
from stores.batches.row_files import XLSX, rows_file
from stores.batches.selectors import counts_of, rows_of
from stores.batches.services.sheets import extreme_rows, render_contact_sheet, row_template
from stores.orders.api.files import pdf_response

ROWS_A_PAGE = 50
SHEET_ROWS = 500
WORDS_LENGTH = 100


@require_safe
@signed_in
def show_batch(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    opened = open_batch(request, batch_id)
    batch = opened.batch
    page = BatchPage(batch, counts_of(batch))
    context: dict[str, Any] = {"page": page, "batch": batch, "part": "catalog"}
    if not page.counts.rows:
        return render(request, "stores/batches/upload.html", context)
    if batch.status == BatchStatus.EMPTY:
        return redirect("portal:batch-mapping", batch_id)
    chosen = request.GET.get("state", PROBLEMS)
    if chosen == PROBLEMS and not page.with_problems:
        chosen = "all"
    after, words = _after(request), request.GET.get("words", "").strip()[:WORDS_LENGTH]
    found = rows_of(batch, states=_states(chosen), after=after, words=words.replace("\0", ""))
    rows = list(found.select_related("order")[: ROWS_A_PAGE + 1])
    context |= {
        "chosen": chosen,
        "words": words,
        "columns": columns_of(batch),
        "rows": row_views(batch, rows[:ROWS_A_PAGE]),
        "after": after,
        "next_after": rows[ROWS_A_PAGE - 1].number if len(rows) > ROWS_A_PAGE else None,
    }
    return render(request, "stores/batches/batch.html", context)


@require_safe
@signed_in
def download_template(request: HttpRequest, batch_id: UUID, form: str) -> HttpResponse:
    batch = open_batch(request, batch_id).batch
    content = row_template(batch=batch, format=_known_form(form))
    response = HttpResponse(content, content_type="text/csv; charset=utf-8" if form == "csv" else XLSX)
    response["Content-Disposition"] = f'attachment; filename="rows-{batch.product.external_id}.{form}"'
    return response


@require_safe
@signed_in
def download_rows(request: HttpRequest, batch_id: UUID, form: str) -> HttpResponseBase:
    """All rows with what is wrong, or with orders and tracking."""
    opened = open_batch(request, batch_id)
    return rows_file(opened.batch, _states(request.GET.get("state", "all")), _known_form(form), opened.caller)


@require_safe
@signed_in
def download_contact_sheet(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    opened = open_batch(request, batch_id)
    return contact_sheet_of(request, opened.batch, opened.caller)


def contact_sheet_of(request: HttpRequest, batch: Batch, caller: Caller) -> HttpResponse:
    if request.GET.get("rows") == "extremes":
        rows: Sequence[BatchRow] = extreme_rows(batch)[:SHEET_ROWS]
    else:
        rows = list(rows_of(batch, after=_after(request))[:SHEET_ROWS])
    return pdf_response(render_contact_sheet(batch=batch, rows=rows, caller=caller), f"batch-{batch.pk}.pdf")


def _known_form(form: str) -> Format:
    if form == "csv":
        return "csv"
    if form == "xlsx":
        return "xlsx"
    raise Http404("Rows are downloaded as csv or xlsx.")


def _states(chosen: str) -> list[str]:
    if chosen == PROBLEMS:
        return list(WITH_PROBLEMS)
    return [chosen] if chosen in RowState.values else []


def _after(request: HttpRequest) -> int:
    """The number of the row before the page."""
    return parse_number(request.GET.get("after", ""), most=2**31 - 1) or 0
