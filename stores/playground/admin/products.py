"""Products, with the pages for mailings beside their template."""

from django.contrib import admin
from django.http import HttpRequest
from django.urls import URLPattern

from accounts.admin.staff import staff_on
from accounts.permissions import Grant
from stores.catalog.models import Product
from stores.editor.admin.products import ProductWithTemplateAdmin
from stores.playground.admin.mailings import ProductMailings


@admin.register(Product)
class ProductWithMailingsAdmin(ProductWithTemplateAdmin):
    def get_urls(self) -> list[URLPattern]:
        return [*ProductMailings(self).urls(), *super().get_urls()]

    def can_be_mailed(self, request: HttpRequest, product: Product | None) -> bool:
        """Whether it may be ordered for routes here, by this person."""
        if product is None or not product.is_eddm or not product.is_active:
            return False
        return staff_on(request).holds([Grant.ORDER_ALL_WRITE], product.store_id)
