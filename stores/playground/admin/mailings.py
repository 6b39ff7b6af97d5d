"""The pages of a product for mailings: choose routes on the map, then order the saved selection."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from accounts.callers import Caller
from applications.registration.selectors.actors import MYSELF, Actor
from delivery.concurrency_limits import SELECTIONS
from delivery.selection.models import EddmSelection, EddmSelectionRoute
from delivery.selection.pages.chooser import choose_and_save, mailing_context, open_mailing
from delivery.selection.representations import tiles_context, with_tiles
from delivery.selection.selectors.selections import (
    Differences,
    differences_to_active,
    own_selections,
    routes_of_selection,
)
from fulfillment.core.errors import DomainError, NotFound
from fulfillment.core.http.refusal_page import ADMIN_POLICY
from stores.catalog.models import Product
from stores.orders.selectors.selections import MailingProduct, mailing_product
from stores.playground.admin.mailing_orders import MailingOrder, answer_button, open_order

SAVED_SHOWN = 5
MAX_LISTED = 500


class ProductMailings:
    """Adds pages to the product admin; for those who may change the orders of the store."""

    def __init__(self, product_admin: Any) -> None:
        self.product_admin = product_admin

    def urls(self) -> list[URLPattern]:
        wrap = self.product_admin.admin_site.admin_view
        return [
            path("<int:product_id>/mailing/", wrap(self.choose), name="stores_product_mailing"),
            path(
                "<int:product_id>/mailing/<uuid:selection_id>/",
                wrap(self.order),
                name="stores_product_mailing_order",
            ),
        ]

    def choose(self, request: HttpRequest, product_id: int) -> HttpResponse:
        product = self._product(request, product_id)
        actor = Actor(MYSELF, "Myself", Caller.on_pages(request.user))
        priced, problem = _priced(actor.caller, product)
        try:
            page = open_mailing(request, actor=actor, owner=actor, products=[priced] if priced else [])
        except NotFound as error:
            raise Http404(error.message) from error
        page.form.values["product"] = priced.key if priced else ""
        saved = choose_and_save(request, page)
        if saved is not None:
            return redirect("admin:stores_product_mailing_order", product.pk, saved.pk)
        own = EddmSelection.objects.filter(own_selections(actor.caller), expires__gt=timezone.now())
        context = {
            **mailing_context(page),
            "own_product": priced,
            "form_address": reverse("admin:stores_product_mailing", args=[product.pk]),
            "problem": problem,
            "saved": own.order_by("-created")[:SAVED_SHOWN],
        }
        return self._answer(request, product, "mailing", f"Routes for {product.name}", context)

    def order(self, request: HttpRequest, product_id: int, selection_id: UUID) -> HttpResponse:
        product = self._product(request, product_id)
        caller = Caller.on_pages(request.user)
        # As in the API, operators order only their own selections.
        selection = get_object_or_404(EddmSelection.objects.filter(own_selections(caller)), pk=selection_id)
        try:
            page = open_order(request, caller=caller, product=product, selection=selection)
        except DomainError as error:
            raise Http404(error.message) from error
        if request.method == "POST" and (placed := answer_button(request, page)) is not None:
            return redirect("admin:stores_order_change", placed.pk)
        return self._answer(
            request, product, "mailing_order", f"Mailing of {product.name}", self._shown(page, product)
        )

    def _shown(self, page: MailingOrder, product: Product) -> dict[str, Any]:
        selection = page.selection
        priced, problem = _priced(page.caller, product)
        routes = list(routes_of_selection(selection)[:MAX_LISTED])
        return {
            **tiles_context(),
            "page": page,
            "selection": selection,
            "is_expired": selection.expires <= timezone.now(),
            "priced": priced,
            "problem": problem,
            "cost": priced.price * selection.pieces if priced else Decimal(0),
            "routes": routes,
            "differences": _differences(page, routes),
            "map_routes": reverse("portal:mailing-shapes", args=[selection.pk]),
        }

    def _answer(
        self, request: HttpRequest, product: Product, name: str, title: str, context: dict[str, Any]
    ) -> HttpResponse:
        whole = {
            **self.product_admin.page_context(request, title),
            "product": product,
            **context,
        }
        response = TemplateResponse(request, f"admin/stores/{name}.html", whole)
        with_tiles(response, ADMIN_POLICY)
        return response

    def _product(self, request: HttpRequest, product_id: int) -> Product:
        """404 for products that are not for EDDM; 403 for those who may not order."""
        found = get_object_or_404(self.product_admin.get_queryset(request), pk=product_id)
        if not found.is_eddm or not found.is_active:
            raise Http404("This product cannot be ordered for routes.")
        if not self.product_admin.can_be_mailed(request, found):
            raise PermissionDenied
        product: Product = found
        return product


def _differences(page: MailingOrder, routes: list[EddmSelectionRoute]) -> Differences | None:
    """Counts of up to 5,000 routes are read, so it has a slot as choosing them has."""
    try:
        with SELECTIONS.limited(page.caller.key):
            return differences_to_active(page.selection, routes)
    except DomainError as error:
        page.problems.append(error.message)
        return None


def _priced(caller: Caller, product: Product) -> tuple[MailingProduct | None, str]:
    try:
        return mailing_product(caller, store=product.store, product=product), ""
    except DomainError as error:
        return None, error.message
