"""Gang sheet settings of a provider; off by default."""

from collections.abc import Mapping, Sequence
from typing import Any

from production.gang_sheets.sheets import Sheet
from production.settings_schema import SettingField, between

OFF = "off"
GANG_SETTINGS: Sequence[SettingField] = (
    SettingField(
        "gang_sheets",
        "Gang sheets",
        "choice",
        default=OFF,
        choices=(
            (OFF, "Off"),
            ("sheetwise", "Sheetwise: a form for each side"),
            ("work_and_turn", "Work and turn: one form for both sides"),
        ),
        help="Jobs of one product, size and preset wait for each other and are sent on shared press sheets.",
    ),
    SettingField(
        "gang_wait",
        "Minutes to wait",
        "integer",
        default=30,
        help="How long the first job of a sheet waits for others. 0: every job is sent alone, and sheets are only for "
        "download.",
        check=between(0, 7 * 24 * 60),
    ),
    SettingField(
        "gang_pieces",
        "Pieces to wait for",
        "integer",
        default=5000,
        help="Once so many pieces are ordered, their sheets go at once.",
        check=between(1, 1_000_000),
    ),
    SettingField("gang_width", "Sheet width in mm", "decimal", default=450.0, check=between(100, 2000)),
    SettingField("gang_height", "Sheet height in mm", "decimal", default=320.0, check=between(100, 2000)),
    SettingField(
        "gang_margin",
        "Sheet margin in mm",
        "decimal",
        default=5.0,
        help="What the press cannot print on.",
        check=between(0, 50),
    ),
    SettingField(
        "gang_gutter",
        "Gutter in mm",
        "decimal",
        default=6.0,
        help="Between two trims; half of it is the bleed that is printed.",
        check=between(0, 50),
    ),
    SettingField(
        "gang_flip",
        "Back of the sheet",
        "choice",
        default="left_right",
        choices=(("left_right", "Turned left to right"), ("top_bottom", "Turned top to bottom")),
    ),
)


def sheet_of(settings: Mapping[str, Any]) -> Sheet | None:
    """The press sheet from a provider's settings."""
    turn = settings.get("gang_sheets", OFF)
    if turn == OFF:
        return None
    return Sheet(
        width_mm=settings["gang_width"],
        height_mm=settings["gang_height"],
        margin_mm=settings["gang_margin"],
        gutter_mm=settings["gang_gutter"],
        turn=turn,
        flip=settings["gang_flip"],
    )
