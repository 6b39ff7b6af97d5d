"""Stores and products as records: the members of the catalog file, and the rules for their values.

The admin, the import and all other writers pass such a record; a member left out has its default.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from fulfillment.core.errors import Fault
from printing.preflight.eddm import check_piece, check_size
from stores.catalog import validation as checks
from stores.catalog.models import (
    BudgetDuration,
    BudgetType,
    LocationType,
    TemplateFieldSubType,
    TemplateFieldType,
)
from stores.catalog.models.product import SUB_TYPES, Binding, Coating
from stores.catalog.models.store import EXTERNAL_ID
from stores.catalog.validation import Refusal
from stores.presets.models import CODE
from stores.templates.records import Record

REQUIRED: Any = object()
MAXIMUM_FIELDS = 200
MAXIMUM_PRICES = 1000
MAXIMUM_SPEEDS = 100
MAXIMUM_CHOICES = 500
SMALL_INTEGER = 32_767
LONGEST_APPROVAL_HOURS = 8760


class FieldSpec(NamedTuple):
    """A member of a record: its check, the column that stores it, and how API and console show it.

    `type` chooses the serializer field (`stores.catalog.api.serializers.FIELDS`); "" is for members that the API does
    not show. `verbose` members are shown with `verbose=true` only. `description` and `example`, in stored form, are for
    the API reference; `label` and `hint` for the console, where the column's name is the usual label.
    """

    name: str
    check: checks.Check
    default: Any
    column: str
    type: str = ""
    verbose: bool = False
    description: str = ""
    example: Any = None
    label: str = ""
    hint: str = ""


def computed(name: str, *, verbose: bool = False) -> FieldSpec:
    """A member that answers show and no column stores."""
    return FieldSpec(name, checks.flag, None, "", "computed", verbose)


IDENTIFIER = checks.matching(EXTERNAL_ID, "use 1 to 64 letters, digits and . _ - only")
PRESET = checks.matching(CODE, "name a print preset by its ID")
CURRENCY = checks.matching(r"[A-Z]{3}\Z", "write an ISO 4217 code such as USD")
IMAGE_URL = checks.matching(
    r"(?=.{0,2000}\Z)(?:|https?://[^\s/?#]+[^\s]*|/(?!/)[^\s]*)\Z",
    "write an http(s) address, a path that starts with /, or nothing",
)
FOLDING = checks.matching(r"(|F\d{1,2}-\d{1,2})\Z", "write a fold of CIP4's catalog such as F4-1, or nothing")
BUDGET_TYPES = checks.distinct(checks.one_of(BudgetType.values), 3)
BUDGET_DURATIONS = checks.distinct(checks.one_of(BudgetDuration.values), 4)
PRESET_HINT = "Requirements of the printer for print files. Without one: PDF/X-4, colors as they are."

# In the order of the API's answers.
STORE_MEMBERS = (
    FieldSpec("StoreID", IDENTIFIER, REQUIRED, "external_id", "text", example="summit-print"),
    FieldSpec("BudgetEnabled", checks.flag, False, "budget_enabled", "flag", example=True),
    FieldSpec("BudgetTypes", BUDGET_TYPES, (), "budget_types", "budget_types", example=["Amount"]),
    FieldSpec(
        "BudgetDuration", BUDGET_DURATIONS, (), "budget_durations", "budget_durations", example=["Monthly"]
    ),
    FieldSpec(
        "CompanyName",
        checks.text(200, blank=False),
        REQUIRED,
        "company_name",
        "text",
        example="Summit Print Co.",
    ),
    FieldSpec(
        "Description",
        checks.text(4000),
        "",
        "description",
        "text",
        verbose=True,
        example="Full-line commercial printer.",
    ),
    FieldSpec(
        "Currency", CURRENCY, "USD", "currency", "text", verbose=True, description="ISO 4217.", example="USD"
    ),
    FieldSpec(
        "TimeZone", checks.time_zone, "UTC", "time_zone", "text", verbose=True, example="America/Denver"
    ),
    FieldSpec("IsDemo", checks.flag, False, "is_demo", "flag", verbose=True, example=False),
    FieldSpec(
        "ApprovalAbove",
        checks.optional(checks.positive(14, 2, or_zero=True)),
        None,
        "approval_above",
        "optional_number",
        verbose=True,
        description="Orders with a higher total need approval. Null: none needs it for its total.",
        example=500.0,
    ),
    FieldSpec(
        "ApprovalHours",
        checks.whole(1, LONGEST_APPROVAL_HOURS),
        72,
        "approval_hours",
        "integer",
        verbose=True,
        description="After so many hours without a decision an order is rejected.",
        example=72,
    ),
    computed("ProductCount", verbose=True),
    computed("Created", verbose=True),
    computed("Updated", verbose=True),
    FieldSpec("AdmitsTestApplications", checks.flag, False, "admits_test_applications"),
    FieldSpec("HoldWindowMinutes", checks.whole(0), 60, "hold_window_minutes"),
)

PRODUCT_MEMBERS = (
    FieldSpec(
        "ID",
        IDENTIFIER,
        REQUIRED,
        "external_id",
        "text",
        example="business-card-standard",
        label="Product ID",
        hint="In addresses and orders, as ID. 1 to 64 letters, digits and . _ - only.",
    ),
    FieldSpec(
        "APIKey",
        checks.text(64),
        "",
        "api_key",
        "text",
        example="BC-STD-001",
        label="APIKey",
        hint="Your own product number (SKU); applications receive it as APIKey. It is not a secret.",
    ),
    FieldSpec(
        "DefaultQty",
        checks.whole(1),
        REQUIRED,
        "default_quantity",
        "integer",
        example=500,
        label="Default quantity",
        hint="What an order form starts with.",
    ),
    FieldSpec("MinimumQty", checks.whole(1), REQUIRED, "minimum_quantity", "integer", example=100),
    FieldSpec("MaximumQty", checks.whole(1), REQUIRED, "maximum_quantity", "integer", example=10000),
    FieldSpec(
        "IncrementQty",
        checks.whole(1),
        1,
        "quantity_increment",
        "integer",
        example=100,
        hint="Orders are multiples of it.",
    ),
    FieldSpec(
        "Name", checks.text(200, blank=False), REQUIRED, "name", "text", example="Standard business cards"
    ),
    FieldSpec(
        "Description",
        checks.text(4000),
        "",
        "description",
        "text",
        example="16 pt coated cover, full color on both sides.",
    ),
    FieldSpec(
        "ImageURL",
        IMAGE_URL,
        "",
        "image_url",
        "image_url",
        example="https://print.example/static/catalog/business-card.svg",
        label="Image URL",
        hint="An http(s) address, or a path that starts with /.",
    ),
    computed("HasTemplate"),
    FieldSpec(
        "DeliveryMethod",
        checks.text(40, blank=False),
        REQUIRED,
        "delivery_method",
        "text",
        example="GROUND",
        hint="The usual one, for orders that name none.",
    ),
    computed("ShippingMethod"),
    computed("TemplateFields"),
    computed("DeliveredPrices"),
    computed("ProductionSpeeds"),
    FieldSpec("Category", checks.text(100), "", "category", "text", verbose=True, example="Business cards"),
    computed("Currency", verbose=True),
    FieldSpec(
        "PageCount", checks.whole(1, SMALL_INTEGER), 1, "page_count", "integer", verbose=True, example=2
    ),
    FieldSpec("WidthMM", checks.positive(9, 3), REQUIRED, "width_mm", "number", verbose=True, example=88.9),
    FieldSpec("HeightMM", checks.positive(9, 3), REQUIRED, "height_mm", "number", verbose=True, example=50.8),
    FieldSpec(
        "IsEddm",
        checks.flag,
        False,
        "is_eddm",
        "flag",
        verbose=True,
        description="Items of it may be ordered for an EDDM selection.",
        example=False,
        label="For EDDM",
        hint="can be ordered for the carrier routes of an EDDM selection, a piece for each delivery.",
    ),
    computed("TakesArtwork", verbose=True),
    computed("Created", verbose=True),
    computed("Updated", verbose=True),
    FieldSpec("IsActive", checks.flag, True, "is_active"),
    FieldSpec("Preset", checks.optional(PRESET), None, "preset_id", label="Print preset", hint=PRESET_HINT),
    FieldSpec(
        "StockCode", checks.text(64), "", "stock_code", hint="The paper, as your printers name it in tickets."
    ),
    FieldSpec(
        "StockWeightGSM",
        checks.optional(checks.whole(1, 2000)),
        None,
        "stock_weight_gsm",
        label="Paper weight (g/m²)",
    ),
    FieldSpec("Coating", checks.one_of(["", *Coating.values]), "", "coating", hint="Of the paper."),
    FieldSpec(
        "Finish", checks.text(100), "", "finish", hint="Such as satin aqueous or soft-touch lamination."
    ),
    FieldSpec("Binding", checks.one_of(["", *Binding.values]), "", "binding"),
    FieldSpec(
        "Folding",
        FOLDING,
        "",
        "folding",
        hint="A number of CIP4's fold catalog: F4-1 folds once, F6-1 is a letter fold.",
    ),
    FieldSpec(
        "PieceWeightG",
        checks.optional(checks.positive(8, 2)),
        None,
        "piece_weight_g",
        label="Weight of a piece (g)",
        hint="For postage and boxes of mailings. Weigh ten and divide by ten.",
    ),
    FieldSpec(
        "ThicknessMM",
        checks.optional(checks.positive(6, 3)),
        None,
        "thickness_mm",
        label="Thickness of a piece (mm)",
    ),
    FieldSpec("Template", checks.template, None, "template"),
)

# What is stored, as in the file of a catalog. The template comes last, because it is by far the largest.
STORE = tuple(spec for spec in STORE_MEMBERS if spec.column)
PRODUCT = tuple(spec for spec in PRODUCT_MEMBERS if spec.column)

TEMPLATE_FIELD = (
    FieldSpec("FieldName", checks.text(64, blank=False), REQUIRED, "field_name"),
    FieldSpec("Prompt", checks.text(200), "", "prompt"),
    FieldSpec("Type", checks.one_of(TemplateFieldType.values), REQUIRED, "type"),
    FieldSpec("SubType", checks.one_of(TemplateFieldSubType.values), REQUIRED, "sub_type"),
    FieldSpec("Required", checks.flag, False, "required"),
    FieldSpec("DefaultValue", checks.text(4000), "", "default_value"),
    FieldSpec("OrgValue", checks.text(4000), "", "org_value"),
    FieldSpec("Choices", checks.distinct(checks.text(200, blank=False), MAXIMUM_CHOICES), (), "choices"),
)

DELIVERED_PRICE = (
    FieldSpec("DeliveryMethodCode", checks.text(40, blank=False), REQUIRED, "delivery_method_code"),
    FieldSpec("Description", checks.text(200), "", "description"),
    FieldSpec("Price", checks.positive(12, 2), REQUIRED, "price"),
    FieldSpec("Country", checks.text(100), "", "country"),
    FieldSpec(
        "CountryCode",
        checks.matching(r"[A-Z]{2}\Z", "write an ISO 3166 code such as US"),
        REQUIRED,
        "country_code",
    ),
    FieldSpec("LocationType", checks.one_of(LocationType.values), REQUIRED, "location_type"),
    FieldSpec("IsDefault", checks.flag, False, "is_default"),
    FieldSpec("Created", checks.moment, None, "created"),
)

PRODUCTION_SPEED = (
    FieldSpec("Days", checks.whole(0, SMALL_INTEGER), REQUIRED, "days"),
    FieldSpec("IsDefault", checks.flag, False, "is_default"),
)

CHILDREN: dict[str, tuple[tuple[FieldSpec, ...], int]] = {
    "TemplateFields": (TEMPLATE_FIELD, MAXIMUM_FIELDS),
    "DeliveredPrices": (DELIVERED_PRICE, MAXIMUM_PRICES),
    "ProductionSpeeds": (PRODUCTION_SPEED, MAXIMUM_SPEEDS),
}


def check_store(raw: Any, pointer: str = "") -> tuple[Record, list[Fault]]:
    """The store's record in stored form, and its faults; a record with faults must not be used."""
    faults: list[Fault] = []
    return _read(raw, STORE, frozenset(), pointer, faults), faults


