"""Products with their template fields, prices and production speeds."""

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from stores.catalog.models.store import EXTERNAL_ID, Store, validate_external_id
from stores.catalog.models.template import PICTURES_TRIGGER, TEMPLATE_TRIGGER
from stores.presets.models import PrintPreset

MAX_ARTWORK_PAGES = 200
# What an order item keeps of the paper and the finishing.
FINISHING_COLUMNS = (
    "stock_code",
    "stock_weight_gsm",
    "coating",
    "finish",
    "binding",
    "binding_edge",
    "is_one_sided",
    "folding",
)


class Coating(models.TextChoices):
    """Names of XJDF."""

    NONE = "None", "Uncoated"
    COATED = "Coated"
    GLOSS = "Gloss"
    MATTE = "Matte"
    SATIN = "Satin"


class Binding(models.TextChoices):
    """Names of XJDF."""

    SADDLE_STITCH = "SaddleStitch", "Saddle stitch"
    SIDE_STITCH = "SideStitch", "Side stitch"
    SOFT_COVER = "SoftCover", "Soft cover"
    HARD_COVER = "HardCover", "Hard cover"
    WIRE_COMB = "WireComb", "Wire comb"
    COIL = "CoilBinding", "Coil"
    GLUED_EDGE = "EdgeGluing", "Padded"


class Edge(models.TextChoices):
    """Names of XJDF."""

    LEFT = "Left"
    RIGHT = "Right"
    TOP = "Top"
    BOTTOM = "Bottom"


@pghistory.track(exclude=["verbose_rendering", "template"])
class Product(models.Model):
    """A product of a store. Quantities are pieces (or packs, if its description defines so); sizes are millimetres.

    `rendering` and `verbose_rendering` are the API's finished JSON bodies, written with the product; `version`
    rises with every change, so that a proof or a price can refer to the exact version of the product.
    """

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="products")
    external_id = models.CharField("product ID", max_length=64, validators=[validate_external_id])
    api_key = models.CharField("API key", max_length=64)
    position = models.PositiveIntegerField(default=0)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True, max_length=4000)
    category = models.CharField(max_length=100, blank=True)
    image_url = models.CharField("image URL", max_length=2000, blank=True)
    default_quantity = models.PositiveIntegerField()
    minimum_quantity = models.PositiveIntegerField()
    maximum_quantity = models.PositiveIntegerField()
    quantity_increment = models.PositiveIntegerField()
    delivery_method = models.CharField(max_length=40)
    page_count = models.PositiveSmallIntegerField(default=1)
    width_mm = models.DecimalField("width (mm)", max_digits=9, decimal_places=3)
    height_mm = models.DecimalField("height (mm)", max_digits=9, decimal_places=3)
    is_active = models.BooleanField("active", default=True)
    # Without one the built-in preset: printing.press.rules.BUILT_IN. By its code, as catalog files name it.
    preset = models.ForeignKey(
        PrintPreset,
        to_field="code",
        db_index=False,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="products",
        verbose_name="print preset",
    )
    is_eddm = models.BooleanField("for EDDM", default=False, db_default=False)
    # What tickets say of paper and finishing; empty where the press knows it by the SKU.
    stock_code = models.CharField(max_length=64, blank=True, default="", db_default="")
    stock_weight_gsm = models.PositiveSmallIntegerField("paper weight (g/m²)", null=True, blank=True)
    coating = models.CharField(max_length=6, blank=True, choices=Coating.choices, default="", db_default="")
    finish = models.CharField(max_length=100, blank=True, default="", db_default="")
    binding = models.CharField(max_length=14, blank=True, choices=Binding.choices, default="", db_default="")
    # The edge that pages turn on, also of a single sheet: on top or bottom backs print head to foot.
    binding_edge = models.CharField(max_length=6, blank=True, choices=Edge.choices, default="", db_default="")
    # Each page is the front of a sheet of its own, such as the parts of a carbonless form.
    is_one_sided = models.BooleanField("printed on one side", default=False, db_default=False)
    folding = models.CharField(max_length=8, blank=True, default="", db_default="")
    piece_weight_g = models.DecimalField(
        "weight of a piece (g)", max_digits=8, decimal_places=2, null=True, blank=True
    )
    thickness_mm = models.DecimalField(
        "thickness of a piece (mm)", max_digits=6, decimal_places=3, null=True, blank=True
    )
    template = models.JSONField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1, editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)
    updated = models.DateTimeField(default=timezone.now, editable=False)

    rendering = models.TextField(editable=False, default="")
    verbose_rendering = models.TextField(editable=False, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint("store", "external_id", name="product_id_unique_in_store"),
            models.CheckConstraint(
                condition=models.Q(external_id__regex=EXTERNAL_ID), name="product_id_form"
            ),
            models.CheckConstraint(
                condition=models.Q(minimum_quantity__gte=1)
                & models.Q(default_quantity__gte=models.F("minimum_quantity"))
                & models.Q(maximum_quantity__gte=models.F("default_quantity")),
                name="product_quantities_ordered",
            ),
            models.CheckConstraint(
                condition=models.Q(quantity_increment__gte=1), name="product_increment_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(width_mm__gt=0, height_mm__gt=0, page_count__gte=1),
                name="product_has_size",
            ),
        ]
        indexes = [
            models.Index(
                "store", "position", "id", condition=models.Q(is_active=True), name="product_catalog_order"
            ),
            models.Index("preset", condition=models.Q(preset__isnull=False), name="product_of_preset"),
        ]
        ordering = ["store", "position", "id"]
        triggers = [TEMPLATE_TRIGGER, PICTURES_TRIGGER]

    def __str__(self) -> str:
        return self.name

    @property
    def is_head_to_foot(self) -> bool:
        """How front and back of a sheet lie."""
        return not self.is_one_sided and self.binding_edge in {Edge.TOP, Edge.BOTTOM}

    @property
    def takes_artwork(self) -> bool:
        return takes_artwork(self.page_count)


