"""How the body of the API and of the page becomes the criteria of a selection."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from delivery.selection.criteria import (
    MAX_MILES,
    MAX_POSTAL_CODES,
    MAX_ROUTES,
    Center,
    Criteria,
    Range,
    SelectionBudget,
)
from delivery.selection.request_fields import PostalCode, RingsField, RouteCode, StrictNumber
from fulfillment.core.api.serializers import (
    StrictChoice,
    StrictFlag,
    StrictInteger,
    StrictList,
    StrictSerializer,
    StrictText,
)
from fulfillment.core.text import MAX_INTEGER

CUT_SHOWN = 20
RANGE_HELP = "Routes with an unknown value are omitted."


def describe_cut_codes(body: Mapping[str, Any]) -> list[str]:
    """A message for the ZIP+4 codes of a valid request, of which five digits count."""
    codes = [*(body.get("PostalCodes") or ()), (body.get("Center") or {}).get("PostalCode") or ""]
    cut_codes = list(dict.fromkeys(code for code in codes if len(code) > 5))
    ending = f" and {len(cut_codes) - CUT_SHOWN:,} more" if len(cut_codes) > CUT_SHOWN else ""
    names = ", ".join(cut_codes[:CUT_SHOWN])
    return [f"Only the first five digits of {names}{ending} count."] if cut_codes else []


class PolygonSerializer(StrictSerializer):
    """A GeoJSON polygon, longitude before latitude (WGS 84). A route is inside if any part of it is."""

    type = StrictChoice(choices=["Polygon"])
    coordinates = RingsField()


class CenterSerializer(StrictSerializer):
    ignored_nulls = True
    default_error_messages = {"center_invalid": "Give Latitude and Longitude, or PostalCode alone."}

    Latitude = StrictNumber(min_value=-90, max_value=90, required=False)
    Longitude = StrictNumber(min_value=-180, max_value=180, required=False)
    PostalCode = PostalCode(
        required=False,
        help_text=("In place of Latitude and Longitude: the center is the middle of the code's routes."),
    )

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if values.keys() not in ({"Latitude", "Longitude"}, {"PostalCode"}):
            detail = ErrorDetail(self.error_messages["center_invalid"], "center_invalid")
            raise serializers.ValidationError({"non_field_errors": [detail]})
        return values


class RangeSerializer(StrictSerializer):
    ignored_nulls = True
    default_error_messages = {
        "range_invalid": "Min must not be above Max.",
        "range_empty": "Give Min, Max or both.",
    }

    Min = StrictNumber(min_value=0, max_value=1_000_000_000, required=False)
    Max = StrictNumber(min_value=0, max_value=1_000_000_000, required=False)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        code = ""
        if not values:
            code = "range_empty"
        elif values.get("Min", 0) > values.get("Max", float("inf")):
            code = "range_invalid"
        if code:
            detail = ErrorDetail(self.error_messages[code], code)
            raise serializers.ValidationError({"non_field_errors": [detail]})
        return values


class BudgetSerializer(StrictSerializer):
    ignored_nulls = True

    StoreID = StrictText(max_length=64)
    ProductID = StrictText(max_length=64)
    DeliveryMethodCode = StrictText(
        max_length=40, required=False, help_text="Default: the usual one of the product."
    )
    Amount = StrictNumber(min_value=0.01, max_value=1_000_000_000, help_text="In the store's currency.")


class SelectionRequestSerializer(StrictSerializer):
    ignored_nulls = True
    default_error_messages = {
        "area_missing": "Give at least one of PostalCodes, Routes, Polygon and Center.",
        "radius_missing": "RadiusMiles: needed with Center, unless PostalCodes, Routes, Polygon, MaxPieces or Budget "
        "is given.",
        "center_missing": "RadiusMiles: give the Center that it is measured from.",
    }

    PostalCodes = StrictList(
        child=PostalCode(),
        required=False,
        allow_empty=False,
        max_length=MAX_POSTAL_CODES,
        help_text="Routes of these postal codes.",
    )
    Routes = StrictList(
        child=RouteCode(),
        required=False,
        allow_empty=False,
        max_length=MAX_ROUTES,
        help_text="These routes, each a postal code and a carrier route together.",
    )
    Polygon = PolygonSerializer(required=False)
    Center = CenterSerializer(required=False)
    RadiusMiles = StrictNumber(
        min_value=0.01,
        max_value=MAX_MILES,
        required=False,
        help_text=(
            "A route is in the circle if any part of it is. Without a radius but with a limit, the circle "
            "grows around Center (1, 2, 4 … 100 miles) until it holds enough pieces."
        ),
    )
    RouteTypes = StrictList(
        child=StrictChoice(choices=["C", "R", "H", "B"]),
        required=False,
        allow_empty=False,
        max_length=4,
        help_text=(
            "C city, R rural, H highway contract, B PO Box. Default: all types that this service counts."
        ),
    )
    ResidentialOnly = StrictFlag(required=False, help_text="Counts homes only, not businesses.")
    MedianIncome = RangeSerializer(required=False, help_text=f"In dollars. {RANGE_HELP}")
    MedianAge = RangeSerializer(required=False, help_text=f"In years. {RANGE_HELP}")
    HouseholdSize = RangeSerializer(required=False, help_text=f"In persons. {RANGE_HELP}")
    MaxPieces = StrictInteger(
        min_value=1,
        max_value=MAX_INTEGER,
        required=False,
        help_text=(
            "Adds whole routes while they fit: nearest to Center first, or else in the order of their IDs."
        ),
    )
    Budget = BudgetSerializer(required=False, help_text="As many pieces of a product as this amount buys.")

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        places = values.keys() & {"PostalCodes", "Routes", "Polygon", "Center"}
        if "RadiusMiles" in values and "Center" not in values:
            self._refuse("center_missing", "RadiusMiles")
        if not places:
            self._refuse("area_missing", "non_field_errors")
        is_bounded = len(places) > 1 or values.keys() & {"RadiusMiles", "MaxPieces", "Budget"}
        if "Center" in values and not is_bounded:
            self._refuse("radius_missing", "RadiusMiles")
        return values

    def _refuse(self, code: str, name: str) -> None:
        raise serializers.ValidationError({name: [ErrorDetail(self.error_messages[code], code)]})


def criteria_from(values: Mapping[str, Any], body: Mapping[str, Any]) -> Criteria:
    center, budget = values.get("Center"), values.get("Budget")
    return Criteria(
        postal_codes=tuple(dict.fromkeys(values.get("PostalCodes", ()))),
        routes=tuple(dict.fromkeys(values.get("Routes", ()))),
        polygon=values["Polygon"]["coordinates"] if "Polygon" in values else None,
        center=center
        and Center(
            latitude=center.get("Latitude", 0.0),
            longitude=center.get("Longitude", 0.0),
            postal_code=center.get("PostalCode", ""),
        ),
        radius=values.get("RadiusMiles"),
        route_types="".join(dict.fromkeys(values.get("RouteTypes", ()))),
        residential_only=values.get("ResidentialOnly", False),
        income=_read_range(values.get("MedianIncome")),
        age=_read_range(values.get("MedianAge")),
        household=_read_range(values.get("HouseholdSize")),
        max_pieces=values.get("MaxPieces"),
        budget=budget
        and SelectionBudget(
            store_id=budget["StoreID"],
            product_id=budget["ProductID"],
            amount=Decimal(str(budget["Amount"])),
            delivery_method_code=budget.get("DeliveryMethodCode"),
        ),
        body={name: value for name, value in body.items() if value is not None and name != "_meta"},
    )


def _read_range(values: Mapping[str, float] | None) -> Range | None:
    return Range(values.get("Min"), values.get("Max")) if values else None
