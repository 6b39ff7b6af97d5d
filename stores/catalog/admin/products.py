"""The console's list and page of products, with copies, archiving and thumbnails."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from accounts.callers import Caller
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.admin.confirmation import requires_confirmation
from fulfillment.core.admin.inlines import ConsoleInline
from fulfillment.core.files.downloads import picture_response, serves_picture
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.text import method_name, parse_number
from fulfillment.templatetags.console import form_problems
from stores.catalog.admin.product_columns import ProductColumns
from stores.catalog.admin.product_forms import (
    COLUMNS,
    UNTYPED,
    ChildFormSet,
    ProductForm,
    ProductionSpeedForm,
    TemplateFieldForm,
)
from stores.catalog.admin.product_saving import ProductSaving
from stores.catalog.admin.product_sections import BASICS, FLAGS, PAPER, SECTIONS, SIZES
from stores.catalog.admin.scoping import StoreFilter
from stores.catalog.models import Product, ProductionSpeed, Store, TemplateField
from stores.catalog.records.record_checks import list_steps_to_sale
from stores.catalog.services.products import archive_product, duplicate_product
from stores.catalog.services.thumbnails import draw_thumbnail

# Each is written with its template in the same request.
MAX_DUPLICATES = 25
# What people read who may not change the product: in the order and under the headings of its form.
SHOWN_BASICS = ["usual_method" if column == "delivery_method" else column for column in BASICS]
READ_ONLY = [
    (None, {"fields": ["shown_name", "store", "shown_status", "description", *SHOWN_BASICS]}),
    (gettext_lazy("Size and quantities"), {"fields": SIZES}),
    (gettext_lazy("Paper and finishing"), {"fields": [*PAPER, *FLAGS]}),
    (gettext_lazy("Record"), {"fields": ["has_layout", "position", "version", "updated"]}),
]


class ChildInline(ConsoleInline):
    formset = ChildFormSet
    # A row to fill in where no script adds any.
    extra = 1


class TemplateFieldInline(ChildInline):
    model = TemplateField
    form = TemplateFieldForm


class ProductionSpeedInline(ChildInline):
    model = ProductionSpeed
    form = ProductionSpeedForm


class ProductAdmin(ProductSaving, ProductColumns):
    harmless_pages = (
        "add",
        "change",
        "duplicate",
        "thumbnail",
        "mailing",
        "mailing_order",
        "artwork_asset",
        "template",
        "template_preview",
        "template_proof",
        "template_print",
        "template_versions",
        "template_restore",
    )
    forbidden = ("delete",)
    form = ProductForm
    change_form_template = "admin/stores/product.html"
    list_display = ["shown_name", "store", "category", "price_from", "has_layout", "shown_status", "changed"]
    list_display_links = ["shown_name"]
    list_filter = ["is_active", StoreFilter]
    list_filter_submit = True
    search_fields = ["name", "external_id", "api_key", "category", "store__external_id"]
    autocomplete_fields = ["store"]
    tracked_parts = {
        "TemplateFields": (gettext_lazy("template fields"), ("FieldName",), {}),
        "DeliveredPrices": (
            gettext_lazy("delivered prices"),
            ("DeliveryMethodCode", "CountryCode", "LocationType"),
            {"DeliveryMethodCode": method_name},
        ),
        "ProductionSpeeds": (gettext_lazy("production speeds"), ("Days",), {}),
    }
    search_help_text = "Name, product ID, APIKey, category or StoreID"
    empty_help = "Add a product, or import a catalog file."
    list_tools_template = "admin/stores/products_tools.html"
    ordering = ["store_id", "position", "id"]
    actions = ["duplicate", "archive"]
    fields = ["store", "position", *(column for name, column in COLUMNS.items() if name not in UNTYPED)]

    class Media:
        css = {"all": ["console/product.css"]}
        js = ["console/product.js"]

    def get_fieldsets(self, request: HttpRequest, product: Product | None = None) -> Any:
        return super().get_fieldsets(request, product) if self._may_write(request, product) else READ_ONLY

    def get_readonly_fields(self, request: HttpRequest, product: Product | None = None) -> list[str]:
        return ["store", "external_id"] if product else []

    def get_inlines(self, request: HttpRequest, product: Product | None) -> list[Any]:
        return [TemplateFieldInline, ProductionSpeedInline] if self._may_write(request, product) else []

    def _may_write(self, request: HttpRequest, product: Product | None) -> bool:
        return self.has_change_permission(request, product) if product else self.has_add_permission(request)

    @harmless
    @admin.action(description="Duplicate", permissions=["change"])
    def duplicate(self, request: HttpRequest, products: QuerySet[Product]) -> None:
        if len(product_list := list(products[: MAX_DUPLICATES + 1])) > MAX_DUPLICATES:
            messages.error(
                request,
                _("At most %(max_duplicates)s products are duplicated at once.")
                % {"max_duplicates": MAX_DUPLICATES},
            )
            return
        copies = [duplicate_product(product=product) for product in product_list]
        names = ", ".join(copy.external_id for copy in copies)
        messages.success(
            request, _("Duplicated as %(names)s. Copies are not in the catalog yet.") % {"names": names}
        )

    @harmless
    @admin.action(description=gettext_lazy("Archive: remove from the catalog …"), permissions=["change"])
    @requires_confirmation(
        gettext_lazy("Remove these products from the catalog? They can no longer be ordered."),
        gettext_lazy("Archive"),
    )
    def archive(self, request: HttpRequest, products: QuerySet[Product]) -> None:
        for product in products:
            archive_product(product=product)
        self.message_user(request, _("The products were removed from the catalog."))

    def get_urls(self) -> list[URLPattern]:
        thumbnail = path(
            "<int:product_id>/thumbnail.webp",
            self.admin_site.admin_view(self.thumbnail_view, cacheable=True),
            name="stores_product_thumbnail",
        )
        return [thumbnail, *super().get_urls()]

    def extra_pages(self) -> list[ExtraPage]:
        return [("<int:product_id>/duplicate/", require_POST(self.duplicate_view), "duplicate")]

    @serves_picture
    def thumbnail_view(self, request: HttpRequest, product_id: int) -> HttpResponse:
        product = self.record_for(request, product_id, "view")
        caller = Caller.on_pages(request.user)
        return picture_response(
            lambda: draw_thumbnail(product_id=product.pk, version=product.version, caller=caller),
            "image/webp",
        )

    def duplicate_view(self, request: HttpRequest, product_id: int) -> HttpResponse:
        copy = duplicate_product(product=self.record_for(request, product_id))
        messages.success(request, _("This is the copy. It is not in the catalog yet."))
        return HttpResponseRedirect(self.address_of(copy))

    def more_pages(self, request: HttpRequest, product: Product) -> list[tuple[str, str]]:
        """Labels and addresses of what other features do with the product."""
        return []

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        form = context["adminform"].form
        product = context.get("original")
        context["more_pages"] = self.more_pages(request, product) if product else []
        if self._may_write(request, product):
            record = form.stored_record
            context |= {
                "is_editor": True,
                "rows": {
                    inline.formset.prefix: inline.formset for inline in context["inline_admin_formsets"]
                },
                "sections": {name: [form[column] for column in names] for name, names in SECTIONS.items()},
                "matrix": form.matrix,
                "currency": _find_currency(form, product),
                "problems": [
                    *form_problems(context["adminform"], context["inline_admin_formsets"]),
                    *(form.matrix.problems if form.is_bound else ()),
                ],
                "steps": list_steps_to_sale(record),
                "is_sellable": not any(step.is_missing for step in list_steps_to_sale(record)),
                "show_save_and_continue": False,
                "show_save_and_add_another": False,
            }
        return super().render_change_form(request, context, *args, **kwargs)


def _find_currency(form: ProductForm, product: Product | None) -> str:
    """The currency of the product's store, or of the one that is chosen for a new product."""
    if product is not None:
        return product.store.currency
    # Other texts are errors of the field.
    store = parse_number(str(form["store"].value())) if "store" in form.fields else None
    stores = Store.objects.filter(pk=store or 0)
    return stores.values_list("currency", flat=True).first() or ""
