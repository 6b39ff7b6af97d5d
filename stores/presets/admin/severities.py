"""The severities of preflight rules in a form: one choice for each rule, its own severity unless another is chosen."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from printing.preflight.table import RULES, Rule
from printing.press.rules import ColourPolicy
from stores.presets.services.presets import SEVERITIES

POLICIES = (ColourPolicy.CMYK, ColourPolicy.MANAGED)


class SeveritiesWidget(forms.Widget):
    template_name = "admin/stores/severities.html"
    use_fieldset = True

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        chosen = value if isinstance(value, Mapping) else {}
        rows = [_row(name, rule, str(chosen.get(rule.code, ""))) for rule in RULES]
        return render_to_string(self.template_name, {"rows": rows})

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> dict[str, str]:
        chosen = {rule.code: data.get(f"{name}-{rule.code}", "") for rule in RULES}
        return {code: severity for code, severity in chosen.items() if severity}

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return not any(f"{name}-{rule.code}" in data for rule in RULES)


class SeveritiesField(forms.Field):
    """Codes of no rule of this release, which a catalog file may have brought, stay as they are."""

    widget = SeveritiesWidget

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "required": False})

    def clean(self, value: Any) -> dict[str, str]:
        known = {rule.code for rule in RULES}
        kept = {code: severity for code, severity in (self.initial or {}).items() if code not in known}
        return {**kept, **(value or {})}

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.clean(initial) != self.clean(data)


def _row(name: str, rule: Rule, value: str) -> dict[str, Any]:
    usual = {str(rule.severities[policy] or "Off") for policy in POLICIES}
    own = (
        usual.pop() if len(usual) == 1 else " / ".join(str(rule.severities[one] or "Off") for one in POLICIES)
    )
    return {
        "name": f"{name}-{rule.code}",
        "title": rule.code.replace("_", " ").capitalize(),
        "about": rule.message,
        "value": value,
        "choices": [("", f"Default ({own})"), *((one, one) for one in SEVERITIES)],
    }