def check_product(raw: Any, pointer: str = "") -> tuple[Record, list[Fault]]:
    faults: list[Fault] = []
    record = _read(raw, PRODUCT, CHILDREN.keys(), pointer, faults)
    if isinstance(raw, Mapping):
        for name, (members, maximum) in CHILDREN.items():
            record[name] = _read_all(raw.get(name, ()), members, maximum, f"{pointer}/{name}", faults)
        faults.extend(_broken_rules(record, pointer))
    return record, faults


def _read(raw: Any, members: tuple[FieldSpec, ...], others: Any, pointer: str, faults: list[Fault]) -> Record:
    if not isinstance(raw, Mapping):
        faults.append(
            Fault(pointer, "not_an_object", f"Write a JSON object; found {checks.brief_json(raw)}.")
        )
        return {}
    record: Record = {}
    member_count = 0
    for spec in members:
        name, default = spec.name, spec.default
        if name not in raw:
            if default is REQUIRED:
                faults.append(Fault(f"{pointer}/{name}", "required", f"{name}: this is required."))
            record[name] = default
            continue
        member_count += 1
        try:
            record[name] = spec.check(raw[name])
        except Refusal as refusal:
            where = f"{pointer}/{name}{refusal.pointer}"
            faults.append(Fault(where, refusal.code, f"{name}: {refusal.message}"))
    if member_count + sum(name in raw for name in others) != len(raw):
        faults.extend(_unknown(raw, [*(m.name for m in members), *others], pointer))
    return record


