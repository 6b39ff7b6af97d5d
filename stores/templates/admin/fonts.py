from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from unfold.widgets import UnfoldAdminFileFieldWidget

from fulfillment.core.admin.base import ConsoleAdmin
from fulfillment.core.errors import DomainError
from stores.templates.admin.specimens import shipped_families, specimen_view
from stores.templates.models import Font
from stores.templates.services.fonts import add_font, remove_font
from stores.typesetting import FontSet
from stores.typesetting.fonts import FONT_BYTES


class FontForm(forms.ModelForm):
    file = forms.FileField(
        widget=UnfoldAdminFileFieldWidget,
        help_text=f"TrueType or OpenType, at most {FONT_BYTES // 1_000_000} MB. Mind its licence.",
    )

    class Meta:
        model = Font
        fields: list[str] = []

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > FONT_BYTES:
            raise forms.ValidationError(f"A font file has at most {FONT_BYTES:,} bytes.")
        try:
            # The service checks and saves the file.
            self.instance = add_font(file_name=file.name, content=file.read())
        except DomainError as error:
            raise forms.ValidationError(error.message) from error
        return file


@admin.register(Font)
class FontAdmin(ConsoleAdmin):
    form = FontForm
    list_display = ["families", "file_name", "size", "created"]
    search_fields = ["families", "file_name"]
    search_help_text = "Family or file"
    empty_help = "Add a font file, and templates can use its families as well."
    list_before_template = "admin/stores/fonts_before.html"

    def get_urls(self) -> list[URLPattern]:
        own = path(
            "specimen/<str:family>.png",
            self.admin_site.admin_view(specimen_view),
            name="stores_font_specimen",
        )
        return [own, *super().get_urls()]

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

    def has_change_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return False

    def delete_model(self, request: HttpRequest, instance: Font) -> None:
        try:
            remove_font(font=instance)
        except DomainError as error:
            messages.error(request, error.message)

    def response_delete(self, request: HttpRequest, display: str, object_id: Any) -> HttpResponse:
        if Font.objects.filter(pk=object_id).exists():
            return HttpResponseRedirect(reverse("admin:stores_font_changelist"))
        return super().response_delete(request, display, object_id)

    def delete_queryset(self, request: HttpRequest, fonts: Any) -> None:
        for font in fonts:
            self.delete_model(request, font)
