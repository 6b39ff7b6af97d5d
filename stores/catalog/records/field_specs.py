"""Stores and products as records: the fields of the catalog file, and the rules for their values.

The admin, the import and all other writers pass such a record; a field left out has its default.
"""

from typing import Any, NamedTuple

from django.utils.translation import gettext_noop

from fulfillment.core.text import JsonObject
from stores.catalog.models import (
    BudgetDuration,
    BudgetType,
    LocationType,
    Store,
    TemplateFieldSubType,
    TemplateFieldType,
)
from stores.catalog.models.product import Binding, Coating, Edge
from stores.catalog.models.store import EXTERNAL_ID
from stores.catalog.records import value_checks as checks
from stores.presets.models import CODE

REQUIRED: Any = object()
MAX_FIELDS = 200
MAX_PRICES = 1000
MAX_SPEEDS = 100
MAX_CHOICES = 500
SMALL_INTEGER = 32_767
MAX_APPROVAL_HOURS = 8760
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
PRESET_HINT = "The printer's requirements for print files. Without one: PDF/X-4 with unchanged colors."


class FieldSpec(NamedTuple):
    """A field of a record: its check, the column that stores it, and how API and console show it.

    `type` chooses the serializer field (`stores.catalog.api.serializers.FIELDS`); "" is for fields that the API does
    not show. `verbose` fields are shown with `verbose=true` only. `description` and `example`, in stored form, are for
    the API reference; `label` and `hint` for the console, where the column's name is the usual label.
    `omitted_at_default`: catalog files omit the field where it has its default.
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
    omitted_at_default: bool = False


def computed_field(name: str, *, verbose: bool = False) -> FieldSpec:
    """A field that answers show and no column stores."""
    return FieldSpec(name, checks.flag, None, "", "computed", verbose)


# In the order of the API's answers.
STORE_FIELDS = (
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
        checks.whole(1, MAX_APPROVAL_HOURS),
        72,
        "approval_hours",
        "integer",
        verbose=True,
        description="An order is rejected after this many hours without a decision.",
        example=72,
    ),
    computed_field("ProductCount", verbose=True),
    computed_field("Created", verbose=True),
    computed_field("Updated", verbose=True),
    FieldSpec("AdmitsTestApplications", checks.flag, False, "admits_test_applications"),
    FieldSpec("HoldWindowMinutes", checks.whole(0), 60, "hold_window_minutes", omitted_at_default=True),
)

PRODUCT_FIELDS = (
    FieldSpec(
        "ID",
        IDENTIFIER,
        REQUIRED,
        "external_id",
        "text",
        example="business-card-standard",
        label=gettext_noop("Product ID"),
        hint="In addresses and orders, as ID. 1 to 64 letters, digits and . _ - only.",
    ),
    FieldSpec(
        "APIKey",
        checks.text(64),
        "",
        "api_key",
        "text",
        example="BC-STD-001",
        label=gettext_noop("APIKey"),
        hint="Your own product number (SKU); applications receive it as APIKey. It is not a secret.",
    ),
    FieldSpec(
        "DefaultQty",
        checks.whole(1),
        REQUIRED,
        "default_quantity",
        "integer",
        example=500,
        label=gettext_noop("Default quantity"),
        hint="The initial quantity in an order form.",
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
        hint="Quantities rise in these steps from the minimum quantity.",
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
        label=gettext_noop("Image URL"),
        hint="An http(s) address, or a path that starts with /.",
    ),
    computed_field("HasTemplate"),
    FieldSpec(
        "DeliveryMethod",
        checks.text(40, blank=False),
        REQUIRED,
        "delivery_method",
        "text",
        example="GROUND",
        hint="The default, for orders that name no method.",
    ),
    computed_field("ShippingMethod"),
    computed_field("TemplateFields"),
    computed_field("DeliveredPrices"),
    computed_field("ProductionSpeeds"),
    FieldSpec("Category", checks.text(100), "", "category", "text", verbose=True, example="Business cards"),
    computed_field("Currency", verbose=True),
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
        description="Whether it can be ordered for an EDDM selection.",
        example=False,
        label=gettext_noop("For EDDM"),
        hint="Customers can order it for the carrier routes of an EDDM selection, one piece for each "
        "delivery.",
    ),
    computed_field("TakesArtwork", verbose=True),
    computed_field("Created", verbose=True),
    computed_field("Updated", verbose=True),
    FieldSpec("IsActive", checks.flag, True, "is_active"),
    FieldSpec(
        "Preset",
        checks.optional(PRESET),
        None,
        "preset_id",
        label=gettext_noop("Print preset"),
        hint=PRESET_HINT,
        omitted_at_default=True,
    ),
    FieldSpec(
        "StockCode",
        checks.text(64),
        "",
        "stock_code",
        hint="The paper as your printers name it in tickets. If weight and coating are empty, another "
        "material.",
        omitted_at_default=True,
    ),
    FieldSpec(
        "StockWeightGSM",
        checks.optional(checks.whole(1, 2000)),
        None,
        "stock_weight_gsm",
        label=gettext_noop("Paper weight (g/m²)"),
        omitted_at_default=True,
    ),
    FieldSpec(
        "Coating",
        checks.one_of(["", *Coating.values]),
        "",
        "coating",
        hint="Of the paper.",
        omitted_at_default=True,
    ),
    FieldSpec(
        "Finish",
        checks.text(100),
        "",
        "finish",
        hint="Such as satin aqueous or soft-touch lamination.",
        omitted_at_default=True,
    ),
    FieldSpec(
        "Binding",
        checks.one_of(["", *Binding.values]),
        "",
        "binding",
        label=gettext_noop("Binding method"),
        hint="How pages are held together, such as staples in the fold. Empty: loose sheets.",
        omitted_at_default=True,
    ),
    FieldSpec(
        "BindingEdge",
        checks.one_of(["", *Edge.values]),
        "",
        "binding_edge",
        hint="The edge that pages turn on, also of a single sheet. Top or bottom: backs print head to foot.",
        omitted_at_default=True,
    ),
    FieldSpec(
        "IsOneSided",
        checks.flag,
        False,
        "is_one_sided",
        label=gettext_noop("One side only"),
        hint="Each page is the front of a sheet, such as the parts of a carbonless form.",
        omitted_at_default=True,
    ),
    FieldSpec(
        "Folding",
        FOLDING,
        "",
        "folding",
        hint="A number of CIP4's fold catalog: F4-1 folds once, F6-4 is a letter fold.",
        omitted_at_default=True,
    ),
    FieldSpec(
        "PieceWeightG",
        checks.optional(checks.positive(8, 2)),
        None,
        "piece_weight_g",
        label=gettext_noop("Weight of a piece (g)"),
        hint="For postage and boxes of mailings. Weigh ten and divide by ten.",
        omitted_at_default=True,
    ),
    FieldSpec(
        "ThicknessMM",
        checks.optional(checks.positive(6, 3)),
        None,
        "thickness_mm",
        label=gettext_noop("Thickness of a piece (mm)"),
        omitted_at_default=True,
    ),
    FieldSpec("Template", checks.template, None, "template"),
)

# What is stored, as in the file of a catalog. The template comes last, because it is by far the largest.
STORED_STORE_FIELDS = tuple(spec for spec in STORE_FIELDS if spec.column)
STORED_PRODUCT_FIELDS = tuple(spec for spec in PRODUCT_FIELDS if spec.column)


def store_record(store: Store) -> JsonObject:
    return {spec.name: getattr(store, spec.column) for spec in STORED_STORE_FIELDS}


TEMPLATE_FIELD_FIELDS = (
    FieldSpec("FieldName", checks.text(64, blank=False), REQUIRED, "field_name"),
    FieldSpec("Prompt", checks.text(200), "", "prompt"),
    FieldSpec("Type", checks.one_of(TemplateFieldType.values), REQUIRED, "type"),
    FieldSpec("SubType", checks.one_of(TemplateFieldSubType.values), REQUIRED, "sub_type"),
    FieldSpec("Required", checks.flag, False, "required"),
    FieldSpec("DefaultValue", checks.text(4000), "", "default_value"),
    FieldSpec("OrgValue", checks.text(4000), "", "org_value"),
    FieldSpec("Choices", checks.distinct(checks.text(200, blank=False), MAX_CHOICES), (), "choices"),
)

DELIVERED_PRICE_FIELDS = (
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

PRODUCTION_SPEED_FIELDS = (
    FieldSpec("Days", checks.whole(0, SMALL_INTEGER), REQUIRED, "days"),
    FieldSpec("IsDefault", checks.flag, False, "is_default"),
)

CHILDREN: dict[str, tuple[tuple[FieldSpec, ...], int]] = {
    "TemplateFields": (TEMPLATE_FIELD_FIELDS, MAX_FIELDS),
    "DeliveredPrices": (DELIVERED_PRICE_FIELDS, MAX_PRICES),
    "ProductionSpeeds": (PRODUCTION_SPEED_FIELDS, MAX_SPEEDS),
}
