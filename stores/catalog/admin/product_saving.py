"""How the console saves a product: one service writes it with its children, and the forms only collect values."""

from contextlib import nullcontext
from typing import Any

from django.contrib import messages
from django.contrib.admin.options import IS_POPUP_VAR
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from accounts.admin.staff import StaffAdmin
from accounts.callers import Caller
from fulfillment.core.errors import DomainError
from fulfillment.core.recorded_texts import translated
from stores.catalog.admin.product_forms import PUBLISH, UNPUBLISH, ChildFormSet, ProductForm, product_record
from stores.catalog.models import Product
from stores.catalog.services.products import save_product
from stores.concurrency_limits import RENDERINGS


class ProductSaving(StaffAdmin):
    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        # Saving renders the template to check it.
        slot = (
            RENDERINGS.slot(Caller.on_pages(request.user).key) if request.method == "POST" else nullcontext()
        )
        try:
            with slot:
                return super().changeform_view(request, object_id, form_url, extra_context)
        except (DomainError, DatabaseError) as error:
            # Another user saved between the check and the write.
            text = (
                translated(error.message)
                if isinstance(error, DomainError)
                else _("Another user changed it. Try again.")
            )
            messages.error(request, text)
            return HttpResponseRedirect(request.get_full_path())

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
