from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from fulfillment.core.admin.read_only import register_history
from fulfillment.core.admin.removal import RemovedByService
from stores.presets.admin.severities import SeveritiesField
from stores.presets.models import PrintPreset
from stores.presets.services.presets import remove_preset, severity_faults


class PrintPresetForm(forms.ModelForm):
    severities = SeveritiesField(
        help_text="An error rejects the order, a warning is only shown. Defaults: with CMYK / with unchanged colours."
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
class PrintPresetAdmin(RemovedByService):
    """Settings for the print files of the products that use the preset; existing print files do not change."""

    harmless_pages = ("add", "change", "delete")
    form = PrintPresetForm
    list_display = ["name", "code", "colours", "profile", "highest_ink", "updated"]
    list_select_related = ["profile"]
    list_filter = ["policy"]
    search_fields = ["name", "code"]
    search_help_text = "Name or preset ID"
    empty_help = (
        "Products without a preset print by the built-in one: PDF/X-4, colours of the source with their profiles. "
        "Add a preset for what a printer requires."
    )
    help_texts = {
        "code": "Products and catalog files refer to the preset by this ID. It cannot be changed later.",
        "bleed_mm": "The bleed that the printer requires around the trim. Empty: the bleed of each template.",
        "safe_mm": "The distance that text keeps from the trim.",
        "lowest_ppi": "The lowest resolution of a picture at its printed size.",
    }
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

    def remove(self, record: PrintPreset) -> None:
        remove_preset(preset=record)


register_history(PrintPreset, "code", "name", search=["code", "name"], search_help="Preset ID or name")
