"""Files of rows in the console: staff make, correct and order batches of their stores on the pages of the portal."""

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse

from accounts.admin.staff import staff_on
from accounts.callers import Caller
from applications.registration.selectors.applications import MYSELF, Requester
from fulfillment.core.admin.base import ExtraPage
from stores.batches.admin import CHANGE, BatchAdmin
from stores.batches.models import Batch
from stores.batches.pages.ordering import cancel, check_again, map_columns, order, send_rows
from stores.batches.pages.showing import (
    BatchSite,
    Opened,
    download_contact_sheet,
    download_rows,
    download_template,
    edit_row,
)
from stores.batches.selectors.batches import shown_batches
from stores.catalog.models import Product
from stores.orders.selectors.access import WORK, authorize_store
from stores.product_pages.pages.batch import show_form

PAGES = (
    ("rows/", send_rows, "rows"),
    ("columns/", map_columns, "mapping"),
    ("check/", check_again, "check"),
    ("order/", order, "order"),
    ("cancel/", cancel, "cancel"),
    ("row/<str:row_key>/", edit_row, "row"),
    ("contact-sheet.pdf", download_contact_sheet, "sheet"),
    ("template.<str:form>", download_template, "template"),
    ("rows.<str:form>", download_rows, "file"),
)


@admin.register(Batch)
class BatchWithFilesAdmin(BatchAdmin):
    harmless_pages = ("decide", "make")
    list_before_template = "admin/stores/batches_before.html"

    @property
    def site(self) -> BatchSite:
        change, listed = "admin:stores_batch_change", "admin:stores_batch_changelist"
        frame = "admin/stores/batch_frame.html"
        return BatchSite(frame, "admin:stores_batch_", change, listed, open_for_staff, self._context, "h2")

    def extra_pages(self) -> list[ExtraPage]:
        make = ("of/<int:product_id>/", self.make_view, "make")
        return [*super().extra_pages(), make, *(self._portal_page(*page) for page in PAGES)]

    def _portal_page(self, route: str, view: Callable[..., HttpResponseBase], name: str) -> ExtraPage:
        """A page of the portal, with what its decorators say of it."""
        wrapped = update_wrapper(partial(view, site=self.site), view)
        return f"<uuid:batch_id>/{route}", wrapped, name

    def make_view(self, request: HttpRequest, product_id: int) -> HttpResponse:
        active = Product.objects.filter(is_active=True, is_eddm=False).select_related("store")
        product = get_object_or_404(active, pk=product_id)
        if not staff_on(request).holds(CHANGE, product.store_id):
            raise Http404("There is no such product that you may order.")
        myself = Requester(MYSELF, "Myself", Caller.on_pages(request.user))
        back = reverse("admin:stores_product_change", args=[product.pk])
        return show_form(request, product.store, product.external_id, [myself], self.site, back)

    def record_context(self, request: HttpRequest, batch: Batch) -> dict[str, Any]:
        return {**super().record_context(request, batch), "urls": self.site.urls}

    def _context(self, request: HttpRequest) -> dict[str, Any]:
        return {**self.page_context(request, ""), "media": self.media}


def open_for_staff(request: HttpRequest, batch_id: UUID) -> Opened:
    batch = get_object_or_404(shown_batches(), pk=batch_id)
    if not staff_on(request).holds(CHANGE, batch.store_id):
        raise Http404("There is no such batch that you may change.")
    return Opened(authorize_store(Caller.on_pages(request.user), batch.store.external_id, WORK), batch)
