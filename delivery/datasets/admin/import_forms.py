"""The forms of an import: the file, then its options with the columns of the file."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminFileFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from delivery.datasets.services.importer import ImportOptions, Preview, read_types, read_vintage
from delivery.datasets.sources.cells import ALIASES, POSTAL_CODE
from fulfillment.core.errors import DomainError
from fulfillment.core.recorded_texts import translated

FORMATS = [
    ("auto", gettext_lazy("As detected")),
    ("csv", gettext_lazy("CSV, TSV or another delimited table")),
    ("gis-json", gettext_lazy("JSON of the USPS map service")),
    ("delstat", gettext_lazy("Delivery Statistics, fixed width")),
]
LABELS = {
    "zip": gettext_lazy("ZIP code"),
    "route": gettext_lazy("Carrier route"),
    "residential": gettext_lazy("Residential count"),
    "business": gettext_lazy("Business count"),
    "total": gettext_lazy("Total count"),
}


def validated_by(reader: Callable[[str], object]) -> Callable[[str], None]:
    """A validator that shows what the reader refuses."""

    def validate(text: str) -> None:
        try:
            reader(text)
        except DomainError as error:
            raise forms.ValidationError(translated(error.message)) from error

    return validate


class ImportUploadForm(forms.Form):
    file = forms.FileField(
        widget=UnfoldAdminFileFieldWidget,
        help_text=gettext_lazy(
            "CSV or TSV, the saved JSON of the USPS map service, or the Delivery Statistics file; "
            "plain, .gz or .zip. A preview comes before the import."
        ),
    )


class ImportForm(forms.Form):
    format = forms.ChoiceField(choices=FORMATS, widget=UnfoldAdminSelectWidget)
    vintage = forms.CharField(
        widget=UnfoldAdminTextInputWidget,
        help_text=gettext_lazy("The month of the counts, YYYY-MM."),
        validators=[validated_by(read_vintage)],
    )
    types = forms.CharField(
        label=gettext_lazy("Route types counted"),
        widget=UnfoldAdminTextInputWidget,
        help_text=gettext_lazy("Some of C (city), R (rural), H (highway contract) and B (PO Boxes)."),
        validators=[validated_by(read_types)],
    )
    postal_code = forms.RegexField(
        rf"\A{POSTAL_CODE.pattern}\Z",
        label=gettext_lazy("ZIP code of all lines"),
        required=False,
        strip=True,
        widget=UnfoldAdminTextInputWidget,
        help_text=gettext_lazy("Only for a table without a column for it."),
        error_messages={"invalid": gettext_lazy("Enter five digits.")},
    )
    max_reject = forms.FloatField(
        label=gettext_lazy("Rejected lines allowed, in percent"),
        min_value=0,
        max_value=100,
        initial=0.5,
        widget=UnfoldAdminDecimalFieldWidget,
    )
    merge = forms.BooleanField(
        required=False,
        label=gettext_lazy("Replace only the ZIP codes in this file"),
        widget=UnfoldBooleanWidget,
        help_text=gettext_lazy("All other ZIP codes keep the counts of the active data set."),
    )
    activate = forms.BooleanField(
        required=False,
        initial=True,
        label=gettext_lazy("Activate automatically if there are no warnings"),
        widget=UnfoldBooleanWidget,
    )
    force = forms.BooleanField(
        required=False, label=gettext_lazy("Activate despite warnings"), widget=UnfoldBooleanWidget
    )

    def __init__(self, *args: Any, preview: Preview, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        numbered = [
            (str(number), name or _("column %(number)s") % {"number": number})
            for number, name in enumerate(preview.header, 1)
        ]
        for field in ALIASES if preview.header else ():
            number = preview.columns.get(field)
            self.fields[f"column_{field}"] = forms.ChoiceField(
                label=LABELS[field],
                required=False,
                choices=[("", _("As recognized") if number is not None else _("Not in the file")), *numbered],
                initial="" if number is None else str(number + 1),
                widget=UnfoldAdminSelectWidget,
            )

    @property
    def chosen_options(self) -> ImportOptions:
        values = dict(self.cleaned_data)
        columns = {field: values.pop(f"column_{field}", "") for field in ALIASES}
        return ImportOptions(**values, columns={field: name for field, name in columns.items() if name})
