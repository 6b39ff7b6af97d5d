from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from unfold.widgets import UnfoldAdminFileFieldWidget

from fulfillment.core.admin.base import OwnPage
from fulfillment.core.admin.read_only import register_history
from fulfillment.core.admin.removal import RemovedByService
from fulfillment.core.errors import DomainError
from printing.typesetting import FontSet
from printing.typesetting.fonts import FONT_BYTES
from stores.templates.admin.specimens import shipped_families, specimen_view
from stores.templates.models import Font
from stores.templates.services.fonts import add_font, remove_font


class FontForm(forms.ModelForm):
    file = forms.FileField(
        widget=UnfoldAdminFileFieldWidget,
        help_text=f"TrueType or OpenType, at most {FONT_BYTES // 1_000_000} MB. Check its licence.",
    )

    class Meta:
        model = Font
        fields: list[str] = []

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > FONT_BYTES:
            raise forms.ValidationError(f"The file is larger than {FONT_BYTES // 1_000_000} MB.")
        try:
            # The service checks and saves the file.
            self.instance = add_font(file_name=file.name, content=file.read())
        except DomainError as error:
            raise forms.ValidationError(error.message) from error
        return file


@admin.register(Font)
class FontAdmin(RemovedByService):
    harmless_pages = ("add", "change", "delete")
    forbidden = ("change",)
    form = FontForm
    list_display = ["families", "file_name", "size", "created"]
    search_fields = ["families", "file_name"]
    search_help_text = "Family or file"
    empty_help = "Add a font file to use its families in templates."
    list_before_template = "admin/stores/fonts_before.html"

    def own_pages(self) -> list[OwnPage]:
        return [("specimen/<str:family>.png", specimen_view, "specimen")]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        shipped = {"shipped_families": shipped_families(), "script_count": len(FontSet.shipped().fallbacks)}
        answer: HttpResponse = super().changelist_view(request, {**(extra_context or {}), **shipped})
        return answer

    def save_model(self, request: HttpRequest, instance: Font, form: forms.ModelForm, change: bool) -> None:
        """The form's service call has saved it."""

    def get_fields(self, request: HttpRequest, font: Font | None = None) -> Any:
        return ["file"] if font is None else ["families", "file_name", "size", "sha256", "created"]

    def remove(self, record: Font) -> None:
        remove_font(font=record)


register_history(Font, "file_name", "families", search=["file_name"], search_help="File")
