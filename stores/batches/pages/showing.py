"""A batch: its file, its rows with their proofs, the correction of a row, and what can be downloaded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.callers import Caller
from accounts.pages.guards import signed_in, signed_in_user
from accounts.throttles import enforce_page_limit
from fulfillment.core.api.parsing import takes_large_forms
from fulfillment.core.errors import DomainError
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.text import parse_number
from stores.batches.files.writing import Format
from stores.batches.models import SETTLED, Batch, BatchMode, BatchRow, BatchStatus, RowState
from stores.batches.pages.making import badge_of
from stores.batches.pages.opening import open_batch
from stores.batches.row_files import XLSX, rows_file
from stores.batches.selectors import (
    Counts,
    budget_decision,
    counts_of,
    order_count,
    proofs_of,
    row_of,
    rows_of,
    seconds_left,
)
from stores.batches.services.checking import check_row
from stores.batches.services.rows import change_row
from stores.batches.services.sheets import extreme_rows, render_contact_sheet, row_template
from stores.orders.api.files import pdf_response
from stores.orders.approvals.notices import reason_in_words
from stores.orders.models import ApprovalState, OrderStatus
from stores.proofs.links import proof_urls

ROWS_A_PAGE = 50
SHEET_ROWS = 500
PROBLEMS = "problems"
WITH_PROBLEMS = (RowState.ERROR, RowState.FAILED, RowState.WARNING)
ROW_BADGES = {
    RowState.READY: "badge-good",
    RowState.WARNING: "badge-warning",
    RowState.ERROR: "badge-bad",
    RowState.ORDERED: "badge-good",
    RowState.FAILED: "badge-bad",
}
EDITABLE = (BatchStatus.EMPTY, BatchStatus.CHECKING, BatchStatus.CHECKED)


@dataclass(slots=True)
class BatchPage:
    """What the page says of the whole batch."""

    batch: Batch
    counts: Counts

    @property
    def status(self) -> BatchStatus:
        return BatchStatus(self.batch.status)

    @property
    def badge(self) -> str:
        return badge_of(self.batch)

    @property
    def is_editable(self) -> bool:
        return self.status in EDITABLE

    @property
    def is_moving(self) -> bool:
        """Whether a worker changes its rows, so that the page looks again."""
        return self.status == BatchStatus.CHECKING or (
            self.status == BatchStatus.ORDERING and not self.waits_for_approval
        )

    @property
    def approval(self) -> Any:
        return getattr(self.batch, "approval", None)

    @property
    def waits_for_approval(self) -> bool:
        return self.approval is not None and self.approval.state == ApprovalState.PENDING

    @property
    def reasons(self) -> list[str]:
        return [reason_in_words(one) for one in self.approval.reasons] if self.approval else []

    @property
    def done(self) -> int:
        if self.status == BatchStatus.ORDERING:
            return self.counts.rows - self.counts.orderable
        return self.counts.checked

    @property
    def seconds_left(self) -> int | None:
        return seconds_left(self.batch, self.counts)

    @property
    def orders(self) -> int:
        return order_count(self.batch, self.counts.orderable)

    @property
    def decision(self) -> str:
        return budget_decision(self.batch, self.counts).value

    @property
    def can_order(self) -> bool:
        return self.status == BatchStatus.CHECKED and self.counts.orderable > 0 and not self.counts.pending

    @property
    def can_cancel(self) -> bool:
        return self.status not in SETTLED

    @property
    def is_for_recipients(self) -> bool:
        return self.batch.mode == BatchMode.RECIPIENTS

    @property
    def with_problems(self) -> int:
        return sum(self.counts.by_state.get(state, 0) for state in WITH_PROBLEMS)

    def filters(self) -> list[tuple[str, str, int]]:
        """The states that rows are in, each with how many; those with problems first."""
        found = [(state.value, state.label, self.counts.by_state.get(state, 0)) for state in RowState]
        shown = [one for one in found if one[2]]
        problems = [(PROBLEMS, "With problems", self.with_problems)] if self.with_problems else []
        return [*problems, ("all", "All rows", self.counts.rows), *shown]


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
    chosen = request.GET.get("state") or (PROBLEMS if page.with_problems else "all")
    states = _states(chosen)
    after = _after(request)
    rows = list(rows_of(batch, states=states, after=after).select_related("order")[: ROWS_A_PAGE + 1])
    context |= {
        "chosen": chosen,
        "rows": row_views(batch, rows[:ROWS_A_PAGE]),
        "after": after,
        "next_after": rows[ROWS_A_PAGE - 1].number if len(rows) > ROWS_A_PAGE else None,
    }
    return render(request, "stores/batches/batch.html", context)


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
@takes_large_forms
def edit_row(request: HttpRequest, batch_id: UUID, row_key: str) -> HttpResponse:
    """A form of all cells; only this row is checked again."""
    opened = open_batch(request, batch_id)
    batch = opened.batch
    try:
        row = row_of(batch, row_key)
    except DomainError as error:
        raise Http404(error.message) from error
    problems: list[str] = []
    typed = _cells(request, batch)
    if request.method == "POST":
        try:
            enforce_page_limit("playground", signed_in_user(request).pk)
            row = check_row(row=change_row(batch=batch, row_key=row_key, cells=typed))
        except DomainError as error:
            problems = [fault.message for fault in error.faults] or [error.message]
        else:
            messages.success(request, f"Row {row.number} is saved: {RowState(row.state).label}.")
            return redirect("portal:batch", batch_id)
    context = {
        "batch": batch,
        "row": row_views(batch, [row])[0],
        "cells": [
            {
                "place": place,
                "column": one,
                "value": typed.get(one, row.values.get(one, "")),
                "problems": [problem for problem in row.problems if problem["Column"] == one],
            }
            for place, one in enumerate(batch.columns)
        ],
        "elsewhere": [problem for problem in row.problems if problem["Column"] not in batch.columns],
        "problems": problems,
        "part": "catalog",
    }
    return render(request, "stores/batches/row_form.html", context)


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


def columns_of(batch: Batch) -> list[dict[str, Any]]:
    """The columns that are used, in the order of the file, with the field that each is."""
    targets = {column: target for target, column in batch.mapping.items()}
    return [
        {"place": place, "name": column, "target": targets[column]}
        for place, column in enumerate(batch.columns)
        if column in targets
    ]


def row_views(batch: Batch, rows: Sequence[BatchRow]) -> list[dict[str, Any]]:
    proofs, columns = proofs_of(rows), columns_of(batch)
    found = []
    for row in rows:
        faulty = {one["Column"]: one["Severity"] for one in row.problems}
        stored = proofs.get(row.proof)
        pages = proof_urls(stored, batch.product.external_id).pages if stored else []
        found.append(
            {
                "row": row,
                "state": RowState(row.state).label,
                "badge": ROW_BADGES.get(RowState(row.state), ""),
                "picture": pages[0].removeprefix(settings.PUBLIC_URL) if pages else "",
                "cells": [
                    {**one, "value": row.values.get(one["name"], ""), "fault": faulty.get(one["name"], "")}
                    for one in columns
                ],
                "order_words": OrderStatus(row.order.status).words if row.order else "",
            }
        )
    return found


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


def _cells(request: HttpRequest, batch: Batch) -> dict[str, str]:
    found = {}
    for place, column in enumerate(batch.columns):
        if f"cell-{place}" in request.POST:
            found[column] = request.POST[f"cell-{place}"]
    return found
