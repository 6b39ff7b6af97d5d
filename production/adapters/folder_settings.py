"""The settings of a hot folder, as a form shows them."""

import re
from collections.abc import Sequence
from pathlib import Path

from production.adapters.file_names import TICKETS
from production.gang_sheets.settings import GANG_SETTINGS
from production.settings_schema import SettingField

PLACEHOLDERS = ("number", "order", "item", "product", "sku", "store", "quantity")


def _absolute(value: str) -> str | None:
    if value and not (value.startswith("/") and ".." not in Path(value).parts):
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


SETTINGS: Sequence[SettingField] = (
    SettingField(
        "folder",
        "Hot folder",
        help="The folder that the press takes jobs from: the full path on this server.",
        check=_absolute,
    ),
    SettingField(
        "return_folder",
        "Return folder",
        required=False,
        help="Where the press puts reports and moves finished files. Empty: no reports.",
        check=_absolute,
    ),
    SettingField(
        "layout",
        "Layout",
        "choice",
        default="folders",
        choices=(("folders", "One folder for each job"), ("flat", "All files in one folder")),
    ),
    SettingField(
        "name_pattern",
        "Names",
        default="{number}",
        help="Of the files or folders of a job, from {number}, {order}, {item}, {product}, {sku}, {store}, {quantity}.",
        check=_pattern,
    ),
    TICKETS,
    SettingField(
        "taken",
        "When the press takes a job",
        "choice",
        default="Acknowledged",
        choices=(
            ("Acknowledged", "Mark it as acknowledged"),
            ("InProduction", "Mark it as in production"),
            ("none", "Wait for a report"),
        ),
    ),
    *GANG_SETTINGS,
)