def _read_all(
    raw: Any, members: tuple[FieldSpec, ...], maximum: int, pointer: str, faults: list[Fault]
) -> list[Record]:
    name = pointer.rpartition("/")[2]
    if not isinstance(raw, list | tuple):
        faults.append(
            Fault(pointer, "not_an_array", f"{name}: write an array; found {checks.brief_json(raw)}.")
        )
        return []
    if len(raw) > maximum:
        faults.append(Fault(pointer, "too_many", f"{name}: at most {maximum} entries; found {len(raw)}."))
        return []
    return [_read(entry, members, (), f"{pointer}/{index}", faults) for index, entry in enumerate(raw)]


def _unknown(raw: Mapping[str, Any], allowed_names: list[str], pointer: str) -> list[Fault]:
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


def _broken_rules(record: Record, pointer: str) -> list[Fault]:
    """Rules over several members. A rule is skipped where one of its members is invalid."""
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
    for name, (key, members) in KEYS.items():
        faults.extend(_repeated(record[name], key, members, f"{pointer}/{name}"))
    return faults


def _broken_eddm_rules(record: Record, pointer: str) -> Iterator[Fault]:
    if _is_readable(record, ("WidthMM", "HeightMM")):
        for finding in check_size(record["WidthMM"], record["HeightMM"]):
            yield Fault(f"{pointer}/IsEddm", finding.code, f"IsEddm: {finding.message}")
    if _is_readable(record, ("PieceWeightG", "ThicknessMM")):
        for name, message in check_piece(record["PieceWeightG"], record["ThicknessMM"]):
            yield Fault(f"{pointer}/{name}", "eddm_piece_refused", f"{name}: {message}")


