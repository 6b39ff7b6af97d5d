"""The columns of a product in lists and on its read-only page."""

from django.contrib import admin
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from accounts.admin.staff import StaffAdmin
from fulfillment.core.text import method_name
from stores.catalog.models import DeliveredPrice, Product

LOWEST_PRICE = DeliveredPrice.objects.filter(product=OuterRef("pk")).order_by("price").values("price")[:1]


class ProductColumns(StaffAdmin):
    def get_queryset(self, request: HttpRequest) -> QuerySet[Product]:
        products = super().get_queryset(request).select_related("store")
        bodies = ("rendering", "verbose_rendering", "store__rendering", "store__verbose_rendering")
        return products.defer("template", *bodies).annotate(
            is_templated=Q(template__isnull=False), lowest_price=Subquery(LOWEST_PRICE)
        )

    @admin.display(description="product", ordering="name")
    def shown_name(self, product: Product) -> str:
        return render_to_string("admin/stores/product/name.html", {"product": product})

    @admin.display(description="price from", ordering="lowest_price")
    def price_from(self, product: Product) -> str:
        lowest = getattr(product, "lowest_price", None)
        return "" if lowest is None else f"{lowest:,} {product.store.currency}"

    @admin.display(description="template")
    def has_layout(self, product: Product) -> str:
        return _("Yes") if getattr(product, "is_templated", False) else ""

    @admin.display(description=gettext_lazy("delivery method"))
    def usual_method(self, product: Product) -> str:
        return method_name(product.delivery_method)

    @display(description="status", label={"In the catalog": "success", "Not published": "info"})
    def shown_status(self, product: Product) -> str:
        return "In the catalog" if product.is_active else "Not published"

    @admin.display(description="updated", ordering="updated")
    def changed(self, product: Product) -> str:
        return render_to_string("admin/stores/product/changed.html", {"product": product})
