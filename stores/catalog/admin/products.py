from contextlib import nullcontext
from typing import Any

from django.contrib import admin, messages
from django.db import DatabaseError
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from accounts.admin.staff import StaffAdmin
from accounts.callers import Caller
from fulfillment.core.admin.base import ConsoleInline
from fulfillment.core.admin.confirmation import asks_confirmation
from fulfillment.core.errors import DomainError
from fulfillment.core.lanes import RENDERINGS
from stores.catalog.admin.product_forms import (
    ChildFormSet,
    DeliveredPriceForm,
    ProductForm,
    ProductionSpeedForm,
    TemplateFieldForm,
    product_record,
)
from stores.catalog.admin.scoping import StoreFilter
from stores.catalog.models import DeliveredPrice, Product, ProductionSpeed, TemplateField
from stores.catalog.services.products import archive_product, save_product


class ChildInline(ConsoleInline):
    formset = ChildFormSet
    ordering_field = "position"
    hide_ordering_field = True


class TemplateFieldInline(ChildInline):
    model = TemplateField
    form = TemplateFieldForm


class DeliveredPriceInline(ChildInline):
    model = DeliveredPrice
    form = DeliveredPriceForm
    fields = [*DeliveredPriceForm.Meta.fields, "created"]
    readonly_fields = ["created"]


class ProductionSpeedInline(ChildInline):
    model = ProductionSpeed
    form = ProductionSpeedForm


class ProductAdmin(StaffAdmin):
    """One service writes the product with its children; the forms only gather what they say."""

    form = ProductForm
    inlines = [TemplateFieldInline, DeliveredPriceInline, ProductionSpeedInline]
    list_display = [
        "name",
        "external_id",
        "store",
        "category",
        "has_layout",
        "is_active",
        "version",
        "updated",
    ]
    list_filter = ["is_active", StoreFilter]
    list_filter_submit = True
    search_fields = ["name", "external_id", "api_key", "category", "store__external_id"]
    autocomplete_fields = ["store"]
    tracked_parts = {
        "TemplateFields": ("template field", ("FieldName",)),
        "DeliveredPrices": ("delivered price", ("DeliveryMethodCode", "CountryCode", "LocationType")),
        "ProductionSpeeds": ("production speed", ("Days",)),
    }
    search_help_text = "Name, product ID, APIKey, category or StoreID"
    change_form_before_template = "admin/stores/product_methods.html"
    change_form_outer_before_template = "admin/stores/product_before.html"
    ordering = ["store_id", "position", "id"]
    actions = ["archive"]
    fieldsets = [
        (
            None,
            {"fields": ["store", "external_id", "api_key", "name", "description", "category", "image_url"]},
        ),
        ("Catalog", {"fields": ["position", "is_active"]}),
        (
            "Quantities",
            {
                "fields": [
                    ("default_quantity", "quantity_increment"),
                    ("minimum_quantity", "maximum_quantity"),
                ]
            },
        ),
        (
            "Making",
            {
                "fields": [
                    ("delivery_method", "new_delivery_methods"),
                    ("width_mm", "height_mm"),
                    ("page_count", "has_layout"),
                ]
            },
        ),
        ("Record", {"fields": ["version", "created", "updated"]}),
    ]
    readonly_fields = ["has_layout", "version", "created", "updated"]

    def get_readonly_fields(self, request: HttpRequest, product: Product | None = None) -> list[str]:
        return [*self.readonly_fields, "store", "external_id"] if product else self.readonly_fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Product]:
        products = super().get_queryset(request).select_related("store")
        bodies = ("rendering", "verbose_rendering", "store__rendering", "store__verbose_rendering")
        return products.defer("template", *bodies).annotate(is_templated=Q(template__isnull=False))

    def has_delete_permission(self, request: HttpRequest, product: Product | None = None) -> bool:
        return False

    @admin.display(description="template")
    def has_layout(self, product: Product) -> str:
        return "Yes" if getattr(product, "is_templated", False) else "No"

    @admin.action(description="Archive: take out of the catalog …", permissions=["change"])
    @asks_confirmation("Take these products out of the catalog? Nobody can order them any more.", "Archive")
    def archive(self, request: HttpRequest, products: QuerySet[Product]) -> None:
        for product in products:
            archive_product(product=product)
        self.message_user(request, "The products are out of the catalog.")

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        # A template that is saved is set, to see whether it can be.
        place = (
            RENDERINGS.place(Caller.on_pages(request.user).key) if request.method == "POST" else nullcontext()
        )
        try:
            with place:
                return super().changeform_view(request, object_id, form_url, extra_context)
        except (DomainError, DatabaseError) as error:
            # Somebody else was faster between the check and the write.
            text = error.message if isinstance(error, DomainError) else "Someone else changed it. Try again."
            messages.error(request, text)
            return HttpResponseRedirect(request.get_full_path())

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> type[ProductForm]:
        form = super().get_form(request, *args, **kwargs)
        rows = {"formsets": staticmethod(lambda: getattr(request, "product_formsets", ()))}
        return type(form.__name__, (form,), rows)

    def _create_formsets(self, request: HttpRequest, product: Product, change: bool) -> tuple[Any, Any]:
        formsets, inlines = super()._create_formsets(request, product, change)
        request.product_formsets = formsets  # type: ignore[attr-defined]
        return formsets, inlines

    def save_model(self, request: HttpRequest, product: Product, form: ProductForm, change: bool) -> None:
        """Saved with its children, in `save_related`."""

    def save_related(self, request: HttpRequest, form: ProductForm, formsets: Any, change: bool) -> None:
        saved = save_product(
            store=form.instance.store,
            values=product_record(form, formsets),
            product=form.instance if change else None,
            position=form.cleaned_data.get("position"),
        )
        form.instance.pk = saved.pk
        form.instance.refresh_from_db()
        for formset in formsets:
            _note_changes(formset)


def _note_changes(formset: ChildFormSet) -> None:
    """What Django's log of changes reads off a formset it has saved itself."""
    deleted = formset.deleted_forms
    formset.deleted_objects = [form.instance for form in deleted if form.instance.pk]
    formset.new_objects = [form.instance for form in formset.extra_forms if form.has_changed()]
    formset.changed_objects = [
        (form.instance, form.changed_data)
        for form in formset.initial_forms
        if form.has_changed() and form not in deleted
    ]
