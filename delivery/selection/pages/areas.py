"""The routes in view of the map, as JSON for its script."""

import math

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.pages.guards import signed_in, signed_in_user
from delivery.concurrency_limits import SELECTIONS
from delivery.selection.representations import drawn_routes
from delivery.selection.selectors.candidates import routes_in_view
from fulfillment.core.api.responses import json_bytes
from fulfillment.core.errors import DomainError, Invalid


@require_safe
@signed_in
def list_routes_in_view(request: HttpRequest) -> HttpResponse:
    try:
        with SELECTIONS.limited(f"user:{signed_in_user(request).pk}"):
            found, shapes = routes_in_view(_box(request.GET.get("box", "")))
            return json_bytes(request, drawn_routes(found, shapes))
    except DomainError as error:
        return HttpResponse(error.message, status=error.status, content_type="text/plain")


def _box(text: str) -> tuple[float, float, float, float]:
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        west = math.nan
    if not (-180 <= west <= east <= 180 and -90 <= south <= north <= 90):
        raise Invalid("box must be west,south,east,north in degrees.")
    return west, south, east, north
