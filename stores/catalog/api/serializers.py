"""The shapes of stores and products. Responses are stored renderings, which a test compares with these."""

from decimal import Decimal
from typing import Any

from rest_framework import serializers

from accounts.permissions import Grant
from fulfillment.core.api.serializers import Meta, Timestamp
from stores.catalog.models import (
    BudgetDuration,
    BudgetType,
    LocationType,
    TemplateFieldSubType,
    TemplateFieldType,
)
from stores.catalog.representations import field_choices, image_url, options

VERBOSE = "Only with `verbose=true`."


# Shows `verbose_members` only in the context `verbose`. (A docstring would appear in the API description.)
class VerboseSerializer(serializers.Serializer):
    verbose_members: tuple[str, ...] = ()

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


class StoreSerializer(VerboseSerializer):
    verbose_members = (
        "Description",
        "Currency",
        "TimeZone",
        "IsDemo",
        "ProductCount",
        "Created",
        "Updated",
    )

    StoreID = serializers.CharField(source="external_id")
    BudgetEnabled = serializers.BooleanField(source="budget_enabled")
    BudgetTypes = BudgetTypeSerializer(source="budget_types", many=True)
    BudgetDuration = BudgetDurationSerializer(source="budget_durations", many=True)
    CompanyName = serializers.CharField(source="company_name")
    Description = serializers.CharField(source="description", required=False, help_text=VERBOSE)
    Currency = serializers.CharField(source="currency", required=False, help_text=f"ISO 4217. {VERBOSE}")
    TimeZone = serializers.CharField(source="time_zone", required=False, help_text=VERBOSE)
    IsDemo = serializers.BooleanField(source="is_demo", required=False, help_text=VERBOSE)
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
        help_text="What the value may be: the choices of a list, the names of a gallery's pictures; else empty."
    )

    def get_Choices(self, field: Any) -> list[str]:  # noqa: N802 - named after the member
        return field_choices(field.sub_type, field.choices, field.product.template)


class DeliveredPriceSerializer(serializers.Serializer):
    """What one unit costs, delivered, in the currency of the store."""

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


class ProductSerializer(VerboseSerializer):
    verbose_members = (
        "Category",
        "Currency",
        "PageCount",
        "WidthMM",
        "HeightMM",
        "IsEddm",
        "Created",
        "Updated",
    )

    ID = serializers.CharField(source="external_id")
    APIKey = serializers.CharField(source="api_key")
    DefaultQty = serializers.IntegerField(source="default_quantity")
    MinimumQty = serializers.IntegerField(source="minimum_quantity")
    MaximumQty = serializers.IntegerField(source="maximum_quantity")
    IncrementQty = serializers.IntegerField(source="quantity_increment")
    Name = serializers.CharField(source="name")
    Description = serializers.CharField(source="description")
    ImageURL = serializers.SerializerMethodField()
    HasTemplate = serializers.SerializerMethodField(help_text="Whether there are template fields.")
    DeliveryMethod = serializers.CharField(source="delivery_method")
    ShippingMethod = serializers.CharField(
        source="delivery_method", help_text="The same as DeliveryMethod, under its other name."
    )
    TemplateFields = TemplateFieldSerializer(source="template_fields", many=True)
    DeliveredPrices = DeliveredPriceSerializer(source="delivered_prices", many=True)
    ProductionSpeeds = ProductionSpeedSerializer(source="production_speeds", many=True)
    Category = serializers.CharField(source="category", required=False, help_text=VERBOSE)
    Currency = serializers.CharField(
        source="store.currency", required=False, help_text=f"ISO 4217. {VERBOSE}"
    )
    PageCount = serializers.IntegerField(source="page_count", required=False, help_text=VERBOSE)
    WidthMM = Number(source="width_mm", required=False, help_text=VERBOSE)
    HeightMM = Number(source="height_mm", required=False, help_text=VERBOSE)
    IsEddm = serializers.BooleanField(
        source="is_eddm",
        required=False,
        help_text=f"Items of it may be ordered for an EDDM selection. {VERBOSE}",
    )
    Created = Timestamp(source="created", required=False, help_text=VERBOSE)
    Updated = Timestamp(source="updated", required=False, help_text=VERBOSE)

    def get_ImageURL(self, product: Any) -> str:  # noqa: N802 - named after the member
        return image_url(product.image_url)

    def get_HasTemplate(self, product: Any) -> bool:  # noqa: N802 - named after the member
        return bool(product.template_fields.all())


class StoreUserRoleSerializer(serializers.Serializer):
    ID = serializers.IntegerField(min_value=0, max_value=2_147_483_647)
    StoreID = serializers.CharField()
    UserID = serializers.CharField()
    Grant = serializers.ChoiceField(choices=Grant.values)
    _meta = Meta()
