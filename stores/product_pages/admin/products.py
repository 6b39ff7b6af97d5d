"""The admin of products, with the pages that other features add to a product."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.admin.staff import staff_on
from accounts.permissions import Permission
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.admin.history import FieldChange
from stores.catalog.admin.products import ProductAdmin
from stores.catalog.models import Product
from stores.editor.admin.editor import TemplateEditor
from stores.editor.admin.history import template_changes
from stores.editor.admin.versions import TemplateVersions
from stores.product_pages.admin.artwork import ProductArtwork
from stores.product_pages.admin.mailings import ProductMailings


@admin.register(Product)
class ProductWithPagesAdmin(ProductAdmin):
    def extra_changes(self, record: Product, events: Sequence[Any]) -> Mapping[int, list[FieldChange]]:
        return template_changes(record, events)

    def extra_pages(self) -> list[ExtraPage]:
        editor = TemplateEditor(self)
        beside = (editor, TemplateVersions(editor), ProductMailings(self), ProductArtwork(self))
        return [*super().extra_pages(), *(page for part in beside for page in part.pages())]

    def more_pages(self, request: HttpRequest, product: Product) -> list[tuple[str, str]]:
        may_order = product.is_active and staff_on(request).holds(
            [Permission.ORDER_ALL_WRITE], product.store_id
        )
        of_rows = reverse("admin:stores_batch_make", args=[product.pk])
        pages = (
            (may_order and product.is_eddm, _("Choose routes on the map"), _address("mailing", product)),
            (may_order and not product.is_eddm, _("Order from a file"), of_rows),
            (product.takes_artwork, _("Check a PDF"), _address("artwork", product)),
        )
        return [(label, address) for is_offered, label, address in pages if is_offered]


def _address(page: str, product: Product) -> str:
    return reverse(f"admin:stores_product_{page}", args=[product.pk])
