"""The settings of a hot folder, as a form shows them."""

import re
from pathlib import Path

from django import forms
from django.conf import settings

from production.adapters.file_names import TicketSettings
from production.adapters.gang_settings import GangSettings
from production.settings_form import Text

PLACEHOLDERS = ("number", "order", "item", "product", "sku", "store", "quantity")


def _absolute(value: str) -> str | None:
    if not (value.startswith("/") and ".." not in Path(value).parts):
        return "Enter the full path, such as /srv/press/in."
    return None


def _pattern(value: str) -> str | None:
    used = re.findall(r"\{([^{}]*)\}", value)
    if unknown := [name for name in used if name not in PLACEHOLDERS]:
        return f"{{{unknown[0]}}} is unknown; use {', '.join(f'{{{name}}}' for name in PLACEHOLDERS)}."
    if "number" not in used:
        return "Include {number}: only the job number makes names unique."
    if re.search(r"[{}]", re.sub(r"\{[^{}]*\}", "", value)) or "/" in value:
        return "Use letters, digits, . _ - and placeholders such as {number} only."
    return None


class FolderSettings(TicketSettings, GangSettings):
    folder = Text(
        _absolute,
        label="Hot folder",
        help_text="The folder that the press takes jobs from: the full path on this server.",
    )
    return_folder = Text(
        _absolute,
        label="Return folder",
        required=False,
        help_text="Where the press puts reports and moves finished files. Empty: no reports.",
    )
    layout = forms.ChoiceField(
        label="Layout",
        initial="folders",
        choices=(("folders", "One folder for each job"), ("flat", "All files in one folder")),
    )
    name_pattern = Text(
        _pattern,
        label="Names",
        initial="{number}",
        help_text="Of the files or folders of a job, from {number}, {order}, {item}, {product}, {sku}, {store}, "
        "{quantity}.",
    )
    taken = forms.ChoiceField(
        label="When the press takes a job",
        initial="Acknowledged",
        choices=(
            ("Acknowledged", "Mark it as acknowledged"),
            ("InProduction", "Mark it as in production"),
            ("none", "Wait for a report"),
        ),
    )
    field_order = ("folder", "return_folder", "layout", "name_pattern", "tickets", "taken")

    def check_saved(self) -> None:
        """Requires hot folders below PRODUCTION_FOLDERS, so that no other files can be overwritten."""
        roots = [Path(root).resolve() for root in settings.PRODUCTION_FOLDERS]
        places = {name: self.cleaned_data.get(name, "") for name in ("folder", "return_folder")}
        for name, place in places.items():
            if place and not any(Path(place).resolve().is_relative_to(root) for root in roots):
                allowed = ", ".join(str(root) for root in roots) or "none"
                self.add_error(name, f"{place} is outside of the folders of PRODUCTION_FOLDERS: {allowed}.")
        if places["return_folder"] and places["return_folder"] == places["folder"]:
            self.add_error("return_folder", "The return folder must be another folder.")
