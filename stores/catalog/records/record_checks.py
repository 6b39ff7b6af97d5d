"""Whole store or product records: their fields, the rules over several, and what a product lacks to be sold."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from fulfillment.core.errors import Fault
from fulfillment.core.text import JsonObject
from printing.preflight.eddm import check_piece, check_size
from stores.catalog.models import TemplateFieldSubType, TemplateFieldType
from stores.catalog.models.product import SUB_TYPES
from stores.catalog.records import value_checks as checks
from stores.catalog.records.field_specs import (
    CHILDREN,
    REQUIRED,
    STORED_PRODUCT_FIELDS,
    STORED_STORE_FIELDS,
    FieldSpec,
)
from stores.catalog.records.value_checks import ValueRefused


def price_key(price: JsonObject) -> tuple[str, str, str]:
    return price["DeliveryMethodCode"], price["CountryCode"], price["LocationType"]


KEYS: dict[str, tuple[Callable[[JsonObject], Any], str]] = {
    "TemplateFields": (lambda entry: entry["FieldName"], "FieldName"),
    "DeliveredPrices": (price_key, "DeliveryMethodCode, CountryCode and LocationType"),
    "ProductionSpeeds": (lambda entry: entry["Days"], "Days"),
}
KEY_FIELDS = {fields: re.findall(r"[A-Z]\w+", fields) for _, fields in KEYS.values()}


def check_store(raw: Any, pointer: str = "") -> tuple[JsonObject, list[Fault]]:
    """The store's record in stored form, and its faults; a record with faults must not be used."""
    faults: list[Fault] = []
    return _read_fields(raw, STORED_STORE_FIELDS, frozenset(), pointer, faults), faults


def check_product(raw: Any, pointer: str = "") -> tuple[JsonObject, list[Fault]]:
    faults: list[Fault] = []
    record = _read_fields(raw, STORED_PRODUCT_FIELDS, CHILDREN.keys(), pointer, faults)
    if isinstance(raw, Mapping):
        for name, (specs, maximum) in CHILDREN.items():
            record[name] = _read_all(raw.get(name, ()), specs, maximum, f"{pointer}/{name}", faults)
        faults.extend(_broken_rules(record, pointer))
    return record, faults


def _read_fields(
    raw: Any, specs: tuple[FieldSpec, ...], others: Any, pointer: str, faults: list[Fault]
) -> JsonObject:
    if not isinstance(raw, Mapping):
        faults.append(
            Fault(pointer, "not_an_object", f"Write a JSON object; found {checks.brief_json(raw)}.")
        )
        return {}
    record: JsonObject = {}
    member_count = 0
    for spec in specs:
        name, default = spec.name, spec.default
        if name not in raw:
            if default is REQUIRED:
                faults.append(Fault(f"{pointer}/{name}", "required", f"{name}: this is required."))
            record[name] = default
            continue
        member_count += 1
        try:
            record[name] = spec.check(raw[name])
        except ValueRefused as refusal:
            value_pointer = f"{pointer}/{name}{refusal.pointer}"
            faults.append(Fault(value_pointer, refusal.code, f"{name}: {refusal.message}"))
    if member_count + sum(name in raw for name in others) != len(raw):
        faults.extend(_find_unknown(raw, [*(spec.name for spec in specs), *others], pointer))
    return record


def _read_all(
    raw: Any, specs: tuple[FieldSpec, ...], maximum: int, pointer: str, faults: list[Fault]
) -> list[JsonObject]:
    name = pointer.rpartition("/")[2]
    if not isinstance(raw, list | tuple):
        faults.append(
            Fault(pointer, "not_an_array", f"{name}: write an array; found {checks.brief_json(raw)}.")
        )
        return []
    if len(raw) > maximum:
        faults.append(Fault(pointer, "too_many", f"{name}: at most {maximum} entries; found {len(raw)}."))
        return []
    return [_read_fields(entry, specs, (), f"{pointer}/{index}", faults) for index, entry in enumerate(raw)]


def _find_unknown(raw: Mapping[str, Any], allowed_names: list[str], pointer: str) -> list[Fault]:
    allowed = ", ".join(allowed_names)
    return [
        Fault(
            f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}",
            "unknown_field",
            f"{checks.brief_json(name)} is not an allowed member. Allowed: {allowed}.",
        )
        for name in raw
        if name not in allowed_names
    ]


