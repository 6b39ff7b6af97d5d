"""The console's reduced copy of django-unfold's icon font (`tests.tools.console_icons`)."""

from fontTools.ttLib import TTFont

from fulfillment.core.plugins import offered_values
from tests.tools import console_icons as icons


def test_font_has_every_icon_of_pages_and_menu():
    menu = {entry.icon for entries in offered_values("console", "NAVIGATION") for entry in entries}
    drawn = icons.ligatures(TTFont(icons.FONT_COPY))

    # Of a template, of the menu, of a script of the designer, and of the style sheet: the mark of an error.
    assert {"search", "format_align_left", "warning", "calendar_today"} | menu <= drawn
    assert icons.icon_names() - drawn == set()
    assert icons.FONT_COPY.stat().st_size < 30_000
