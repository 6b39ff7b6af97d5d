"""The admin's forms of a product: together they make the record that the service takes."""

from collections.abc import Iterable
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget

from fulfillment.core.admin.base import LabelledFormSet
from fulfillment.core.errors import Fault
from stores.catalog.admin.forms import JudgedByService
from stores.catalog.models import DeliveredPrice, Product, ProductionSpeed, TemplateField
from stores.catalog.records import CHILDREN, DELIVERED_PRICE, PRODUCT, PRODUCTION_SPEED, TEMPLATE_FIELD
from stores.catalog.selectors.catalog import stored_product
from stores.templates.records import Record

COLUMNS = {member.name: member.column for member in PRODUCT}
CHILD_OF: dict[Any, str] = {
    TemplateField: "TemplateFields",
    DeliveredPrice: "DeliveredPrices",
    ProductionSpeed: "ProductionSpeeds",
}


class ProductForm(JudgedByService):
    position = forms.IntegerField(
        min_value=0, required=False, help_text="Place in the catalog; left empty, a new product comes last."
    )

    class Meta:
        model = Product
        fields = ["store", "position", *(column for name, column in COLUMNS.items() if name != "Template")]


class Lines(forms.CharField):
    widget = UnfoldAdminTextareaWidget(attrs={"rows": 2})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        return [line.strip() for line in (super().to_python(value) or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return list(initial or []) != self.to_python(data)


class TemplateFieldForm(JudgedByService):
    choices = Lines(required=False, help_text="One a line.")

    class Meta:
        model = TemplateField
        fields = ["position", *(member.column for member in TEMPLATE_FIELD)]


class DeliveredPriceForm(JudgedByService):
    class Meta:
        model = DeliveredPrice
        fields = ["position", *(member.column for member in DELIVERED_PRICE if member.name != "Created")]


class ProductionSpeedForm(JudgedByService):
    class Meta:
        model = ProductionSpeed
        fields = ["position", *(member.column for member in PRODUCTION_SPEED)]


class ChildFormSet(LabelledFormSet):
    def validate_unique(self) -> None:
        """Judged by the service."""

    def kept(self) -> list[forms.ModelForm]:
        """The forms whose rows are to be there afterwards, in their new order."""
        used = [form for form in self.initial_forms if form not in self.deleted_forms]
        used += [form for form in self.extra_forms if form.has_changed() and form not in self.deleted_forms]
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
    """Puts each fault at the field it is about."""
    by_name = {CHILD_OF[formset.model]: formset for formset in formsets}
    for fault in faults:
        name, *rest = fault.pointer.strip("/").split("/")
        formset = by_name.get(name)
        if formset is not None and rest:
            child = formset.kept()[int(rest[0])]
            members = {member.name: member.column for member in CHILDREN[name][0]}
            column = members.get(rest[1]) if len(rest) > 1 else None
            child.add_error(column if column in child.fields else None, fault.message)
        else:
            column = COLUMNS.get(name)
            form.add_error(column if column in form.fields else None, fault.message)
