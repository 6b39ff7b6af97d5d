"""The rows of a batch on pages, and the correction of one: in its own form, or cell by cell in the grid."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.pages.guards import signed_in, signed_in_user
from accounts.throttles import enforce_page_limit
from fulfillment.core.api.parsing import takes_large_forms
from fulfillment.core.errors import DomainError
from fulfillment.core.http.dangerous import harmless
from stores.batches.models import Batch, BatchRow, RowState
from stores.batches.pages.opening import open_batch
from stores.batches.pages.overview import BatchPage
from stores.batches.selectors import counts_of, proofs_of, row_of
from stores.batches.services.checking import check_row
from stores.batches.services.rows import change_row
from stores.orders.models import OrderStatus
from stores.proofs.links import proof_urls

ROW_BADGES = {
    RowState.READY: "badge-good",
    RowState.WARNING: "badge-warning",
    RowState.ERROR: "badge-bad",
    RowState.ORDERED: "badge-good",
    RowState.FAILED: "badge-bad",
}


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
@takes_large_forms
def edit_row(request: HttpRequest, batch_id: UUID, row_key: str) -> HttpResponse:
    """A form of all cells; only this row is checked again. The grid sends single cells and takes the row out of the
    answer."""
    batch = open_batch(request, batch_id).batch
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
            if _is_from_grid(request):
                return HttpResponse(" ".join(problems), status=400, content_type="text/plain; charset=utf-8")
        else:
            if _is_from_grid(request):
                return render(request, "stores/batches/saved_row.html", _saved(batch, row))
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


def _cells(request: HttpRequest, batch: Batch) -> dict[str, str]:
    found = {}
    for place, column in enumerate(batch.columns):
        if f"cell-{place}" in request.POST:
            found[column] = request.POST[f"cell-{place}"]
    return found


def _is_from_grid(request: HttpRequest) -> bool:
    return request.headers.get("X-Grid") == "1"


def _saved(batch: Batch, row: BatchRow) -> dict[str, Any]:
    """The row, and what its change makes of the whole batch."""
    page = BatchPage(batch, counts_of(batch))
    return {"page": page, "batch": batch, "one": row_views(batch, [row])[0], "chosen": ""}
