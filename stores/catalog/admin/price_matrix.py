"""Delivered prices of a product as a table: a column for each delivery method, a row for each country and location."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from fulfillment.core.errors import Fault
from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import JsonObject, parse_number
from stores.catalog.admin.delivery_methods import match_method, method_context, read_method, warn_of_typo
from stores.catalog.countries import COUNTRIES
from stores.catalog.models import LocationType
from stores.catalog.records.record_checks import price_key

# A form has at most 2,000 inputs; larger tables are changed by a catalog file.
MAX_CELLS = 1500
REPEATED = gettext_lazy("This delivery method, country and location occur twice.")
UNUSED = gettext_lazy("No price: enter one, or remove this row or column.")


@dataclass
class Method:
    number: int
    code: str = ""
    description: str = ""
    is_spare: bool = False
    choice: dict[str, Any] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"prices-m{self.number}-code"


@dataclass
class Destination:
    number: int
    country: str = ""
    location: str = LocationType.COMMERCIAL.value
    is_spare: bool = False
    cells: list["PriceCell"] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"prices-p{self.number}-country"


@dataclass
class PriceCell:
    method: Method
    destination: Destination
    price: str = ""
    is_default: bool = False
    errors: list[str] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str, str]:
        return self.method.code, self.destination.country, self.destination.location

    @property
    def value(self) -> str:
        return f"{self.method.number}-{self.destination.number}"

    @property
    def name(self) -> str:
        return f"prices-{self.value}"


class PriceMatrix:
    """Built from the stored prices or, with `data`, from a submitted form. An empty cell has no price."""

    def __init__(self, stored: Sequence[JsonObject], known_methods: Sequence[str], data: Any = None) -> None:
        self.stored, self.known_methods = stored, known_methods
        self.methods, self.destinations = _stored_matrix(stored)
        self.is_too_large = len(self.methods) * len(self.destinations) > MAX_CELLS
        if data is not None and not self.is_too_large:
            self.methods, self.destinations = _sent_matrix(data)
        self.is_confirmed = data is not None and "prices-confirmed" in data
        self.needs_confirmation = False
        self._add_spare()
        for method in self.methods:
            method.code = match_method(method.code, known_methods)
            method.choice = method_context(method.code, known_methods)

    @property
    def countries(self) -> list[tuple[str, str]]:
        """The countries, those with prices first."""
        used = list(
            dict.fromkeys(destination.country for destination in self.destinations if destination.country)
        )
        by_name = sorted(COUNTRIES.items(), key=lambda country: country[1])
        return [
            *((code, COUNTRIES.get(code, code)) for code in used),
            *(c for c in by_name if c[0] not in used),
        ]

    @property
    def locations(self) -> list[str]:
        return LocationType.values

    @cached_property
    def cells(self) -> list[PriceCell]:
        """The cells with a price: stored ones in their stored order, then new ones in the order of the table."""
        filled = [cell for destination in self.destinations for cell in destination.cells if cell.price]
        order = {price_key(price): number for number, price in enumerate(self.stored)}
        return sorted(filled, key=lambda cell: order.get(cell.key, len(order)))

    def records(self) -> list[JsonObject]:
        if self.is_too_large:
            return [_without_date(price) for price in self.stored]
        return [self._record(cell) for cell in self.cells]

    @property
    def has_changed(self) -> bool:
        return self.records() != [_without_date(price) for price in self.stored]

    def check(self) -> None:
        """Checks what only the form knows: columns and rows that would be lost, new codes similar to existing ones."""
        filled = {(cell.method.number, cell.destination.number) for cell in self.cells}
        for method in self.methods:
            if method.code and not any(number == method.number for number, _ in filled):
                method.errors.append(str(UNUSED))
            elif message := warn_of_typo(method.code, self.known_methods, is_confirmed=self.is_confirmed):
                method.errors.append(message)
                self.needs_confirmation = True
        for destination in self.destinations:
            if destination.country and not any(number == destination.number for _, number in filled):
                destination.errors.append(str(UNUSED))

    def show(self, fault: Fault) -> None:
        """Shows a fault of /DeliveredPrices at the cell, row or column it is about."""
        _, _, number, *member = fault.pointer.split("/")
        cell = self.cells[int(number)]
        name = member[0] if member else ""
        message = translated(fault.message).removeprefix(f"{name}: ")
        message = message[:1].upper() + message[1:]
        if name in {"DeliveryMethodCode", "Description"}:
            _add_error(cell.method.errors, message)
        elif name in {"Country", "CountryCode", "LocationType"}:
            _add_error(
                cell.destination.errors,
                gettext("Choose a country.") if not cell.destination.country else message,
            )
        else:
            _add_error(cell.errors, message if name else str(REPEATED))

    @property
    def is_wrong(self) -> bool:
        return bool(self.problems)

    @property
    def problems(self) -> list[dict[str, str]]:
        parts = [
            (method.name, f"Prices, {method.code or 'delivery method'}", method.errors)
            for method in self.methods
        ]
        for destination in self.destinations:
            destination_name = (
                f"{COUNTRIES.get(destination.country, 'country')}, {destination.location.lower()}"
            )
            parts.append((destination.name, f"Prices, {destination_name}", destination.errors))
            parts += [
                (cell.name, f"Prices, {cell.method.code}, {destination_name}", cell.errors)
                for cell in destination.cells
            ]
        return [
            {"target": target, "where": destination_name, "message": message}
            for target, destination_name, messages in parts
            for message in messages
        ]

    def _record(self, cell: PriceCell) -> JsonObject:
        stored = next((price for price in self.stored if price_key(price) == cell.key), None)
        descriptions = {
            price["Description"] for price in self.stored if price["DeliveryMethodCode"] == cell.method.code
        }
        # A column has one input for all its descriptions; when they differ it is empty and changes none.
        keeps_description = stored is not None and not cell.method.description and len(descriptions) > 1
        return {
            "DeliveryMethodCode": cell.method.code,
            "Description": stored["Description"] if stored and keeps_description else cell.method.description,
            "Price": _read_price(cell.price),
            "Country": stored["Country"] if stored else COUNTRIES.get(cell.destination.country, ""),
            "CountryCode": cell.destination.country,
            "LocationType": cell.destination.location,
            "IsDefault": cell.is_default,
        }

    def _add_spare(self) -> None:
        """Adds an empty column and row for browsers without JavaScript."""
        if not any(method.is_spare for method in self.methods):
            self.methods.append(Method(len(self.methods), is_spare=True))
        if not any(destination.is_spare for destination in self.destinations):
            self.destinations.append(Destination(len(self.destinations), is_spare=True))
        for destination in self.destinations:
            numbers = {cell.method.number for cell in destination.cells}
            destination.cells += [
                PriceCell(method, destination) for method in self.methods if method.number not in numbers
            ]
            destination.cells.sort(key=lambda cell: cell.method.number)


def _stored_matrix(stored: Sequence[JsonObject]) -> tuple[list[Method], list[Destination]]:
    methods: dict[str, Method] = {}
    destinations: dict[tuple[str, str], Destination] = {}
    descriptions: dict[str, set[str]] = {}
    for price in stored:
        code, destination_key = price["DeliveryMethodCode"], (price["CountryCode"], price["LocationType"])
        method = methods.setdefault(code, Method(len(methods), code))
        destination = destinations.setdefault(
            destination_key, Destination(len(destinations), *destination_key)
        )
        destination.cells.append(PriceCell(method, destination, str(price["Price"]), price["IsDefault"]))
        descriptions.setdefault(code, set()).add(price["Description"])
    for code, method in methods.items():
        method.description = next(iter(descriptions[code])) if len(descriptions[code]) == 1 else ""
    return list(methods.values()), list(destinations.values())


def _sent_matrix(data: Mapping[str, Any]) -> tuple[list[Method], list[Destination]]:
    methods = [
        Method(
            number,
            read_method(data, f"prices-m{number}-code"),
            _read_text(data, f"prices-m{number}-description"),
        )
        for number in range(_read_count(data, "prices-methods"))
    ]
    destinations = [
        Destination(
            number,
            _read_text(data, f"prices-p{number}-country"),
            _read_text(data, f"prices-p{number}-location"),
        )
        for number in range(min(_read_count(data, "prices-places"), 2 * MAX_CELLS // max(len(methods), 1)))
    ]
    for destination in destinations:
        for method in methods:
            cell = PriceCell(method, destination)
            cell.price = _read_text(data, cell.name)
            cell.is_default = bool(cell.price) and data.get("prices-default") == cell.value
            destination.cells.append(cell)
    # Empty rows and columns are dropped; numbers stay as sent, because the names of the inputs contain them.
    prices = [cell for destination in destinations for cell in destination.cells if cell.price]
    for method in methods:
        method.is_spare = not method.code and not any(cell.method is method for cell in prices)
    for destination in destinations:
        destination.is_spare = not destination.country and not any(
            cell.destination is destination for cell in prices
        )
    return methods, destinations


def _read_count(data: Mapping[str, Any], name: str) -> int:
    return min(parse_number(_read_text(data, name)) or 0, MAX_CELLS)


def _read_text(data: Mapping[str, Any], name: str) -> str:
    """The text on one line: a description has room for several where it is typed."""
    return " ".join(str(data.get(name, "")).split())


def _read_price(text: str) -> Decimal | str:
    """Text that is no number stays text: the service refuses it."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return text


def _without_date(price: JsonObject) -> JsonObject:
    """Drops the date, which the service carries over."""
    return {name: value for name, value in price.items() if name != "Created"}


def _add_error(errors: list[str], message: str) -> None:
    if message not in errors:
        errors.append(message)