def takes_artwork(page_count: int) -> bool:
    """Whether a print-ready PDF may take the place of a product's data: each product has a size."""
    return page_count <= MAX_ARTWORK_PAGES


class TemplateFieldType(models.TextChoices):
    TEXT = "Text"
    IMAGE = "Image"
    CHOICE = "Choice"


class TemplateFieldSubType(models.TextChoices):
    SINGLE_LINE = "SingleLine"
    MULTI_LINE = "MultiLine"
    EMAIL = "Email"
    PHONE = "Phone"
    URL = "Url"
    DATE = "Date"
    UPLOAD = "Upload"
    GALLERY = "Gallery"
    LIST = "List"


SUB_TYPES = {
    TemplateFieldType.TEXT: (
        *(TemplateFieldSubType.SINGLE_LINE, TemplateFieldSubType.MULTI_LINE, TemplateFieldSubType.EMAIL),
        *(TemplateFieldSubType.PHONE, TemplateFieldSubType.URL, TemplateFieldSubType.DATE),
    ),
    TemplateFieldType.IMAGE: (TemplateFieldSubType.UPLOAD, TemplateFieldSubType.GALLERY),
    TemplateFieldType.CHOICE: (TemplateFieldSubType.LIST,),
}


class TemplateField(models.Model):
    """A value the customer fills in; all fields together are the variable data of a product's template."""

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="template_fields")
    position = models.PositiveSmallIntegerField()
    field_name = models.CharField(max_length=64)
    prompt = models.CharField(max_length=200)
    type = models.CharField(max_length=10, choices=TemplateFieldType.choices)
    sub_type = models.CharField(max_length=10, choices=TemplateFieldSubType.choices)
    required = models.BooleanField(default=False)
    default_value = models.TextField(blank=True, max_length=4000)
    org_value = models.TextField(blank=True, max_length=4000)
    choices = ArrayField(models.CharField(max_length=200), default=list, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("product", "field_name", name="template_field_name_unique"),
            models.UniqueConstraint("product", "position", name="template_field_position_unique"),
            models.CheckConstraint(
                condition=models.Q(
                    *[models.Q(type=kind, sub_type__in=names) for kind, names in SUB_TYPES.items()],
                    _connector=models.Q.OR,
                ),
                name="template_field_type_known",
            ),
        ]
        ordering = ["position"]

    def __str__(self) -> str:
        return self.field_name


class LocationType(models.TextChoices):
    COMMERCIAL = "Commercial"
    RESIDENTIAL = "Residential"


class DeliveredPrice(models.Model):
    """The price of one unit for a delivery method and destination, in the store's currency."""

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="delivered_prices")
    position = models.PositiveSmallIntegerField()
    delivery_method_code = models.CharField(max_length=40)
    description = models.CharField(max_length=200, blank=True)
    price = models.DecimalField(max_digits=12, decimal_places=2)
    country = models.CharField(max_length=100)
    country_code = models.CharField(max_length=2)
    location_type = models.CharField(max_length=11, choices=LocationType.choices)
    is_default = models.BooleanField("default", default=False)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "product",
                "delivery_method_code",
                "country_code",
                "location_type",
                name="delivered_price_unique",
            ),
            models.UniqueConstraint("product", "position", name="delivered_price_position_unique"),
            models.UniqueConstraint(
                "product", condition=models.Q(is_default=True), name="delivered_price_one_default"
            ),
            models.CheckConstraint(condition=models.Q(price__gt=0), name="delivered_price_positive"),
            models.CheckConstraint(
                condition=models.Q(country_code__regex=r"^[A-Z]{2}\Z"), name="delivered_price_country_form"
            ),
        ]
        ordering = ["position"]

    def __str__(self) -> str:
        return f"{self.delivery_method_code} {self.country_code} {self.price}"


class ProductionSpeed(models.Model):
    """A number of business days in which the product can be produced."""

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="production_speeds")
    position = models.PositiveSmallIntegerField()
    days = models.PositiveSmallIntegerField()
    is_default = models.BooleanField("default", default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint("product", "days", name="production_speed_unique"),
            models.UniqueConstraint("product", "position", name="production_speed_position_unique"),
            models.UniqueConstraint(
                "product", condition=models.Q(is_default=True), name="production_speed_one_default"
            ),
        ]
        ordering = ["position"]

    def __str__(self) -> str:
        return f"{self.days} days"
