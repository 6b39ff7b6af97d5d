"""The admin's forms of a product: together they make the record that the service takes."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.functional import cached_property
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextareaWidget

from fulfillment.core.admin.inlines import LabelledFormSet
from fulfillment.core.admin.names import name_model
from fulfillment.core.errors import Fault
from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import JsonObject
from stores.catalog.admin.delivery_methods import MethodWidget, find_known_methods, match_method, warn_of_typo
from stores.catalog.admin.price_matrix import PriceMatrix
from stores.catalog.admin.scoping import ValidatedByService
from stores.catalog.models import DeliveredPrice, Product, ProductionSpeed, TemplateField
from stores.catalog.records.field_specs import (
    CHILDREN,
    PRODUCTION_SPEED_FIELDS,
    STORED_PRODUCT_FIELDS,
    TEMPLATE_FIELD_FIELDS,
    FieldSpec,
)
from stores.catalog.records.record_checks import list_steps_to_sale
from stores.catalog.selectors.products import stored_product
from stores.catalog.services.products import find_product_faults

# The form's names of fields; the form chooses a preset as a record, the service takes its ID.
COLUMNS = {spec.name: spec.column for spec in STORED_PRODUCT_FIELDS} | {"Preset": "preset"}
CHILD_OF: dict[Any, str] = {TemplateField: "TemplateFields", ProductionSpeed: "ProductionSpeeds"}
KINDS = {
    "Text:SingleLine": gettext_lazy("Text"),
    "Text:MultiLine": gettext_lazy("Long text"),
    "Text:Email": gettext_lazy("E-mail"),
    "Text:Phone": gettext_lazy("Phone"),
    "Text:Url": gettext_lazy("Web address"),
    "Text:Date": gettext_lazy("Date"),
    "Image:Upload": gettext_lazy("Picture"),
    "Image:Gallery": gettext_lazy("Gallery"),
    "Choice:List": gettext_lazy("List"),
}
KIND = {"Type": "kind", "SubType": "kind"}
# Set by buttons and by the template editor.
UNTYPED = {"Template", "IsActive"}
PUBLISH, UNPUBLISH = "_publish", "_unpublish"
# The word before the number of a row, in each language.
ENTRY = "[Ee]ntry |Eintrag |[Ee]ntrada "


def _allow_empty(form: forms.ModelForm, specs: Iterable[FieldSpec]) -> None:
    """Lets a form leave optional text fields empty."""
    for spec in specs:
        if spec.default == "" and spec.column in form.fields:
            form.fields[spec.column].required = False


# Shown in tables of the product, which no admin has.
for model in (TemplateField, DeliveredPrice, ProductionSpeed):
    name_model(model)


class ProductForm(ValidatedByService):
    """Checked together with the rows below it, so that one submission shows every fault."""

    # The rows of the same submission; the admin names them.
    formsets: Callable[[], Sequence["ChildFormSet"]] = staticmethod(lambda: ())

    position = forms.IntegerField(
        min_value=0,
        required=False,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=gettext_lazy("Place in the catalog; left empty, a new product comes last."),
    )

    class Meta:
        model = Product
        fields = ["store", "position", *(column for name, column in COLUMNS.items() if name not in UNTYPED)]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _allow_empty(self, STORED_PRODUCT_FIELDS)
        for spec in STORED_PRODUCT_FIELDS:
            if field := self.fields.get(COLUMNS[spec.name]):
                field.label = _(spec.label) if spec.label else field.label
                field.help_text = translated(spec.hint) or field.help_text
        if "delivery_method" in self.fields:
            self.fields["delivery_method"].widget = MethodWidget(self.known_methods)
            self.fields["description"].widget.attrs["rows"] = 3
            self.fields["quantity_increment"].initial = 1
        for name in {"is_eddm", "is_one_sided"} & self.fields.keys():
            # The switch of the other forms has no room in a row of text.
            self.fields[name].widget = forms.CheckboxInput()

    @cached_property
    def known_methods(self) -> list[str]:
        return find_known_methods(self)

    @cached_property
    def stored_record(self) -> JsonObject:
        return dict(stored_product(self.instance.pk).record) if self.instance.pk else {}

    @cached_property
    def matrix(self) -> PriceMatrix:
        stored = self.stored_record.get("DeliveredPrices", [])
        return PriceMatrix(stored, self.known_methods, self.data if self.is_bound else None)

    @property
    def publishes(self) -> bool:
        return PUBLISH in self.data

    def is_valid(self) -> bool:
        return super().is_valid() and not self.matrix.is_wrong

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # Of Django, unknown to its stubs.
        formsets = self.formsets()
        for formset in formsets:
            formset.is_valid()
        product = self.instance
        self._check_method()
        self.matrix.check()
        record = product_record(self, formsets)
        faults = find_product_faults(
            store=product.store if product.store_id else None,
            values=record,
            product=product if product.pk else None,
        )
        show_faults(self, formsets, faults)
        if self.publishes and (missing := [step for step in list_steps_to_sale(record) if step.is_missing]):
            for step in missing:
                self.add_error(None, _("It cannot be published yet. %(text)s") % {"text": step.text})

    def _check_method(self) -> None:
        code = self.cleaned_data.get("delivery_method")
        if code:
            self.cleaned_data["delivery_method"] = code = match_method(code, self.known_methods)
            message = warn_of_typo(code, self.known_methods, is_confirmed=self.matrix.is_confirmed)
            if message:
                self.matrix.needs_confirmation = True
                self.add_error("delivery_method", message)


class Lines(forms.CharField):
    widget = UnfoldAdminTextareaWidget(attrs={"rows": 2})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        return [line.strip() for line in (super().to_python(value) or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return list(initial or []) != self.to_python(data)


class ChildForm(ValidatedByService):
    """A row of a table. New rows have no position until they are sorted, and come last."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["position"].required = False
        self.fields["position"].widget = forms.HiddenInput()
        _allow_empty(self, CHILDREN[CHILD_OF[self._meta.model]][0])

    def has_changed(self) -> bool:
        return bool(self.changed_data if self.instance.pk else set(self.changed_data) - {"position"})

    @property
    def is_blank(self) -> bool:
        """The empty row below the others."""
        return not self.instance.pk and not (self.is_bound and self.has_changed())


