"""Areas on a page, in millimetres from the upper left corner of its trim."""

import math

from printing.area import Area, enclosing
from printing.typesetting import SetText
from printing.typesetting.template import Box, Page

# Smaller differences are invisible in print.
SLACK_MM = 0.05
MM_OF_POINT = 25.4 / 72
SIDES = ("left", "top", "right", "bottom")


def trim_area(page: Page) -> Area:
    return Area(0.0, 0.0, page.width, page.height)


def frame(box: Box) -> Area:
    """The area before the box is turned."""
    return Area(box.x, box.y, box.width, box.height)


def box_area(box: Box) -> Area:
    return rotated_area(box, frame(box))


def text_area(box: Box, text: SetText) -> Area:
    """The area of a box's text, as layout.typ places it."""
    x = {"left": 0.0, "center": (box.width - text.width) / 2, "right": box.width - text.width}[box.align]
    free_height = box.height - text.height
    y = {"top": 0.0, "middle": free_height / 2, "bottom": free_height}[box.vertical_align]
    area = Area(box.x + x, box.y + y, text.width, text.height)
    if box.fit == "clip":
        area = _cut_area(area, frame(box))
    return rotated_area(box, area)


def picture_area(box: Box, size: tuple[float, float]) -> Area:
    """The area of a picture; with `contain` it is smaller than the box."""
    area = frame(box)
    if box.fit == "contain" and min(size) > 0:
        scale = min(box.width / size[0], box.height / size[1])
        width, height = size[0] * scale, size[1] * scale
        area = Area(box.x + (box.width - width) / 2, box.y + (box.height - height) / 2, width, height)
    return rotated_area(box, area)


def rotated_area(box: Box, area: Area) -> Area:
    """The bounding area of a part of a box after the box is rotated around its center."""
    if not box.rotation % 360:
        return area
    angle = math.radians(box.rotation)
    cos, sin = math.cos(angle), math.sin(angle)
    x0, y0 = box.x + box.width / 2, box.y + box.height / 2
    corners = [(x, y) for x in (area.x, area.right) for y in (area.y, area.bottom)]
    return enclosing(
        (x0 + (x - x0) * cos - (y - y0) * sin, y0 + (x - x0) * sin + (y - y0) * cos) for x, y in corners
    )


def _cut_area(area: Area, by: Area) -> Area:
    x, y = max(area.x, by.x), max(area.y, by.y)
    width, height = min(area.right, by.right) - x, min(area.bottom, by.bottom) - y
    return Area(x, y, max(width, 0.0), max(height, 0.0))