def _is_readable(record: Record, names: Iterable[str]) -> bool:
    return all(record.get(name, REQUIRED) is not REQUIRED for name in names)


def _broken_field_rules(field: Record, pointer: str) -> list[Fault]:
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


KEYS: dict[str, tuple[Callable[[Record], Any], str]] = {
    "TemplateFields": (lambda entry: entry["FieldName"], "FieldName"),
    "DeliveredPrices": (
        lambda entry: (entry["DeliveryMethodCode"], entry["CountryCode"], entry["LocationType"]),
        "DeliveryMethodCode, CountryCode and LocationType",
    ),
    "ProductionSpeeds": (lambda entry: entry["Days"], "Days"),
}
KEY_MEMBERS = {members: re.findall(r"[A-Z]\w+", members) for _, members in KEYS.values()}


def _repeated(entries: list[Record], key: Callable[[Record], Any], members: str, pointer: str) -> list[Fault]:
    faults = []
    positions: dict[Any, int] = {}
    default = None
    for index, entry in enumerate(entries):
        is_readable = _is_readable(entry, KEY_MEMBERS[members])
        first = positions.setdefault(key(entry), index) if is_readable else index
        if first != index:
            message = f"Entry {first} has the same {members}."
            faults.append(Fault(f"{pointer}/{index}", "repeated", message))
        if entry.get("IsDefault"):
            if default is not None:
                message = f"IsDefault: entry {default} is already the default."
                faults.append(Fault(f"{pointer}/{index}/IsDefault", "repeated", message))
            default = index
    return faults
