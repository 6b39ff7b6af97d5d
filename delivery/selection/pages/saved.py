"""The page of a saved selection, and its CSV for a mail house."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.callers import Caller
from accounts.pages.guards import signed_in, signed_in_user
from delivery.selection.csv_lines import selection_lines
from delivery.selection.models import EddmSelection
from delivery.selection.pages.actors import actors_of
from delivery.selection.selectors.differences import differences_to_active
from delivery.selection.selectors.selections import routes_of_selection, selection_of_caller
from fulfillment.core.errors import NotFound
from fulfillment.core.lanes import FILES

MAX_LISTED = 500


@require_safe
@signed_in
def show_selection(request: HttpRequest, selection_id: str) -> HttpResponse:
    selection = _selection(request, selection_id)
    context = {
        "selection": selection,
        "routes": routes_of_selection(selection)[:MAX_LISTED],
        "differences": differences_to_active(selection),
        "part": "catalog",
    }
    return render(request, "delivery/selection.html", context)


@require_safe
@signed_in
def download_selection(request: HttpRequest, selection_id: str) -> StreamingHttpResponse:
    selection = _selection(request, selection_id)
    caller = Caller.on_pages(signed_in_user(request))
    pieces = FILES.stream((line.encode() for line in selection_lines(selection)), caller.key)
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="selection-{selection.pk}.csv"'
    return response


def _selection(request: HttpRequest, selection_id: str) -> EddmSelection:
    """A selection of the user or of one of the user's applications."""
    for actor in actors_of(signed_in_user(request)):
        try:
            return selection_of_caller(actor.caller, selection_id)
        except NotFound:
            continue
    raise NotFound("There is no selection with this ID.", code="selection_not_found")
