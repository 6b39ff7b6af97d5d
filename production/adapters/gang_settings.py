"""Gang sheet settings of a provider; off by default."""

from collections.abc import Mapping
from typing import Any

from django import forms

from printing.imposition.sheets import PressSheet
from production.settings_form import SettingsForm, between

OFF = "off"


class GangSettings(SettingsForm):
    gang_sheets = forms.ChoiceField(
        label="Gang sheets",
        initial=OFF,
        choices=(
            (OFF, "Off"),
            ("sheetwise", "Sheetwise: a form for each side"),
            ("work_and_turn", "Work and turn: one form for both sides, turned left to right"),
            ("work_and_tumble", "Work and tumble: one form for both sides, turned top to bottom"),
        ),
        help_text="Jobs of one product, size and preset wait for each other and are sent on shared press sheets.",
    )
    gang_wait = forms.IntegerField(
        label="Minutes to wait",
        initial=30,
        help_text="How long the first job of a sheet waits for others. 0: every job is sent alone, and you "
        "can only download sheets.",
        validators=[between(0, 7 * 24 * 60)],
    )
    gang_pieces = forms.IntegerField(
        label="Pieces to wait for",
        initial=5000,
        help_text="Once this many pieces are ordered, their sheets are sent immediately.",
        validators=[between(1, 1_000_000)],
    )
    gang_width = forms.FloatField(
        label="Sheet width in mm",
        initial=450.0,
        help_text="Common sheets, width by height in mm: SRA3 450 x 320, 12 x 18 in (457 x 305), 13 x 19 in "
        "(483 x 330), 14 x 20 in (508 x 356). A 4 x 6 in postcard fits 9 times on the last one, 4 times on the others.",
        validators=[between(100, 2000)],
    )
    gang_height = forms.FloatField(label="Sheet height in mm", initial=320.0, validators=[between(100, 2000)])
    gang_margin = forms.FloatField(
        label="Sheet margin in mm",
        initial=5.0,
        help_text="The edge that the press cannot print on.",
        validators=[between(0, 50)],
    )
    gang_gutter = forms.FloatField(
        label="Gutter in mm",
        initial=6.0,
        help_text="The space between two trims. Half of it is printed bleed.",
        validators=[between(0, 50)],
    )
    gang_gripper = forms.FloatField(
        label="Gripper edge in mm",
        initial=0.0,
        required=False,
        help_text="At the bottom of the sheet, if it is larger than the margin.",
        validators=[between(0, 50)],
    )
    gang_overs_percent = forms.FloatField(
        label="Overs in percent",
        initial=0.0,
        required=False,
        help_text="Sheets more than the run, for setting up.",
        validators=[between(0, 100)],
    )
    gang_overs_least = forms.IntegerField(
        label="Overs at least", initial=0, required=False, help_text="Sheets.", validators=[between(0, 1000)]
    )
    gang_flip = forms.ChoiceField(
        label="Back of the sheet",
        initial="left_right",
        help_text="For sheetwise sheets. Choose how the press or its driver turns them.",
        choices=(("left_right", "Turned left to right"), ("top_bottom", "Turned top to bottom")),
    )


def press_sheet(settings: Mapping[str, Any]) -> PressSheet | None:
    """The press sheet from a provider's settings."""
    turn = settings.get("gang_sheets", OFF)
    if turn == OFF:
        return None
    return PressSheet(
        width_mm=settings["gang_width"],
        height_mm=settings["gang_height"],
        margin_mm=settings["gang_margin"],
        gutter_mm=settings["gang_gutter"],
        turn=turn,
        flip=settings["gang_flip"],
        gripper_mm=settings.get("gang_gripper") or 0.0,
        overs_percent=settings.get("gang_overs_percent") or 0.0,
        overs_least=settings.get("gang_overs_least") or 0,
    )
