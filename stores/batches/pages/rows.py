"""The rows of a batch on pages, and the correction of one: in its own form, or cell by cell in the grid."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.pages.guards import signed_in, signed_in_user
from accounts.throttles import enforce_page_limit
from fulfillment.core.api.parsing import takes_large_forms
from fulfillment.core.errors import DomainError
from fulfillment.core.http.dangerous import harmless
from stores.batches.grid import row_views
from stores.batches.models import Batch, BatchRow, RowState
from stores.batches.overview import BatchPage
from stores.batches.pages.opening import PORTAL
from stores.batches.places import Place
from stores.batches.selectors import counts_of, row_of
from stores.batches.services.checking import correct_row


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
@takes_large_forms
def edit_row(request: HttpRequest, batch_id: UUID, row_key: str, place: Place = PORTAL) -> HttpResponse:
    """A form of all cells; only this row is checked again.

    The grid sends single cells, or asks whether the row is checked by now, and shows the row of the response.
    """
    batch = place.open(request, batch_id).batch
    try:
        row = row_of(batch, row_key)
    except DomainError as error:
        raise Http404(error.message) from error
    if request.method != "POST" and _is_from_grid(request):
        return place.render(request, "saved_row", **_saved(row))
    problems: list[str] = []
    typed = _cells(request, batch)
    if request.method == "POST":
        try:
            enforce_page_limit("playground", signed_in_user(request).pk)
            row = correct_row(batch=batch, row_key=row_key, cells=typed)
        except DomainError as error:
            problems = error.messages
            if _is_from_grid(request):
                return HttpResponse(" ".join(problems), status=400, content_type="text/plain; charset=utf-8")
        else:
            return _after_saving(request, place, batch_id, row)
    return place.render(
        request,
        "row_form",
        batch=batch,
        row=row_views(batch, [row])[0],
        cells=_cell_views(batch, row, typed),
        elsewhere=[problem for problem in row.problems if problem["Column"] not in batch.columns],
        problems=problems,
    )


def _after_saving(request: HttpRequest, place: Place, batch_id: UUID, row: BatchRow) -> HttpResponse:
    if _is_from_grid(request):
        return place.render(request, "saved_row", **_saved(row))
    said = _("Row %(number)s is saved: %(label)s.")
    messages.success(request, said % {"number": row.number, "label": RowState(row.state).label})
    return place.lead_to("show", batch_id)


def _cell_views(batch: Batch, row: BatchRow, typed: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "place": number,
            "column": one,
            "value": typed.get(one, row.values.get(one, "")),
            "problems": [problem for problem in row.problems if problem["Column"] == one],
        }
        for number, one in enumerate(batch.columns)
    ]


def _cells(request: HttpRequest, batch: Batch) -> dict[str, str]:
    found = {}
    for place, column in enumerate(batch.columns):
        if f"cell-{place}" in request.POST:
            found[column] = request.POST[f"cell-{place}"]
    return found


def _is_from_grid(request: HttpRequest) -> bool:
    return request.headers.get("X-Grid") == "1"


def _saved(row: BatchRow) -> dict[str, Any]:
    """The row, and what its change makes of the whole batch."""
    batch = row.batch
    page = BatchPage(batch, counts_of(batch))
    return {"page": page, "batch": batch, "one": row_views(batch, [row], page.unmapped)[0], "chosen": ""}
