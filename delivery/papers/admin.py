"""The console pages for the official form and for postage prices."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from delivery.papers.models import OfficialForm, PostagePrice
from delivery.papers.official_form import MAX_FORM_BYTES, ROW_NUMBER, ROW_VALUES, VALUES, check_mapping
from delivery.papers.services import add_official_form, fill_sample, map_official_form, save_postage_price
from fulfillment.core.admin.base import ConsoleAdmin, ExtraPage
from fulfillment.core.admin.read_only import LimitedUploadAdmin, ServiceUploadForm
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import pdf_response
from fulfillment.core.recorded_texts import translated


class NewOfficialForm(ServiceUploadForm):
    help_text = gettext_lazy("The PDF of PS Form 3587 with its fields, at most {max_megabytes} MB.")
    max_bytes = MAX_FORM_BYTES
    # The admin passes them.
    by = ""

    class Meta:
        model = OfficialForm
        fields: list[str] = []

    def add_file(self, file_name: str, content: bytes) -> OfficialForm:
        return add_official_form(file_name=file_name, content=content, by=self.by)


class MappingForm(forms.ModelForm):
    """Maps each value of the papers to a field of the PDF."""

    class Meta:
        model = OfficialForm
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [(name, name) for name in self.instance.field_names]
        for key, label in VALUES.items():
            self.fields[key] = forms.ChoiceField(
                label=label,
                required=False,
                choices=[("", _("Not filled")), *names],
                initial=self.instance.mapping.get(key, ""),
                widget=UnfoldAdminSelectWidget,
            )
        for key, label in ROW_VALUES.items():
            self.fields[key] = forms.CharField(
                label=label,
                required=False,
                max_length=300,
                initial=self.instance.mapping.get(key, ""),
                widget=UnfoldAdminTextInputWidget,
                help_text=_("The name of the field with %(row_number)s for the number of the row, from 1.")
                % {"row_number": ROW_NUMBER},
            )

    @property
    def mapping(self) -> dict[str, str]:
        return {key: self.cleaned_data.get(key, "") for key in (*VALUES, *ROW_VALUES)}

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        try:
            check_mapping(self.mapping, self.instance.field_names)
        except DomainError as error:
            for fault in error.faults:
                self.add_error(fault.pointer.strip("/"), translated(fault.message))
        return cleaned


@admin.register(OfficialForm)
class OfficialFormAdmin(LimitedUploadAdmin):
    harmless_pages = ("add", "change", "delete", "sample")
    list_display = ["file_name", "filled_fields", "created"]
    search_fields = ["file_name"]
    search_help_text = "File"
    empty_help = (
        "Add the Postal Service's PDF of PS Form 3587. The service then fills it in for each EDDM order. "
        "Without it, the papers include a sheet with the data to copy."
    )
    change_form_outer_after_template = "admin/delivery/official_form_after.html"

    @admin.display(description="fields filled")
    def filled_fields(self, form: OfficialForm) -> str:
        return _("%(filled)s of %(total)s values") % {
            "filled": len(form.mapping),
            "total": len(VALUES) + len(ROW_VALUES),
        }

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        if obj is None:
            return type("NewOfficialForm", (NewOfficialForm,), {"by": request.user.get_username()})
        return MappingForm

    def get_fieldsets(self, request: HttpRequest, obj: OfficialForm | None = None) -> Any:
        if obj is None:
            return [(None, {"fields": ["file"]})]
        return [
            (None, {"fields": ["file_name", "sha256", "created"]}),
            (_("Values of a drop"), {"fields": list(VALUES)}),
            (_("Rows of the routes"), {"fields": list(ROW_VALUES)}),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: OfficialForm | None = None) -> Any:
        return [] if obj is None else ["file_name", "sha256", "created"]

    def extra_pages(self) -> list[ExtraPage]:
        return [("<int:form_id>/sample.pdf", self.sample_view, "sample")]

    def sample_view(self, request: HttpRequest, form_id: int) -> HttpResponse:
        form = get_object_or_404(self.get_queryset(request), pk=form_id)
        try:
            return pdf_response(
                fill_sample(form=form, by=request.user.get_username()), "ps-form-3587-sample.pdf"
            )
        except DomainError as error:
            messages.error(request, translated(error.message))
            return HttpResponseRedirect(self.address_of(form))

    def save_model(
        self, request: HttpRequest, instance: OfficialForm, form: forms.ModelForm, change: bool
    ) -> None:
        """The upload form's service call has already saved a new one."""
        if isinstance(form, MappingForm):
            map_official_form(form=instance, mapping=form.mapping)

    def response_add(
        self, request: HttpRequest, form: OfficialForm, post_url_continue: str | None = None
    ) -> HttpResponse:
        messages.success(request, _("Form added. Check what each of its fields is filled with."))
        return HttpResponseRedirect(self.address_of(form))


class PostagePriceForm(forms.ModelForm):
    class Meta:
        model = PostagePrice
        fields = ["starts", "per_piece", "note"]
        labels = {"starts": "Valid from", "per_piece": "Price per piece (USD)"}
        help_texts = {
            "starts": "The first day of this price.",
            "per_piece": "At most 4 decimals, as in the Postal Service's price list (Notice 123).",
            "note": "For example, the source of the price.",
        }


@admin.register(PostagePrice)
class PostagePriceAdmin(ConsoleAdmin):
    plural_name = "EDDM postage"
    harmless_pages = ("add", "change", "delete")
    form = PostagePriceForm
    list_display = ["starts", "per_piece", "note"]
    list_display_links = ["starts", "per_piece"]
    search_fields = ["note"]
    search_help_text = "Note"
    add_label = "Add price"
    empty_help = (
        "Add the price of an EDDM Retail piece and its first day. The papers of EDDM orders then show the "
        "postage. The service does not include the Postal Service's prices."
    )

    def save_model(
        self, request: HttpRequest, instance: PostagePrice, form: forms.ModelForm, change: bool
    ) -> None:
        values: dict[str, Any] = {name: form.cleaned_data[name] for name in ("starts", "per_piece", "note")}
        instance.pk = save_postage_price(price=instance if change else None, **values).pk
