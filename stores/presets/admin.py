"""Presets and output profiles; a preset's form has one choice for each preflight rule."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from fulfillment.core.admin.read_only import LimitedUploadAdmin, ServiceDeleteAdmin, ServiceUploadForm
from fulfillment.core.recorded_texts import translated
from printing.preflight import RULES
from printing.preflight.rules.rule import Rule
from printing.press.profiles import PROFILE_BYTES
from printing.press.rules import BUILT_IN_CODE, ColorPolicy
from stores.presets.models import OutputProfile, PrintPreset
from stores.presets.services import SEVERITIES, add_profile, remove_preset, remove_profile, severity_faults

POLICIES = (ColorPolicy.CMYK, ColorPolicy.MANAGED)


class SeveritiesWidget(forms.Widget):
    template_name = "admin/stores/severities.html"
    use_fieldset = True

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        severities = value if isinstance(value, Mapping) else {}
        rows = [_row(name, rule, str(severities.get(rule.code, ""))) for rule in RULES]
        changed = sum(bool(row["value"]) for row in rows)
        return render_to_string(self.template_name, {"rows": rows, "changed": changed})

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> dict[str, str]:
        severities = {rule.code: data.get(f"{name}-{rule.code}", "") for rule in RULES}
        return {code: severity for code, severity in severities.items() if severity}

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return not any(f"{name}-{rule.code}" in data for rule in RULES)


class SeveritiesField(forms.Field):
    """Codes of no rule of this release, which a catalog file may have brought, stay as they are."""

    widget = SeveritiesWidget

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "required": False})

    def clean(self, value: Any) -> dict[str, str]:
        rule_codes = {rule.code for rule in RULES}
        unknown = {
            code: severity for code, severity in (self.initial or {}).items() if code not in rule_codes
        }
        return {**unknown, **(value or {})}

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.clean(initial) != self.clean(data)


def _row(name: str, rule: Rule, value: str) -> dict[str, Any]:
    # One where both policies have the same.
    usual = dict.fromkeys(_(str(rule.severities[policy] or "Off")) for policy in POLICIES)
    severity = " / ".join(usual)
    if rule.of_pdf:
        severity = _("%(usual)s; %(severity)s of a PDF") % {"usual": severity, "severity": _(rule.of_pdf)}
    return {
        "name": f"{name}-{rule.code}",
        "code": rule.code,
        "title": translated(rule.message),
        "value": value,
        "choices": [
            ("", _("Default (%(severity)s)") % {"severity": severity}),
            *((choice, _(choice)) for choice in SEVERITIES),
        ],
    }


class PrintPresetForm(forms.ModelForm):
    severities = SeveritiesField(
        help_text=gettext_lazy(
            "An error rejects the order, a warning is only shown. Defaults: with CMYK / with unchanged colors."
        )
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["severities"].initial = self.instance.severities

    def clean_code(self) -> Any:
        if self.cleaned_data["code"] == BUILT_IN_CODE:
            raise forms.ValidationError(_("This is the ID of the built-in preset. Choose another one."))
        return self.cleaned_data["code"]

    def clean_severities(self) -> Any:
        severities = self.cleaned_data["severities"] or {}
        if faults := severity_faults(severities):
            raise forms.ValidationError([translated(fault.message) for fault in faults])
        return severities


@admin.register(PrintPreset)
class PrintPresetAdmin(ServiceDeleteAdmin):
    """Settings for the print files of the products that use the preset; existing print files do not change."""

    harmless_pages = ("add", "change", "delete")
    form = PrintPresetForm
    list_display = ["name", "code", "colors", "profile", "highest_ink", "updated"]
    list_select_related = ["profile"]
    list_filter = ["policy"]
    search_fields = ["name", "code"]
    search_help_text = "Name or preset ID"
    empty_help = (
        "Products without a preset print by the built-in one: PDF/X-4, everything in CMYK, black text on the K plate. "
        "Add a preset for what a printer requires."
    )
    fieldsets = [
        (None, {"fields": ["code", "name"]}),
        (
            "Colors",
            {"fields": ["standard", "policy", "profile", "keeps_overprint", "highest_ink", "lowest_ppi"]},
        ),
        ("Page", {"fields": ["bleed_mm", "safe_mm", "marks", "slug"]}),
        ("Preflight", {"fields": ["severities"]}),
    ]

    @admin.display(description="colors", ordering="policy")
    def colors(self, preset: PrintPreset) -> str:
        return preset.get_policy_display().partition(":")[0]

    def get_readonly_fields(self, request: HttpRequest, preset: PrintPreset | None = None) -> list[str]:
        return ["code"] if preset else []

    def remove(self, record: PrintPreset) -> None:
        remove_preset(preset=record)


class OutputProfileForm(ServiceUploadForm):
    help_text = gettext_lazy(
        "An ICC output profile (class prtr) for CMYK, at most {max_megabytes} MB. It is "
        "embedded in every print file: check its license."
    )
    max_bytes = PROFILE_BYTES

    class Meta:
        model = OutputProfile
        fields: list[str] = []

    def add_file(self, file_name: str, content: bytes) -> OutputProfile:
        return add_profile(file_name=file_name, content=content)


@admin.register(OutputProfile)
class OutputProfileAdmin(LimitedUploadAdmin, ServiceDeleteAdmin):
    harmless_pages = ("add", "change", "delete")
    forbidden = ("change",)
    form = OutputProfileForm
    list_display = ["description", "file_name", "size", "created"]
    search_fields = ["description", "file_name"]
    search_help_text = "Profile or file"
    empty_help = "ISO Coated v2 300% comes with the service. Add the ICC profile of another paper or press."

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer("content")

    def get_fields(self, request: HttpRequest, profile: OutputProfile | None = None) -> Any:
        return ["file"] if profile is None else ["description", "file_name", "size", "sha256", "created"]

    def remove(self, record: OutputProfile) -> None:
        remove_profile(profile=record)
