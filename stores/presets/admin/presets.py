from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from fulfillment.core.admin.base import ConsoleAdmin
from fulfillment.core.errors import DomainError
from stores.presets.admin.severities import SeveritiesField
from stores.presets.models import PrintPreset
from stores.presets.services.presets import remove_preset, severity_faults


class PrintPresetForm(forms.ModelForm):
    severities = SeveritiesField(
        help_text="An error refuses the order, a warning is shown. As usual: with CMYK / with colours as they are."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["severities"].initial = self.instance.severities

    def clean_severities(self) -> Any:
        severities = self.cleaned_data["severities"] or {}
        if faults := severity_faults(severities):
            raise forms.ValidationError([fault.message for fault in faults])
        return severities


@admin.register(PrintPreset)
class PrintPresetAdmin(ConsoleAdmin):
    """Settings for the print files of the products that use the preset; existing print files do not change."""

    form = PrintPresetForm
    list_display = ["name", "code", "colours", "profile", "highest_ink", "lowest_ppi", "updated"]
    list_select_related = ["profile"]
    list_filter = ["policy"]
    search_fields = ["name", "code"]
    search_help_text = "Name or preset ID"
    empty_help = (
        "Products without a preset print by the built-in one: PDF/X-4, colours of the source with their profiles. "
        "Add a preset for what a printer asks for."
    )
    fieldsets = [
        (None, {"fields": ["code", "name"]}),
        ("Colours", {"fields": ["standard", "policy", "profile", "highest_ink", "lowest_ppi"]}),
        ("Page", {"fields": ["bleed_mm", "safe_mm", "marks", "slug"]}),
        ("Preflight", {"fields": ["severities"]}),
    ]

    @admin.display(description="colours", ordering="policy")
    def colours(self, preset: PrintPreset) -> str:
        return preset.get_policy_display().partition(":")[0]

    def get_readonly_fields(self, request: HttpRequest, preset: PrintPreset | None = None) -> list[str]:
        return ["code"] if preset else []

    def delete_model(self, request: HttpRequest, instance: PrintPreset) -> None:
        try:
            remove_preset(preset=instance)
        except DomainError as error:
            messages.error(request, error.message)

    def response_delete(self, request: HttpRequest, display: str, object_id: Any) -> HttpResponse:
        if PrintPreset.objects.filter(pk=object_id).exists():
            return HttpResponseRedirect(reverse("admin:stores_printpreset_changelist"))
        return super().response_delete(request, display, object_id)

    def delete_queryset(self, request: HttpRequest, presets: Any) -> None:
        for preset in presets:
            self.delete_model(request, preset)
