"""Pages of batches in the portal and the console: rows with proofs, corrections of rows, and downloads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.callers import Caller
from accounts.models import User
from accounts.pages.guards import signed_in_form, signed_in_page, signed_in_user
from accounts.throttles import enforce_page_limit
from applications.registration.selectors.applications import own_applications
from fulfillment.core.api.parsing import takes_large_forms
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.errors import DomainError, Forbidden, NotFound
from fulfillment.core.files.downloads import pdf_response
from fulfillment.core.http.dangerous import harmless
from stores.batches.files.writing import Format
from stores.batches.models import Batch, BatchRow, BatchStatus, RowState
from stores.batches.overview import BatchPage
from stores.batches.row_files import rows_file, template_file
from stores.batches.row_listing import after_in, listed_rows, row_views, states_in
from stores.batches.selectors.batches import batch_for, counts_of, shown_batches
from stores.batches.selectors.rows import row_of, rows_of
from stores.batches.services.checking import correct_row
from stores.batches.services.contact_sheets import extreme_rows, render_contact_sheet
from stores.orders.selectors.access import WRITE, StoreAccess

PAGES = ("rows", "mapping", "check", "order", "cancel", "row", "sheet", "template", "file")
SHEET_ROWS = 500


class Opened(NamedTuple):
    access: StoreAccess
    batch: Batch


@dataclass(frozen=True)
class BatchSite:
    """The portal or the console: both have the same pages of batches, each with its own addresses and frame.

    `urls` has the names of addresses by page. `open` raises Http404 for batches that the person may not change.

    `heading` is the element of a page's title: the console's frame has an `h1` of its own.
    """

    frame: str
    prefix: str
    show: str
    listed: str
    open: Callable[[HttpRequest, UUID], Opened]
    context: Callable[[HttpRequest], dict[str, Any]] = field(default=lambda request: {"part": "catalog"})
    heading: str = "h1"

    @property
    def urls(self) -> dict[str, str]:
        own = {page: f"{self.prefix}{page}" for page in PAGES}
        return {**own, "show": self.show, "list": self.listed}

    def render(self, request: HttpRequest, name: str, /, **context: Any) -> HttpResponse:
        own = {**self.context(request), "frame": self.frame, "heading": self.heading, "urls": self.urls}
        if batch := context.get("batch"):
            own |= {"back_to": reverse(self.show, args=[batch.pk]), "object": batch}
        return render(request, f"stores/batches/{name}.html", {**own, **context})

    def lead_to(self, page: str, batch_id: UUID) -> HttpResponse:
        return redirect(self.urls[page], batch_id)


def batches_of_person(user: User) -> QuerySet[Batch]:
    """Newest first."""
    own = Q(user=user, application=None) | Q(user=None, application__in=own_applications(user).values("pk"))
    return shown_batches().filter(own).order_by("-created", "-id")


def open_batch(request: HttpRequest, batch_id: UUID) -> Opened:
    """The batch and the caller who made it; Http404 for one of others, or of a store that is no longer theirs."""
    user = signed_in_user(request)
    batch = batches_of_person(user).filter(pk=batch_id).select_related("application").first()
    if batch is None:
        raise Http404(_("There is no such batch of yours."))
    application = batch.application
    caller = Caller.on_pages(user) if application is None else Caller.of_application(application)
    try:
        return Opened(*batch_for(caller, batch.store.external_id, str(batch_id), WRITE))
    except (Forbidden, NotFound) as error:
        raise Http404(error.message) from error


PORTAL = BatchSite("base.html", "portal:batch-", "portal:batch", "portal:batches", open_batch)


@signed_in_page
def show_batch(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    batch = PORTAL.open(request, batch_id).batch
    page = BatchPage(batch, counts_of(batch))
    if not page.counts.rows:
        return PORTAL.render(request, "upload", page=page, batch=batch)
    if batch.status == BatchStatus.EMPTY:
        return PORTAL.lead_to("mapping", batch_id)
    return PORTAL.render(request, "batch", page=page, batch=batch, **listed_rows(page, request.GET))


@signed_in_page
def download_template(
    request: HttpRequest, batch_id: UUID, form: str, site: BatchSite = PORTAL
) -> HttpResponse:
    batch = site.open(request, batch_id).batch
    return template_file(batch, _known_form(form))


@signed_in_page
def download_rows(
    request: HttpRequest, batch_id: UUID, form: str, site: BatchSite = PORTAL
) -> HttpResponseBase:
    """All rows with what is wrong, or with orders and tracking."""
    access, batch = site.open(request, batch_id)
    states = states_in(request.GET.get("state", "all"))
    return rows_file(batch, states, _known_form(form), access.caller)


@signed_in_page
def download_contact_sheet(request: HttpRequest, batch_id: UUID, site: BatchSite = PORTAL) -> HttpResponse:
    access, batch = site.open(request, batch_id)
    # The extremes are looked for in all rows, which take memory.
    with FILES.slot(access.caller.key):
        if request.GET.get("rows") == "extremes":
            rows: Sequence[BatchRow] = extreme_rows(batch)[:SHEET_ROWS]
        else:
            rows = list(rows_of(batch, after=after_in(request.GET))[:SHEET_ROWS])
        content = render_contact_sheet(batch=batch, rows=rows, caller=access.caller)
    return pdf_response(content, f"batch-{batch.pk}.pdf")


def _known_form(form: str) -> Format:
    if form == "csv":
        return "csv"
    if form == "xlsx":
        return "xlsx"
    raise Http404(_("Rows are downloaded as csv or xlsx."))


@signed_in_form(harmless)
@takes_large_forms
def edit_row(request: HttpRequest, batch_id: UUID, row_key: str, site: BatchSite = PORTAL) -> HttpResponse:
    """A form of all cells; only this row is checked again.

    The grid sends single cells, or asks whether the row is checked by now, and shows the row of the response.
    """
    batch = site.open(request, batch_id).batch
    try:
        row = row_of(batch, row_key)
    except DomainError as error:
        raise Http404(error.message) from error
    if request.method != "POST" and _is_from_grid(request):
        return site.render(request, "saved_row", **_row_context(row))
    problems: list[str] = []
    typed = _read_cells(request, batch)
    if request.method == "POST":
        try:
            enforce_page_limit("product-page", signed_in_user(request).pk)
            row = correct_row(batch=batch, row_key=row_key, cells=typed)
        except DomainError as error:
            problems = error.messages
            if _is_from_grid(request):
                return HttpResponse(" ".join(problems), status=400, content_type="text/plain; charset=utf-8")
        else:
            return _after_saving(request, site, batch_id, row)
    return site.render(
        request,
        "row_form",
        batch=batch,
        row=row_views(batch, [row])[0],
        cells=_cell_views(batch, row, typed),
        elsewhere=[problem for problem in row.problems if problem["Column"] not in batch.columns],
        problems=problems,
    )


def _after_saving(request: HttpRequest, site: BatchSite, batch_id: UUID, row: BatchRow) -> HttpResponse:
    if _is_from_grid(request):
        return site.render(request, "saved_row", **_row_context(row))
    message = _("Row %(number)s is saved: %(label)s.")
    messages.success(request, message % {"number": row.number, "label": RowState(row.state).label})
    return site.lead_to("show", batch_id)


def _cell_views(batch: Batch, row: BatchRow, typed: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "place": number,
            "column": column,
            "value": typed.get(column, row.values.get(column, "")),
            "problems": [problem for problem in row.problems if problem["Column"] == column],
        }
        for number, column in enumerate(batch.columns)
    ]


def _read_cells(request: HttpRequest, batch: Batch) -> dict[str, str]:
    cells = {}
    for index, column in enumerate(batch.columns):
        if f"cell-{index}" in request.POST:
            cells[column] = request.POST[f"cell-{index}"]
    return cells


def _is_from_grid(request: HttpRequest) -> bool:
    return request.headers.get("X-Grid") == "1"


def _row_context(row: BatchRow) -> dict[str, Any]:
    """The row, and what its change makes of the whole batch."""
    batch = row.batch
    page = BatchPage(batch, counts_of(batch))
    return {"page": page, "batch": batch, "one": row_views(batch, [row], page.unmapped)[0], "chosen": ""}
