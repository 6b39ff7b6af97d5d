from contextlib import nullcontext
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.options import IS_POPUP_VAR
from django.db import DatabaseError
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST
from unfold.decorators import display

from accounts.admin.staff import StaffAdmin
from accounts.callers import Caller
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.admin.confirmation import requires_confirmation
from fulfillment.core.admin.inlines import ConsoleInline
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import picture_response, serves_picture
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.text import parse_number
from fulfillment.templatetags.console import form_problems
from fulfillment.templatetags.portal import method_name
from stores.catalog.admin.product_forms import (
    COLUMNS,
    PUBLISH,
    UNPUBLISH,
    UNTYPED,
    ChildFormSet,
    ProductForm,
    ProductionSpeedForm,
    TemplateFieldForm,
    product_record,
)
from stores.catalog.admin.product_sections import BASICS, FLAGS, PAPER, SECTIONS, SIZES
from stores.catalog.admin.scoping import StoreFilter
from stores.catalog.models import DeliveredPrice, Product, ProductionSpeed, Store, TemplateField
from stores.catalog.records.record_checks import steps_to_sale
from stores.catalog.services.products import archive_product, duplicate_product, save_product
from stores.catalog.services.thumbnails import draw_thumbnail
from stores.concurrency_limits import RENDERINGS

# Each is written with its template in the same request.
MAX_DUPLICATES = 25
LOWEST_PRICE = DeliveredPrice.objects.filter(product=OuterRef("pk")).order_by("price").values("price")[:1]


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


class ProductAdmin(StaffAdmin):
    """One service writes the product with its children; the forms only collect values."""

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

    @harmless
    @admin.action(description="Duplicate", permissions=["change"])
    def duplicate(self, request: HttpRequest, products: QuerySet[Product]) -> None:
        if len(chosen := list(products[: MAX_DUPLICATES + 1])) > MAX_DUPLICATES:
            messages.error(
                request,
                _("At most %(max_duplicates)s products are duplicated at once.")
                % {"max_duplicates": MAX_DUPLICATES},
            )
            return
        copies = [duplicate_product(product=product) for product in chosen]
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

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        # Saving renders the template to check it.
        slot = (
            RENDERINGS.limited(Caller.on_pages(request.user).key)
            if request.method == "POST"
            else nullcontext()
        )
        try:
            with slot:
                return super().changeform_view(request, object_id, form_url, extra_context)
        except (DomainError, DatabaseError) as error:
            # Another user saved between the check and the write.
            text = (
                error.message if isinstance(error, DomainError) else _("Another user changed it. Try again.")
            )
            messages.error(request, text)
            return HttpResponseRedirect(request.get_full_path())

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
                "currency": _currency(form, product),
                "problems": [
                    *form_problems(context["adminform"], context["inline_admin_formsets"]),
                    *(form.matrix.problems if form.is_bound else ()),
                ],
                "steps": steps_to_sale(record),
                "is_sellable": not any(step.is_missing for step in steps_to_sale(record)),
                "show_save_and_continue": False,
                "show_save_and_add_another": False,
            }
        return super().render_change_form(request, context, *args, **kwargs)

    def response_add(
        self, request: HttpRequest, product: Product, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self._response(request, product) or super().response_add(request, product, post_url_continue)

    def response_change(self, request: HttpRequest, product: Product) -> HttpResponseBase:
        if getattr(request, "is_unchanged", False):
            return super().response_change(request, product)
        return self._response(request, product) or super().response_change(request, product)

    def _response(self, request: HttpRequest, product: Product) -> HttpResponse | None:
        """Returns to the page of the product, which shows the next step."""
        if IS_POPUP_VAR in request.POST:
            return None
        message = (
            _("%(product)s is in the catalog.") if PUBLISH in request.POST else _("%(product)s is saved.")
        )
        message = _("%(product)s is no longer in the catalog.") if UNPUBLISH in request.POST else message
        messages.success(request, message % {"product": product})
        return HttpResponseRedirect(self.address_of(product))

    def construct_change_message(
        self, request: Any, form: ProductForm, formsets: Any, add: bool = False
    ) -> Any:
        changes = super().construct_change_message(request, form, formsets, add)
        columns = ["delivered prices"] if form.matrix.has_changed else []
        columns += ["in the catalog"] if {PUBLISH, UNPUBLISH} & request.POST.keys() else []
        if columns and not add:
            request.is_unchanged = False
            changes = [*changes, {"changed": {"fields": columns}}]
        return changes

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> type[ProductForm]:
        form = super().get_form(request, *args, **kwargs)
        rows = {"formsets": staticmethod(lambda: getattr(request, "product_formsets", ()))}
        return type(form.__name__, (form,), rows)

    def _create_formsets(self, request: Any, product: Product, change: bool) -> tuple[Any, Any]:
        formsets, inlines = super()._create_formsets(request, product, change)
        request.product_formsets = formsets
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
    """The attributes that Django's change log expects of a saved formset."""
    deleted = formset.deleted_forms
    formset.deleted_objects = [form.instance for form in deleted if form.instance.pk]
    formset.new_objects = [
        form.instance for form in formset.extra_forms if form.has_changed() and form not in deleted
    ]
    formset.changed_objects = [
        (form.instance, form.changed_data)
        for form in formset.initial_forms
        if form.has_changed() and form not in deleted
    ]


def _currency(form: ProductForm, product: Product | None) -> str:
    """The currency of the product's store, or of the one that is chosen for a new product."""
    if product is not None:
        return product.store.currency
    # Other texts are errors of the field.
    store = parse_number(str(form["store"].value())) if "store" in form.fields else None
    chosen = Store.objects.filter(pk=store or 0)
    return chosen.values_list("currency", flat=True).first() or ""
