"""The admin's forms of a product: together they make the record that the service takes."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.functional import cached_property
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextareaWidget

from fulfillment.core.admin.base import LabelledFormSet
from fulfillment.core.errors import Fault
from stores.catalog.admin.delivery_methods import LIST, check_method, confirm_field, known_methods_of
from stores.catalog.admin.forms import JudgedByService
from stores.catalog.models import DeliveredPrice, Product, ProductionSpeed, TemplateField
from stores.catalog.records import (
    CHILDREN,
    DELIVERED_PRICE,
    PRODUCT,
    PRODUCTION_SPEED,
    TEMPLATE_FIELD,
    Member,
)
from stores.catalog.selectors.catalog import stored_product
from stores.catalog.services.products import find_product_faults
from stores.templates.records import Record

COLUMNS = {member.name: member.column for member in PRODUCT}
CHILD_OF: dict[Any, str] = {
    TemplateField: "TemplateFields",
    DeliveredPrice: "DeliveredPrices",
    ProductionSpeed: "ProductionSpeeds",
}


def _allow_empty(form: forms.ModelForm, members: Iterable[Member]) -> None:
    """A text that a record may leave out may be left empty in a form."""
    for member in members:
        if member.default == "" and member.column in form.fields:
            form.fields[member.column].required = False


class ProductForm(JudgedByService):
    """Checked together with the rows below it, so that one submission shows every fault, whatever else is wrong."""

    # The rows of the same submission; the admin names them.
    formsets: Callable[[], Sequence["ChildFormSet"]] = staticmethod(lambda: ())

    position = forms.IntegerField(
        min_value=0,
        required=False,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Place in the catalog; left empty, a new product comes last.",
    )

    new_delivery_methods = confirm_field()

    class Meta:
        model = Product
        fields = ["store", "position", *(column for name, column in COLUMNS.items() if name != "Template")]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _allow_empty(self, PRODUCT)
        if "api_key" in self.fields:
            self.fields["api_key"].label = "APIKey"
            self.fields[
                "api_key"
            ].help_text = (
                "Your own number of the product (SKU), sent to applications as APIKey. It is no secret."
            )
        if "delivery_method" in self.fields:
            self.fields["delivery_method"].widget.attrs["list"] = LIST

    @cached_property
    def known_methods(self) -> list[str]:
        return known_methods_of(self)

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # Of Django, unknown to its stubs.
        formsets = self.formsets()
        for formset in formsets:
            formset.is_valid()
        self._check_methods(formsets)
        product = self.instance
        show_faults(
            self,
            formsets,
            find_product_faults(
                store=product.store if product.store_id else None,
                values=product_record(self, formsets),
                product=product if product.pk else None,
            ),
        )

    def _check_methods(self, formsets: Iterable["ChildFormSet"]) -> None:
        is_confirmed = bool(self.cleaned_data.get("new_delivery_methods"))
        check_method(self, "delivery_method", self.known_methods, is_confirmed=is_confirmed)
        for formset in formsets:
            for child in formset.kept() if formset.model is DeliveredPrice else ():
                check_method(child, "delivery_method_code", self.known_methods, is_confirmed=is_confirmed)


class Lines(forms.CharField):
    widget = UnfoldAdminTextareaWidget(attrs={"rows": 2})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        return [line.strip() for line in (super().to_python(value) or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return list(initial or []) != self.to_python(data)


class ChildForm(JudgedByService):
    """A row. A new one has no position until its table is sorted: it comes after those that have one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["position"].required = False
        _allow_empty(self, CHILDREN[CHILD_OF[self._meta.model]][0])

    def has_changed(self) -> bool:
        return bool(self.changed_data if self.instance.pk else set(self.changed_data) - {"position"})


class TemplateFieldForm(ChildForm):
    choices = Lines(required=False, help_text="One a line.")

    class Meta:
        model = TemplateField
        fields = ["position", *(member.column for member in TEMPLATE_FIELD)]


class DeliveredPriceForm(ChildForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["delivery_method_code"].widget.attrs["list"] = LIST

    class Meta:
        model = DeliveredPrice
        fields = ["position", *(member.column for member in DELIVERED_PRICE if member.name != "Created")]


class ProductionSpeedForm(ChildForm):
    class Meta:
        model = ProductionSpeed
        fields = ["position", *(member.column for member in PRODUCTION_SPEED)]


class ChildFormSet(LabelledFormSet):
    def validate_unique(self) -> None:
        """Judged by the service."""

    def kept(self) -> list[forms.ModelForm]:
        """The forms whose rows are to be there afterwards, in their new order, also while some are invalid."""
        used = [form for form in self.initial_forms if not self._should_delete_form(form)]
        used += [
            form for form in self.extra_forms if form.has_changed() and not self._should_delete_form(form)
        ]
        places = {form: form.cleaned_data.get("position") for form in used}
        return sorted(used, key=lambda form: (places[form] is None, places[form] or 0))


def product_record(form: ProductForm, formsets: Iterable[ChildFormSet]) -> Record:
    """What the forms say, over what is stored and no form shows."""
    product = form.instance
    record = dict(stored_product(product.pk).record) if product.pk else {}
    for name, column in COLUMNS.items():
        if column in form.cleaned_data:
            record[name] = form.cleaned_data[column]
    for formset in formsets:
        name = CHILD_OF[formset.model]
        members, _ = CHILDREN[name]
        record[name] = [
            {
                member.name: child.cleaned_data[member.column]
                for member in members
                if member.column in child.cleaned_data
            }
            for child in formset.kept()
        ]
    return record


def show_faults(form: ProductForm, formsets: Iterable[ChildFormSet], faults: Iterable[Fault]) -> None:
    """Puts each fault at the field it is about, in the words of the form; what a field says already is not repeated."""
    by_name = {CHILD_OF[formset.model]: formset for formset in formsets}
    for fault in faults:
        name, *rest = fault.pointer.strip("/").split("/")
        formset = by_name.get(name)
        if formset is not None and rest:
            child = formset.kept()[int(rest[0])]
            members = {member.name: member.column for member in CHILDREN[name][0]}
            _show(child, members, rest[1] if len(rest) > 1 else "", fault)
        else:
            _show(form, COLUMNS, name, fault)


def _show(form: forms.ModelForm, columns: Mapping[str, str], name: str, fault: Fault) -> None:
    column = columns.get(name)
    place = column if column in form.fields else None
    if place is None or place not in form.errors:
        form.add_error(place, in_words_of(form, columns, fault.message))


def in_words_of(form: forms.ModelForm, columns: Mapping[str, str], message: str) -> str:
    """The message with the labels of the form for the API's names, and rows counted from 1; what is quoted stays."""
    labels = {
        name: str(form.fields[column].label or column)
        for name, column in columns.items()
        if column in form.fields
    }
    names = "|".join(sorted(labels, key=len, reverse=True))

    def worded(match: re.Match[str]) -> str:
        if match["row"]:
            return f"{'R' if match[0][0] == 'E' else 'r'}ow {int(match['row']) + 1}"
        label = labels.get(match[0])
        if label is None:
            return match[0]
        return label[0].upper() + label[1:] if match.start() == 0 else label[0].lower() + label[1:]

    return re.sub(rf'"(?:[^"\\]|\\.)*"|[Ee]ntry (?P<row>\d+)|\b(?:{names})\b', worded, message)
