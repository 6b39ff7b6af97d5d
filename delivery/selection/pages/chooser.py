"""Choosing routes by a form, for the pages of portal and console: what they show, the map, and saving."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.pages.guards import signed_in_page, signed_in_user
from accounts.throttles import enforce_page_limit
from applications.registration.selectors.applications import Requester
from delivery.concurrency_limits import SELECTIONS
from delivery.datasets.arrays import np, shapely
from delivery.datasets.models import Dataset
from delivery.datasets.selectors import live_dataset
from delivery.datasets.services.demo import DEMO_VIEW
from delivery.selection.models import ChosenRoute, EddmSelection
from delivery.selection.pages.form import MailingForm, form_of, read_form
from delivery.selection.representations import tiles_context
from delivery.selection.selectors.candidates import Candidates, routes_in_view
from delivery.selection.selectors.selections import selection_of_caller
from delivery.selection.services.choosing import choose_routes
from delivery.selection.services.selections import create_selection
from fulfillment.core.api.responses import json_bytes
from fulfillment.core.code_examples import Example, post_examples
from fulfillment.core.errors import DomainError, Invalid
from fulfillment.core.recorded_texts import translated

MAX_LISTED = 500
TYPE_NAMES = (
    ("C", gettext_lazy("City")),
    ("R", gettext_lazy("Rural")),
    ("H", gettext_lazy("Highway contract")),
    ("B", gettext_lazy("PO Boxes")),
)


@signed_in_page
def list_routes_in_view(request: HttpRequest) -> HttpResponse:
    try:
        with SELECTIONS.slot(f"user:{signed_in_user(request).pk}"):
            candidates, shapes = routes_in_view(_read_box(request.GET.get("box", "")))
            return json_bytes(request, _render_routes(candidates, shapes))
    except DomainError as error:
        return HttpResponse(translated(error.message), status=error.status, content_type="text/plain")


def _read_box(text: str) -> tuple[float, float, float, float]:
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        west = math.nan
    if not (-180 <= west <= east <= 180 and -90 <= south <= north <= 90):
        raise Invalid(_("box must be west,south,east,north in degrees."))
    return west, south, east, north


@dataclass
class MailingPage:
    """Everything the page shows. `products` have a key, a name, a price and a currency."""

    dataset: Dataset | None
    actor: Requester
    form: MailingForm
    products: Sequence[Any]
    routes: list[ChosenRoute] = field(default_factory=list)
    left_out: frozenset[str] = frozenset()
    bounds: list[tuple[float, float, float, float]] = field(default_factory=list)

    @property
    def box(self) -> str:
        """West, south, east and north of all routes, for the map."""
        if not self.bounds:
            return ""
        sides = tuple(zip(*self.bounds, strict=True))
        return ",".join(
            f"{side:.5f}" for side in (min(sides[0]), min(sides[1]), max(sides[2]), max(sides[3]))
        )

    @property
    def start(self) -> str:
        """The place where the map begins; without it the whole country."""
        return DEMO_VIEW if self.dataset and self.dataset.is_synthetic else ""

    @property
    def selected_routes(self) -> list[ChosenRoute]:
        return [route for route in self.routes if route.code not in self.left_out]

    @property
    def homes(self) -> int:
        return sum(route.residential for route in self.selected_routes)

    @property
    def firms(self) -> int:
        return sum(route.business for route in self.selected_routes)

    @property
    def pieces(self) -> int:
        return sum(route.pieces for route in self.selected_routes)

    @property
    def listed_routes(self) -> list[tuple[ChosenRoute, bool]]:
        return [(route, route.code not in self.left_out) for route in self.routes[:MAX_LISTED]]

    @property
    def product(self) -> Any:
        return next(
            (candidate for candidate in self.products if candidate.key == self.form.values["product"]), None
        )

    @property
    def cost(self) -> Decimal | None:
        return self.product.price * self.pieces if self.product else None

    @property
    def types(self) -> list[tuple[str, str, bool]]:
        counted = self.dataset.route_types if self.dataset else ""
        selected = self.form.types or list(counted)
        return [(letter, str(name), letter in selected) for letter, name in TYPE_NAMES if letter in counted]

    @property
    def is_by_hand(self) -> bool:
        return bool(self.form.added or self.left_out)

    def body(self) -> dict[str, Any]:
        """The request of the API that makes this selection."""
        if not self.is_by_hand:
            return self.form.body
        shared = self.form.shared
        shared.pop("RouteTypes", None)
        return {"Routes": [route.code for route in self.selected_routes], **shared}

    def examples(self) -> list[Example]:
        address = f"{settings.PUBLIC_URL}{settings.API_ROOT}/delivery/eddm/selection"
        return post_examples(address, self.body(), result="selection", shown="SelectionID")


def read_values(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def open_mailing(
    request: HttpRequest, *, actor: Requester, owner: Requester, products: Sequence[Any]
) -> MailingPage:
    """The page with the values that were sent, or those of an earlier selection of `owner`."""
    values, dataset = read_values(request), live_dataset()
    form = read_form(values, dataset.route_types if dataset else "")
    if earlier_id := request.GET.get("from", ""):
        form = form_of(selection_of_caller(owner.caller, earlier_id).criteria)
    shown_codes = frozenset(values.get("shown", "").split(","))
    return MailingPage(dataset, actor, form, products, left_out=shown_codes - {*values.getlist("route"), ""})


def choose_and_save(request: HttpRequest, page: MailingPage) -> EddmSelection | None:
    """Chooses the routes of the form, and stores them if that is requested; faults go to the form."""
    try:
        if page.form.has_area or page.form.added:
            enforce_page_limit("mailings", signed_in_user(request).pk)
            _choose_routes(page)
        if request.method == "POST" and request.POST.get("do") == "save" and page.selected_routes:
            return _save_selection(page)
    except DomainError as error:
        page.form.fail(error)
    return None


def mailing_context(page: MailingPage) -> dict[str, Any]:
    return {
        "page": page,
        "form": page.form,
        "code": page.examples() if page.selected_routes else [],
        "shown": ",".join(route.code for route in page.routes[:MAX_LISTED]),
        **tiles_context(),
        "most_listed": MAX_LISTED,
    }


def _choose_routes(page: MailingPage) -> None:
    """Chooses the routes of the area and the named routes."""
    form, caller = page.form, page.actor.caller
    bodies = [form.body] if form.has_area else []
    if form.added:
        bodies.append({"Routes": form.added, **form.shared})
    route_by_code: dict[str, ChosenRoute] = {}
    for body in bodies:
        criteria = form.criteria(body)
        if criteria is not None:
            choice = choose_routes(caller=caller, criteria=criteria)
            route_by_code |= {route.code: route for route in choice.routes}
            page.bounds += [choice.bounds] if choice.bounds else []
    page.routes = list(route_by_code.values())
    page.left_out &= route_by_code.keys()


def _save_selection(page: MailingPage) -> EddmSelection | None:
    criteria = page.form.criteria(page.body())
    if criteria is None or page.form.errors:
        return None
    choice = choose_routes(caller=page.actor.caller, criteria=criteria)
    with transaction.atomic():
        return create_selection(caller=page.actor.caller, choice=choice)


def _render_routes(candidates: Candidates, shapes: np.ndarray) -> bytes:
    """GeoJSON for the map's script: name, counts and demographics of each route with a shape."""
    where = [index for index, shape in enumerate(shapes) if shape is not None]
    texts = shapely.to_geojson(shapes[where]) if where else []
    routes = [
        {
            "code": candidates.postal_codes[index] + candidates.routes[index],
            "homes": int(candidates.residential[index]),
            "firms": int(candidates.business[index]),
            "income": facts.income,
            "age": facts.age,
            "household": facts.household,
            "shape": orjson.Fragment(text),
        }
        for index, facts, text in zip(where, candidates.facts(where), texts, strict=True)
    ]
    return orjson.dumps({"routes": routes})
