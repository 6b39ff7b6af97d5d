"""Numbers, postal codes, routes and polygons in the request for a selection."""

from __future__ import annotations

import re
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from delivery.datasets.arrays import shapely
from delivery.selection.criteria import MAX_CORNERS

CODE = re.compile(r"^[0-9]{5}(-[0-9]{4})?\Z")
MAX_HEIGHT = 1e9
POSITION = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 3}


class StrictNumber(serializers.FloatField):
    default_error_messages = {"invalid": "This must be a number."}

    def to_internal_value(self, data: Any) -> float:
        # Infinity and NaN are not JSON, but some parsers accept them.
        if isinstance(data, bool) or not isinstance(data, int | float) or not abs(data) < 1e15:
            self.fail("invalid")
        return super().to_internal_value(data)


@extend_schema_field({"type": "string", "pattern": CODE.pattern.replace("\\Z", "$")})
class PostalCode(serializers.CharField):
    """Five digits; of a ZIP+4 the first five, because a carrier route has no others."""

    default_error_messages = {"invalid": "This must be a postal code of five digits."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            message = "This must be a string with a postal code of five digits."
            raise serializers.ValidationError(message, code="invalid")
        if not CODE.match(data):
            self.fail("invalid")
        return data[:5]


class RouteCode(serializers.RegexField):
    default_error_messages = {
        "invalid": "This must be a postal code and a carrier route together, as in 84101C001."
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(r"^[0-9]{5}[CRHB][0-9]{3}\Z", **kwargs)


@extend_schema_field(
    {
        "type": "array",
        "minItems": 1,
        "items": {"type": "array", "items": POSITION, "minItems": 4},
        "description": "The outline, then holes in it; up to 1,000 positions in all.",
    }
)
class RingsField(serializers.Field):
    default_error_messages = {
        "invalid": "This must be a list of rings, each a list of [longitude, latitude].",
        "polygon_too_many_corners": "The polygon has {count:,} positions; at most {most:,} are taken. Simplify it.",
        "position_invalid": "Position {at} of ring {ring} must be [longitude, latitude] within ±180 and ±90.",
        "polygon_not_closed": "Ring {ring} must have at least 4 positions, and end where it begins.",
        "polygon_invalid": "The polygon is not valid: {reason}.",
    }

    def to_internal_value(self, data: Any) -> shapely.Polygon:
        if not isinstance(data, list) or not data or not all(isinstance(ring, list) for ring in data):
            self.fail("invalid")
        count = sum(map(len, data))
        if count > MAX_CORNERS:
            self.fail("polygon_too_many_corners", count=count, most=MAX_CORNERS)
        for number, ring in enumerate(data):
            for index, position in enumerate(ring):
                if not _is_position(position):
                    self.fail("position_invalid", at=index, ring=number)
            if len(ring) < 4 or ring[0][:2] != ring[-1][:2]:
                self.fail("polygon_not_closed", ring=number)
        shell, *holes = ([(position[0], position[1]) for position in ring] for ring in data)
        polygon = shapely.Polygon(shell, holes)
        if not polygon.is_valid or polygon.area <= 0:
            self.fail("polygon_invalid", reason=_explain_polygon(polygon))
        return polygon

    def to_representation(self, value: Any) -> Any:
        return value


def _is_position(position: Any) -> bool:
    if not isinstance(position, list) or not 2 <= len(position) <= 3:
        return False
    longitude, latitude = position[:2]
    # A height counts for nothing, but is stored with the request: infinity could not be.
    numbers = all(
        isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < MAX_HEIGHT
        for number in position
    )
    return numbers and -180 <= longitude <= 180 and -90 <= latitude <= 90


def _explain_polygon(polygon: shapely.Polygon) -> str:
    reason = str(shapely.is_valid_reason(polygon))
    kind, _, position = reason.partition("[")
    words = {
        "Self-intersection": "it crosses itself",
        "Ring Self-intersection": "it touches itself",
        "Hole lies outside shell": "a hole lies outside of it",
        "Holes are nested": "a hole lies in another one",
        "Valid Geometry": "it has no area",
        "Too few points in geometry component": "it has no area",
    }.get(kind.strip(), kind.strip().lower())
    return f"{words} near [{position.rstrip(']').strip().replace(' ', ', ')}]" if position else words