def _broken_rules(record: JsonObject, pointer: str) -> list[Fault]:
    """Rules over several fields. A rule is skipped where one of its fields is invalid."""
    faults = []
    rules = [
        ("MinimumQty", "DefaultQty", "DefaultQty is below MinimumQty."),
        ("DefaultQty", "MaximumQty", "MaximumQty is below DefaultQty."),
    ]
    if not _is_readable(record, ("DefaultQty",)):
        rules = [("MinimumQty", "MaximumQty", "MaximumQty is below MinimumQty.")]
    for lower, upper, message in rules:
        if _is_readable(record, (lower, upper)) and record[lower] > record[upper]:
            faults.append(Fault(f"{pointer}/{upper}", "quantities_unordered", message))
    if record.get("IsEddm") is True:
        faults.extend(_broken_eddm_rules(record, pointer))
    for index, field in enumerate(record["TemplateFields"]):
        if _is_readable(field, ("Type", "SubType", "Choices", "DefaultValue")):
            faults.extend(_broken_field_rules(field, f"{pointer}/TemplateFields/{index}"))
    for name, (key, fields) in KEYS.items():
        faults.extend(_find_repeats(record[name], key, fields, f"{pointer}/{name}"))
    return faults


def _broken_eddm_rules(record: JsonObject, pointer: str) -> Iterator[Fault]:
    if _is_readable(record, ("WidthMM", "HeightMM")):
        for finding in check_size(record["WidthMM"], record["HeightMM"]):
            yield Fault(f"{pointer}/IsEddm", finding.code, f"IsEddm: {finding.message}")
    if _is_readable(record, ("PieceWeightG", "ThicknessMM")):
        for name, message in check_piece(record["PieceWeightG"], record["ThicknessMM"]):
            yield Fault(f"{pointer}/{name}", "eddm_piece_refused", f"{name}: {message}")


def _is_readable(record: JsonObject, names: Iterable[str]) -> bool:
    return all(record.get(name, REQUIRED) is not REQUIRED for name in names)


def _broken_field_rules(field: JsonObject, pointer: str) -> list[Fault]:
    kind, sub_type, choices = field["Type"], field["SubType"], field["Choices"]
    allowed = SUB_TYPES[kind]
    if sub_type not in allowed:
        message = f"SubType: a field of type {kind} is one of {', '.join(allowed)}; found {sub_type}."
        return [Fault(f"{pointer}/SubType", "unknown_value", message)]
    if sub_type == TemplateFieldSubType.LIST and not choices:
        return [Fault(f"{pointer}/Choices", "required", "Choices: a list needs at least one choice.")]
    if choices and kind != TemplateFieldType.CHOICE:
        message = f"Choices: a field of type {kind} has none."
        return [Fault(f"{pointer}/Choices", "not_allowed", message)]
    if choices and field["DefaultValue"] and field["DefaultValue"] not in choices:
        message = "DefaultValue: this is not one of the Choices."
        return [Fault(f"{pointer}/DefaultValue", "unknown_value", message)]
    return []


def _find_repeats(
    entries: list[JsonObject], key: Callable[[JsonObject], Any], fields: str, pointer: str
) -> list[Fault]:
    faults = []
    positions: dict[Any, int] = {}
    default = None
    for index, entry in enumerate(entries):
        is_readable = _is_readable(entry, KEY_FIELDS[fields])
        first = positions.setdefault(key(entry), index) if is_readable else index
        if first != index:
            message = f"Entry {first} has the same {fields}."
            faults.append(Fault(f"{pointer}/{index}", "repeated", message))
        if entry.get("IsDefault"):
            if default is not None:
                message = f"IsDefault: entry {default} is already the default."
                faults.append(Fault(f"{pointer}/{index}/IsDefault", "repeated", message))
            default = index
    return faults


class SaleStep(NamedTuple):
    """`text` says what to do; `place` is the part of the product page it belongs to."""

    name: str
    text: str
    place: str
    is_done: bool
    is_required: bool

    @property
    def is_missing(self) -> bool:
        return self.is_required and not self.is_done


def list_steps_to_sale(record: JsonObject) -> list[SaleStep]:
    """The steps in the order of the page. Without its required steps a product cannot be ordered or printed."""
    fields, prices = record.get("TemplateFields", ()), record.get("DeliveredPrices", ())
    speeds, template = record.get("ProductionSpeeds", ()), record.get("Template")
    sizes = all(record.get(name) for name in ("Name", "DefaultQty", "WidthMM", "HeightMM"))
    return [
        SaleStep(
            _("Name, size and quantities"), _("Fill in name, size and quantities."), "basics", sizes, True
        ),
        SaleStep(_("Template fields"), _("Add what customers fill in."), "fields", bool(fields), False),
        SaleStep(_("Prices"), _("Write at least one price."), "prices", bool(prices), True),
        SaleStep(
            _("Default price"),
            _("Choose the price for orders that name no location."),
            "prices",
            any(price.get("IsDefault") for price in prices),
            False,
        ),
        SaleStep(
            _("Production speeds"), _("Enter the number of business days."), "speeds", bool(speeds), False
        ),
        SaleStep(
            _("Template"),
            _("Create a template: it shows where the fields print."),
            "template",
            template is not None,
            bool(fields),
        ),
    ]
