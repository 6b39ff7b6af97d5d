"""The page of a product in the console on which staff check a customer's print-ready PDF."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.callers import Caller
from accounts.throttles import enforce_page_limit
from applications.registration.selectors.applications import MYSELF
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.errors import DomainError, Forbidden
from stores.catalog.models import Product
from stores.product_pages.checked_artwork import check_artwork, read_artwork_choice
from stores.product_pages.selectors import product_page
from stores.proofs.services.assets import receive_document


class ProductArtwork:
    """Adds pages to the product admin, for everyone who sees the product there."""

    def __init__(self, product_admin: Any) -> None:
        self.product_admin = product_admin

    def pages(self) -> list[ExtraPage]:
        return [
            ("<int:product_id>/artwork/", require_safe(self.show), "artwork"),
            ("<int:product_id>/artwork/asset", require_POST(self.add), "artwork_asset"),
        ]

    def show(self, request: HttpRequest, product_id: int) -> HttpResponse:
        product = self.product_admin.record_for(request, product_id, "view")
        choice = read_artwork_choice(request.GET)
        checked, problems = None, []
        try:
            if choice is not None:
                enforce_page_limit("product-page", request.user.pk)
                store = product.store.external_id
                caller = Caller.on_pages(request.user)
                checked = check_artwork(
                    caller=caller,
                    product=product_page(caller, store, product.external_id),
                    choice=choice,
                    picture_root=reverse("portal:artwork", args=[store, product.external_id]),
                )
        except Forbidden as error:
            raise PermissionDenied(error.message) from error
        except DomainError as error:
            problems = error.messages
        return self._render(request, product, checked=checked, choice=choice, problems=problems)

    def add(self, request: HttpRequest, product_id: int) -> HttpResponse:
        """Takes the PDF and leads to its check, so that reloading the page sends nothing twice."""
        product = self.product_admin.record_for(request, product_id, "view")
        caller = Caller.on_pages(request.user)
        file = request.FILES.get("file")
        if file is None:
            return self._render(request, product, problems=[_("Choose a PDF first.")])
        try:
            enforce_page_limit("product-page", request.user.pk)
            product_page(caller, product.store.external_id, product.external_id)
            asset = receive_document(caller=caller, store_id=product.store_id, file=file)
        except Forbidden as error:
            raise PermissionDenied(error.message) from error
        except DomainError as error:
            return self._render(request, product, problems=error.messages)
        address = reverse("admin:stores_product_artwork", args=[product.pk])
        return redirect(f"{address}?{urlencode({'asset': str(asset.pk)})}")

    def _render(self, request: HttpRequest, product: Product, **shown: Any) -> HttpResponse:
        context = {
            **self.product_admin.page_context(
                request, _("Check a PDF for %(name)s") % {"name": product.name}, below=product
            ),
            "product": product,
            "picture_query": f"?as={MYSELF}",
            **shown,
        }
        return TemplateResponse(request, "admin/stores/artwork.html", context)
