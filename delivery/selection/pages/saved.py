"""The page to choose the routes of a mailing, the page of a saved selection, and its CSV for a mail house.

One form with two buttons, so that all of it works by keyboard and without script; the script sends the same form and
takes the parts it needs out of the answer.
"""

from decimal import Decimal
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from accounts.callers import Caller
from accounts.models import User
from accounts.pages.guards import signed_in_form, signed_in_page, signed_in_user
from applications.registration.selectors.applications import MYSELF, Requester, actors_of, chosen_actor
from delivery.concurrency_limits import SELECTIONS
from delivery.selection.models import EddmSelection
from delivery.selection.pages.chooser import choose_and_save, mailing_context, open_mailing, read_values
from delivery.selection.representations import allow_tiles, geojson_body, selection_csv, tiles_context
from delivery.selection.selectors.selections import (
    differences_to_active,
    own_selections,
    routes_of_selection,
    selection_of_callers,
    shapes_of_routes,
)
from fulfillment.core import plugins
from fulfillment.core.api.parsing import takes_large_forms
from fulfillment.core.api.responses import json_bytes
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import streamed_file
from fulfillment.core.http.content_policies import PAGE_POLICY
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.recorded_texts import translated

MAX_LISTED = 500
SAVED_SHOWN = 10


@signed_in_page
def show_selection(request: HttpRequest, selection_id: str) -> HttpResponse:
    actor, selection = _find_selection(request, selection_id)
    # Both sets of counts are read for up to 5,000 routes.
    with SELECTIONS.slot(f"user:{signed_in_user(request).pk}"):
        differences = differences_to_active(selection)
    context = {
        "is_expired": selection.expires <= timezone.now(),
        "products": _list_offers(signed_in_user(request), actor, selection),
        "selection": selection,
        "routes": routes_of_selection(selection)[:MAX_LISTED],
        "differences": differences,
        "map_routes": reverse("portal:mailing-shapes", args=[selection.pk]),
        **tiles_context(),
        "part": "mailings",
    }
    return allow_tiles(render(request, "delivery/selection.html", context), PAGE_POLICY)


@signed_in_page
def list_shapes(request: HttpRequest, selection_id: str) -> HttpResponse:
    """The routes as GeoJSON, for the map."""
    _, selection = _find_selection(request, selection_id)
    routes = list(routes_of_selection(selection))
    try:
        with SELECTIONS.slot(f"user:{signed_in_user(request).pk}"):
            return json_bytes(request, geojson_body(selection, routes, shapes_of_routes(selection, routes)))
    except DomainError as error:
        return HttpResponse(translated(error.message), status=error.status, content_type="text/plain")


@signed_in_page
def download_selection(request: HttpRequest, selection_id: str) -> StreamingHttpResponse:
    _, selection = _find_selection(request, selection_id)
    caller = Caller.on_pages(signed_in_user(request))
    routes = routes_of_selection(selection).iterator(chunk_size=1000)
    return streamed_file(selection_csv(selection, routes), f"selection-{selection.pk}.csv", caller.key)


def _list_offers(user: User, actor: Requester, selection: EddmSelection) -> list[tuple[Any, Decimal, bool]]:
    """Products that can be ordered for it: the price of all pieces, and whether the product allows the quantity."""
    if selection.expires <= timezone.now():
        return []
    return [
        (product, product.price * selection.pieces, product.least <= selection.pieces <= product.most)
        for list_products in plugins.offered_values("mailing_prices", "mailing_products")
        for product in list_products(actor.caller, user)
    ]


def _find_selection(request: HttpRequest, selection_id: str) -> tuple[Requester, EddmSelection]:
    """The person's own, or of an application of theirs: one query for any number of applications."""
    actors = actors_of(signed_in_user(request))
    selection = selection_of_callers([actor.caller for actor in actors], selection_id)
    myself = actors[0].caller
    is_mine = myself.is_operator or selection.user_id == myself.user_id
    return chosen_actor(actors, MYSELF if is_mine else str(selection.application_id)), selection


@signed_in_form(harmless)
@takes_large_forms
def show_mailing(request: HttpRequest) -> HttpResponse:
    user = signed_in_user(request)
    actors = actors_of(user)
    actor = chosen_actor(actors, read_values(request).get("as", ""))
    products = [
        product
        for list_products in plugins.offered_values("mailing_prices", "mailing_products")
        for product in list_products(actor.caller, user)
    ]
    page = open_mailing(request, actor=actor, owner=actors[0], products=products)
    selection = choose_and_save(request, page)
    if selection is not None:
        return redirect("portal:mailing-selection", selection.pk)
    selections = EddmSelection.objects.filter(own_selections(actors[0].caller)).order_by("-created")
    context = {
        **mailing_context(page),
        "actors": actors,
        "saved": selections[:SAVED_SHOWN],
        "part": "mailings",
    }
    return allow_tiles(render(request, "delivery/mailing.html", context), PAGE_POLICY)