class TemplateFieldForm(ChildForm):
    """Type and SubType are one choice: only some of them go together."""

    kind = forms.ChoiceField(
        label=gettext_lazy("Type"), choices=list(KINDS.items()), initial="Text:SingleLine"
    )
    choices = Lines(label=gettext_lazy("Choices"), required=False, help_text=gettext_lazy("One per line."))

    class Meta:
        model = TemplateField
        fields = [
            "position",
            *(spec.column for spec in TEMPLATE_FIELD_FIELDS if spec.name not in {"Type", "SubType"}),
        ]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["required"].widget = forms.CheckboxInput()
        for name, hint in {"field_name": _("Name"), "prompt": _("Question")}.items():
            self.fields[name].widget.attrs["placeholder"] = hint
        for name in ("default_value", "org_value"):
            self.fields[name].widget.attrs["rows"] = 2
        if self.instance.pk:
            self.initial["kind"] = f"{self.instance.type}:{self.instance.sub_type}"

    def clean(self) -> dict[str, Any] | None:
        if kind := self.cleaned_data.get("kind"):
            self.cleaned_data["type"], self.cleaned_data["sub_type"] = kind.split(":")
        return self.cleaned_data


class ProductionSpeedForm(ChildForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["is_default"].widget = forms.CheckboxInput()

    class Meta:
        model = ProductionSpeed
        fields = ["position", *(spec.column for spec in PRODUCTION_SPEED_FIELDS)]


class ChildFormSet(LabelledFormSet):
    def add_fields(self, form: Any, index: int | None) -> None:
        """Every save replaces all rows, so a row replaced by a save in between is not an error."""
        super().add_fields(form, index)
        key = form.fields["id"].initial
        # As text, or every row would count as changed.
        form.fields["id"] = forms.CharField(
            initial=key and str(key), required=False, widget=forms.HiddenInput
        )

    def validate_unique(self) -> None:
        """The service checks uniqueness."""

    def remaining(self) -> list[forms.ModelForm]:
        """The forms of the remaining rows in their new order, invalid ones included."""
        used = [form for form in self.initial_forms if not self._should_delete_form(form)]
        used += [
            form for form in self.extra_forms if form.has_changed() and not self._should_delete_form(form)
        ]
        places = {form: form.cleaned_data.get("position") for form in used}
        return sorted(used, key=lambda form: (places[form] is None, places[form] or 0))


def product_record(form: ProductForm, formsets: Iterable[ChildFormSet]) -> JsonObject:
    """The stored record, updated with the values of the forms."""
    record = {**form.stored_record, "DeliveredPrices": form.matrix.records()}
    record["IsActive"] = form.publishes or (record.get("IsActive", False) and UNPUBLISH not in form.data)
    for name, column in COLUMNS.items():
        if column in form.cleaned_data:
            record[name] = form.cleaned_data[column]
    if "preset" in form.cleaned_data:
        preset = form.cleaned_data["preset"]
        record["Preset"] = preset.code if preset else None
    for formset in formsets:
        name = CHILD_OF[formset.model]
        specs = CHILDREN[name][0]
        record[name] = [
            {
                spec.name: child.cleaned_data[spec.column]
                for spec in specs
                if spec.column in child.cleaned_data
            }
            for child in formset.remaining()
        ]
    return record


def show_faults(form: ProductForm, formsets: Iterable[ChildFormSet], faults: Iterable[Fault]) -> None:
    """Shows each fault at its field, with the labels of the form; a field never repeats a message."""
    by_name = {CHILD_OF[formset.model]: formset for formset in formsets}
    for fault in faults:
        name, *path = fault.pointer.strip("/").split("/")
        formset = by_name.get(name)
        if name == "DeliveredPrices" and path:
            form.matrix.show(fault)
        elif formset is not None and path:
            child = formset.remaining()[int(path[0])]
            columns = {spec.name: spec.column for spec in CHILDREN[name][0]} | KIND
            _show_fault(child, columns, path[1] if len(path) > 1 else "", fault)
        else:
            _show_fault(form, COLUMNS, name, fault)


def _show_fault(form: forms.ModelForm, columns: Mapping[str, str], name: str, fault: Fault) -> None:
    column = columns.get(name)
    field_name = column if column in form.fields else None
    if field_name is None or field_name not in form.errors:
        form.add_error(field_name, replace_names_by_labels(form, columns, translated(fault.message)))


def replace_names_by_labels(form: forms.ModelForm, columns: Mapping[str, str], message: str) -> str:
    """The message with the labels of the form for the API's names, and rows counted from 1; what is quoted stays."""
    labels = {
        name: str(form.fields[column].label or column)
        for name, column in columns.items()
        if column in form.fields
    }
    names = "|".join(sorted(labels, key=len, reverse=True))
    has_capital_nouns = (get_language() or "").startswith("de")

    def replace_name(match: re.Match[str]) -> str:
        if match["row"]:
            return f"{match['entry']}{int(match['row']) + 1}"
        if (label := labels.get(match[0])) is None:
            return match[0]
        return label if match.start() == 0 or has_capital_nouns else label[:1].lower() + label[1:]

    pattern = rf'"(?:[^"\\]|\\.)*"|(?P<entry>{ENTRY})(?P<row>\d+)|\b(?:{names})\b'
    return re.sub(pattern, replace_name, message)
