"""The form of the mailing page: its values, the resulting API request, and its errors."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict
from rest_framework.exceptions import ValidationError

from delivery.selection.criteria import Criteria
from delivery.selection.request_bodies import SelectionRequestSerializer, criteria_from
from fulfillment.core.api.errors import as_domain_error
from fulfillment.core.api.serializers import validate_data
from fulfillment.core.errors import DomainError, faults_at_fields

WORDS = re.compile(r"[\s,;]+")
RANGES = (("income", "MedianIncome"), ("age", "MedianAge"), ("household", "HouseholdSize"))
TEXTS = (
    *("postal_codes", "center", "radius", "polygon", "added", "most", "product", "amount"),
    *(f"{name}_{end}" for name, _ in RANGES for end in ("min", "max")),
)
# The form fields that show the API's faults of a member.
PLACES = {
    "/PostalCodes": "postal_codes",
    "/Routes": "added",
    "/Polygon": "polygon",
    "/Center": "center",
    "/RadiusMiles": "radius",
    "/RouteTypes": "types",
    "/MaxPieces": "most",
    "/Budget": "amount",
    **{f"/{member}": f"{name}_min" for name, member in RANGES},
}
COORDINATES = re.compile(r"(-?[0-9.]+)[ ,]+(-?[0-9.]+)")


@dataclass
class MailingForm:
    """`values` are as written; `body` is the request without the routes that are named beside the area."""

    values: dict[str, str]
    types: list[str]
    residential_only: bool
    errors: dict[str, list[str]] = field(default_factory=dict)

    @property
    def added(self) -> list[str]:
        return [word.upper().replace("-", "") for word in WORDS.split(self.values["added"]) if word]

    @property
    def has_area(self) -> bool:
        return any(self.values[name].strip() for name in ("postal_codes", "center", "polygon"))

    @property
    def body(self) -> dict[str, Any]:
        values = {name: text.strip() for name, text in self.values.items()}
        body: dict[str, Any] = {}
        if values["postal_codes"]:
            body["PostalCodes"] = [word for word in WORDS.split(values["postal_codes"]) if word]
        if values["polygon"]:
            body["Polygon"] = _read_json(values["polygon"])
        if values["center"]:
            body["Center"] = _read_center(values["center"])
        if values["radius"] and values["center"]:
            body["RadiusMiles"] = _read_number(values["radius"])
        for name, member in RANGES:
            limits = {
                end.title(): _read_number(values[f"{name}_{end}"])
                for end in ("min", "max")
                if values[f"{name}_{end}"]
            }
            if limits:
                body[member] = limits
        if values["most"]:
            body["MaxPieces"] = _read_number(values["most"])
        if values["amount"] and values["product"]:
            store, _, product = values["product"].partition("/")
            body["Budget"] = {
                "StoreID": store,
                "ProductID": product,
                "Amount": _read_number(values["amount"]),
            }
        return {**body, **self.shared}

    @property
    def shared(self) -> dict[str, Any]:
        """The criteria that also apply to named routes."""
        shared: dict[str, Any] = {"ResidentialOnly": True} if self.residential_only else {}
        if self.types:
            shared["RouteTypes"] = self.types
        return shared

    def criteria(self, body: Mapping[str, Any]) -> Criteria | None:
        try:
            return criteria_from(validate_data(SelectionRequestSerializer, body), body)
        except ValidationError as error:
            self.fail(as_domain_error(error))
            return None

    def fail(self, error: DomainError) -> None:
        messages_by_field, other_messages = faults_at_fields(error, PLACES)
        for name, messages in {**messages_by_field, "form": other_messages}.items():
            if messages:
                self.errors.setdefault(name, []).extend(messages)


def read_form(data: QueryDict, route_types: str) -> MailingForm:
    """`route_types` are those of the data set; choosing all of them is the same as choosing none."""
    types = [letter for letter in route_types if letter in data.getlist("types")]
    values = {name: data.get(name, "")[:100_000] for name in TEXTS}
    # The name of the input on pages that were opened before an update.
    values["center"] = values["center"] or data.get("centre", "")[:100_000]
    return MailingForm(
        values,
        [] if len(types) == len(route_types) else types,
        data.get("residential_only") == "on",
    )


def form_of(body: Mapping[str, Any]) -> MailingForm:
    """The form filled with the request of an earlier selection."""
    values = dict.fromkeys(TEXTS, "")
    values["postal_codes"] = " ".join(body.get("PostalCodes", ()))
    values["added"] = " ".join(body.get("Routes", ()))
    values["polygon"] = json.dumps(body["Polygon"]) if "Polygon" in body else ""
    center = body.get("Center") or {}
    if center:
        values["center"] = center.get("PostalCode") or f"{center.get('Latitude')}, {center.get('Longitude')}"
    values["radius"], values["most"] = str(body.get("RadiusMiles", "")), str(body.get("MaxPieces", ""))
    for name, member in RANGES:
        for end in ("min", "max"):
            values[f"{name}_{end}"] = str((body.get(member) or {}).get(end.title(), ""))
    budget = body.get("Budget") or {}
    if budget:
        values["product"] = f"{budget['StoreID']}/{budget['ProductID']}"
        values["amount"] = str(budget["Amount"])
    return MailingForm(values, list(body.get("RouteTypes", ())), bool(body.get("ResidentialOnly")))


def _read_json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text


def _read_center(text: str) -> dict[str, Any]:
    match = COORDINATES.fullmatch(text)
    if match:
        return {"Latitude": _read_number(match[1]), "Longitude": _read_number(match[2])}
    return {"PostalCode": text}


def _read_number(text: str) -> Any:
    plain = text.replace(",", "").replace("$", "")
    for kind in (int, float):
        try:
            return kind(plain)
        except ValueError:
            continue
    return text
