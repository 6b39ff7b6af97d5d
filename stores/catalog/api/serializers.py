"""The shapes of stores and products. Responses are stored renderings, which a test compares with these."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

from rest_framework import serializers

from accounts.permissions import GRANTS
from fulfillment.core.api.serializers import Meta, Timestamp
from fulfillment.core.text import MAX_INTEGER
from stores.catalog.models import (
    BudgetDuration,
    BudgetType,
    LocationType,
    TemplateFieldSubType,
    TemplateFieldType,
)
from stores.catalog.records.field_specs import PRODUCT_FIELDS, STORE_FIELDS, FieldSpec
from stores.catalog.representations import field_choices, image_url, options

VERBOSE = "Only with `verbose=true`."


# Shows `verbose_members` only in the context `verbose`. (A docstring would appear in the API description.)
class VerboseSerializer(serializers.Serializer):
    @property
    def verbose_members(self) -> tuple[str, ...]:
        return ()

    def to_representation(self, instance: Any) -> dict[str, Any]:
        record: dict[str, Any] = super().to_representation(instance)
        if not self.context.get("verbose"):
            for name in self.verbose_members:
                record.pop(name)
        return record


class Number(serializers.FloatField):
    """A Decimal in Python, a number in JSON."""

    def to_representation(self, value: Decimal) -> float:
        return float(value)


class ImageURL(serializers.CharField):
    def to_representation(self, value: str) -> str:
        return image_url(value)


class BudgetTypeSerializer(serializers.Serializer):
    Value = serializers.ChoiceField(choices=BudgetType.values)
    Description = serializers.CharField()

    def to_representation(self, instance: str) -> dict[str, str]:
        return options(BudgetType, [instance])[0]


class BudgetDurationSerializer(serializers.Serializer):
    Value = serializers.ChoiceField(choices=BudgetDuration.values)
    Description = serializers.CharField()

    def to_representation(self, instance: str) -> dict[str, str]:
        return options(BudgetDuration, [instance])[0]


# The serializer field, by the type of a `FieldSpec`.
FIELDS: dict[str, Callable[..., serializers.Field]] = {
    "text": serializers.CharField,
    "integer": serializers.IntegerField,
    "number": Number,
    "optional_number": partial(Number, allow_null=True),
    "flag": serializers.BooleanField,
    "image_url": partial(ImageURL, read_only=True),
    "budget_types": partial(BudgetTypeSerializer, many=True),
    "budget_durations": partial(BudgetDurationSerializer, many=True),
}


# The fields of a record; a subclass declares the computed ones.
class RecordSerializer(VerboseSerializer):
    specs: tuple[FieldSpec, ...] = ()

    def get_fields(self) -> dict[str, serializers.Field]:
        declared = super().get_fields()
        return {
            spec.name: declared[spec.name] if spec.type == "computed" else self._field(spec)
            for spec in self.specs
            if spec.type
        }

    @property
    def verbose_members(self) -> tuple[str, ...]:
        return tuple(spec.name for spec in self.specs if spec.type and spec.verbose)

    def _field(self, spec: FieldSpec) -> serializers.Field:
        options: dict[str, Any] = {"source": spec.column}
        text = " ".join(part for part in (spec.description, VERBOSE if spec.verbose else "") if part)
        if text:
            options["help_text"] = text
        if spec.verbose:
            options["required"] = False
        return FIELDS[spec.type](**options)


class StoreSerializer(RecordSerializer):
    specs = STORE_FIELDS

    ProductCount = serializers.IntegerField(source="product_count", required=False, help_text=VERBOSE)
    Created = Timestamp(source="created", required=False, help_text=VERBOSE)
    Updated = Timestamp(source="updated", required=False, help_text=VERBOSE)


class TemplateFieldSerializer(serializers.Serializer):
    """A value the customer fills in; its name is the key in the data of a proof."""

    Required = serializers.BooleanField(source="required")
    Type = serializers.ChoiceField(source="type", choices=TemplateFieldType.values)
    SubType = serializers.ChoiceField(source="sub_type", choices=TemplateFieldSubType.values)
    FieldName = serializers.CharField(source="field_name")
    Prompt = serializers.CharField(source="prompt")
    DefaultValue = serializers.CharField(source="default_value")
    OrgValue = serializers.CharField(source="org_value")
    Choices = serializers.SerializerMethodField(
        help_text=(
            "The allowed values: the choices of a list, or the picture names of a gallery; otherwise empty."
        )
    )

    def get_Choices(self, field: Any) -> list[str]:  # noqa: N802 - named after the member
        return field_choices(field.sub_type, field.choices, field.product.template)


class DeliveredPriceSerializer(serializers.Serializer):
    """The delivered price of one unit, in the store's currency."""

    DeliveryMethodCode = serializers.CharField(source="delivery_method_code")
    Description = serializers.CharField(source="description")
    Price = Number(source="price", help_text="At most 2 decimals.")
    Country = serializers.CharField(source="country")
    CountryCode = serializers.CharField(source="country_code", help_text="ISO 3166, two letters.")
    Created = Timestamp(source="created")
    LocationType = serializers.ChoiceField(source="location_type", choices=LocationType.values)
    IsDefault = serializers.BooleanField(source="is_default")


class ProductionSpeedSerializer(serializers.Serializer):
    Days = serializers.IntegerField(source="days", help_text="Business days.")
    IsDefault = serializers.BooleanField(source="is_default")


class ProductSerializer(RecordSerializer):
    specs = PRODUCT_FIELDS

    HasTemplate = serializers.SerializerMethodField(help_text="Whether there are template fields.")
    ShippingMethod = serializers.CharField(
        source="delivery_method", help_text="The same as DeliveryMethod, under its other name."
    )
    TemplateFields = TemplateFieldSerializer(source="template_fields", many=True)
    DeliveredPrices = DeliveredPriceSerializer(source="delivered_prices", many=True)
    ProductionSpeeds = ProductionSpeedSerializer(source="production_speeds", many=True)
    TakesArtwork = serializers.BooleanField(
        source="takes_artwork",
        required=False,
        help_text=f"Whether it accepts a print-ready PDF in place of template data. {VERBOSE}",
    )
    Currency = serializers.CharField(
        source="store.currency", required=False, help_text=f"ISO 4217. {VERBOSE}"
    )
    Created = Timestamp(source="created", required=False, help_text=VERBOSE)
    Updated = Timestamp(source="updated", required=False, help_text=VERBOSE)

    def get_HasTemplate(self, product: Any) -> bool:  # noqa: N802 - named after the member
        return bool(product.template_fields.all())


class StoreUserRoleSerializer(serializers.Serializer):
    ID = serializers.IntegerField(min_value=0, max_value=MAX_INTEGER)
    StoreID = serializers.CharField()
    UserID = serializers.CharField()
    Grant = serializers.ChoiceField(choices=GRANTS)
    _meta = Meta()
