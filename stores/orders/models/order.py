"""Quotes, and orders with their items, shipments and the assets that they keep."""

import uuid

import pghistory
import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex, GinIndex
from django.db import models
from django.db.models import Q

from fulfillment.core.text import JsonObject
from stores.catalog.models.product import Product
from stores.catalog.models.store import Store
from stores.orders.eddm import summary_of
from stores.orders.models.search import SEARCH_TRIGGERS
from stores.orders.models.status import (
    OPEN_STATUSES,
    TERMINAL_OR_SHIPPED,
    ApprovalState,
    CancellationState,
    OrderStatus,
)
from stores.proofs.models import Asset

# The texts of Order.recipient; LocationType beside them may be missing.
RECIPIENT_FIELDS = (
    "Name",
    "Company",
    "Address1",
    "Address2",
    "City",
    "State",
    "PostalCode",
    "CountryCode",
    "Phone",
    "Email",
)


class Quote(models.Model):
    """Prices that bind until `expires`. `rendering` is the API's finished body and the only copy of the options."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="quotes")
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    is_test = models.BooleanField(default=False, db_default=False, editable=False)
    country_code = models.CharField(max_length=2)
    location_type = models.CharField(max_length=11, blank=True)
    created = models.DateTimeField()
    expires = models.DateTimeField()
    rendering = models.TextField()

    class Meta:
        indexes = [
            models.Index("expires", name="quote_expiry"),
            models.Index("created", condition=models.Q(is_test=True), name="quote_of_test"),
        ]

    def __str__(self) -> str:
        return str(self.pk)


def changes() -> tuple[pghistory.Tracker, ...]:
    """Tracks updates and deletions in the audit trail, but not the insertion: the order's history records that.

    Exclude all fields with data of the recipient from tracking: a copy would outlive its erasure.
    """
    # In SQL, because AnyChange compares only the tracked columns and would miss changes of excluded ones.
    any_change = pgtrigger.Condition("OLD.* IS DISTINCT FROM NEW.*")
    return pghistory.UpdateEvent(condition=any_change), pghistory.DeleteEvent()


@pghistory.track(
    *changes(),
    exclude=[
        "recipient",
        "metadata",
        "rendering",
        "cancellation_reason",
        "cancellation_note",
        "external_id_user",
        "is_test",
        "approval",
    ],
)
class Order(models.Model):
    """An order with its current status.

    Within a store `created` rises in the order in which live orders, and test orders, were committed: pages are cut by
    it. `sequence` rises by 1 with every change and is the version. `rendering` is the finished row of the export view.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    number = models.BigIntegerField("order number", unique=True, editable=False)
    store = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="orders", db_index=False)
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="orders",
        db_index=False,
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="orders",
        db_index=False,
    )
    is_test = models.BooleanField("test order", default=False, db_default=False, editable=False)
    external_id = models.CharField("external ID", max_length=100, null=True, blank=True)  # noqa: DJ001 - unique
    # The external ID is unique for this user if the application is first-party; else null, unique for the application.
    external_id_user = models.UUIDField(null=True, editable=False)
    status = models.PositiveSmallIntegerField(choices=OrderStatus.choices, default=OrderStatus.RECEIVED)
    sequence = models.PositiveIntegerField(default=1, editable=False)
    created = models.DateTimeField(editable=False)
    updated = models.DateTimeField(editable=False)

    currency = models.CharField(max_length=3)
    items_total = models.DecimalField(max_digits=14, decimal_places=2)
    delivery_total = models.DecimalField(max_digits=14, decimal_places=2)
    total = models.DecimalField(max_digits=14, decimal_places=2)
    delivery_method_code = models.CharField(max_length=40)
    production_days = models.PositiveSmallIntegerField()
    earliest_delivery = models.DateField()
    latest_delivery = models.DateField()
    quote = models.ForeignKey(
        Quote, null=True, blank=True, on_delete=models.SET_NULL, related_name="orders", db_index=False
    )
    option_id = models.CharField(max_length=60, blank=True)

    recipient = models.JSONField()
    recipient_erased = models.DateTimeField(null=True, blank=True, editable=False)
    product_ids = ArrayField(models.CharField(max_length=64))
    item_count = models.PositiveIntegerField()
    total_quantity = models.PositiveBigIntegerField()
    tracking_numbers = ArrayField(models.CharField(max_length=100), default=list)
    metadata = models.JSONField(default=dict, blank=True)
    reprint_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="reprints", db_index=False
    )

    cancellable_until = models.DateTimeField()
    cancellation = models.CharField(max_length=9, choices=CancellationState.choices, blank=True, default="")
    cancellation_asked = models.DateTimeField(null=True, blank=True)
    cancellation_reason = models.TextField(blank=True, max_length=1000)
    cancellation_note = models.TextField(blank=True, max_length=1000)

    approval = models.CharField(
        max_length=8, choices=ApprovalState.choices, blank=True, default="", db_default="", editable=False
    )

    rendering = models.TextField(editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "store",
                "application",
                "external_id_user",
                "external_id",
                condition=Q(external_id__isnull=False),
                nulls_distinct=False,
                name="order_external_id_unique",
            ),
            models.CheckConstraint(condition=Q(status__in=OrderStatus.values), name="order_status_known"),
            models.CheckConstraint(
                condition=Q(total=models.F("items_total") + models.F("delivery_total")),
                name="order_total_adds_up",
            ),
        ]
        indexes = [
            # For the export view: one for each filter, in its order.
            models.Index("store", "created", "id", condition=Q(is_test=False), name="order_live_by_created"),
            models.Index("store", "created", "id", condition=Q(is_test=True), name="order_test_by_created"),
            models.Index("store", "status", "created", "id", name="order_by_status_created"),
            models.Index("store", "updated", condition=Q(is_test=False), name="order_live_by_updated"),
            models.Index("store", "application", "created", "id", name="order_by_application_created"),
            models.Index(
                "store",
                "user",
                "created",
                "id",
                condition=Q(user__isnull=False),
                name="order_by_user_created",
            ),
            GinIndex("product_ids", name="order_by_product_ids"),
            models.Index("quote", condition=Q(quote__isnull=False), name="order_by_quote"),
            # The board lists the orders of all stores, newest first.
            models.Index("status", "number", name="order_board_by_status"),
            models.Index(
                "external_id", condition=Q(external_id__isnull=False), name="order_board_by_external_id"
            ),
            # For due and late orders: only few of all orders are open.
            models.Index(
                "latest_delivery",
                "number",
                condition=Q(status__in=OPEN_STATUSES),
                name="order_board_by_due_date",
            ),
            models.Index(
                "store",
                "latest_delivery",
                "number",
                condition=Q(status__in=OPEN_STATUSES),
                name="order_by_due_date",
            ),
            models.Index("delivery_method_code", "number", name="order_board_by_method"),
            # Also for the database's own check when a test order is pruned.
            models.Index(
                "reprint_of", condition=Q(reprint_of__isnull=False), name="order_by_reprinted_order"
            ),
            models.Index("number", condition=Q(is_test=True), name="order_test_by_number"),
            BrinIndex("created", name="order_board_by_date", pages_per_range=32),
            models.Index(
                "updated",
                condition=Q(recipient_erased__isnull=True, status__in=TERMINAL_OR_SHIPPED),
                name="order_with_old_address",
            ),
            models.Index(
                "store",
                "cancellation_asked",
                condition=Q(cancellation=CancellationState.REQUESTED),
                name="order_cancellations_asked",
            ),
        ]
        ordering = ["store", "created", "id"]
        triggers = [
            # Only test orders may be pruned with their history.
            pgtrigger.Protect(
                name="keep_mode",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__is_test__df=pgtrigger.F("new__is_test")),
            ),
            *SEARCH_TRIGGERS,
        ]

    def __str__(self) -> str:
        return str(self.number)


@pghistory.track(
    *changes(),
    exclude=[
        "label",
        "template_data",
        "artwork",
        "preflight",
        "eddm",
        "print_preset",
        "options",
        "finishing",
    ],
)
class OrderItem(models.Model):
    """A line of an order, with the price and the product at that time, and the print file with its hash."""

    # The columns that lists leave out: those of one order can have 10 MB.
    LARGE = ("template_data", "artwork", "preflight", "eddm")

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="items", db_index=False)
    position = models.PositiveIntegerField()
    item_key = models.CharField(max_length=64)
    # Who or what the item is for, so that packing finds it: the name and key of a batch's row.
    label = models.CharField(max_length=210, blank=True, default="", db_default="", editable=False)
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="order_items", db_index=False)
    product_external_id = models.CharField("product ID", max_length=64)
    product_name = models.CharField(max_length=200)
    product_version = models.PositiveIntegerField()
    quantity = models.PositiveIntegerField()
    unit_price = models.DecimalField(max_digits=12, decimal_places=2)
    line_total = models.DecimalField(max_digits=14, decimal_places=2)
    template_data = models.JSONField(null=True, blank=True)
    # The PDF that is printed in place of the template: AssetID, and FirstPage if one was sent.
    artwork = models.JSONField(null=True, blank=True, editable=False)
    print_file = models.CharField(max_length=200, blank=True, editable=False)
    print_sha256 = models.CharField("SHA-256 of the print file", max_length=64, blank=True, editable=False)
    print_bytes = models.PositiveIntegerField(default=0, editable=False)
    # The print preset that its file was made with, as `PresetRules.printed_with`. NULL without a file, and of orders
    # from before this column.
    print_preset = models.JSONField(null=True, blank=True, editable=False)
    # Values of the fields of the type Choice, as sent or by the defaults of that time. NULL in orders from before this
    # column.
    options = models.JSONField(null=True, blank=True, editable=False)
    # Paper, sides, binding and folding of the product at that time, by its columns. NULL in orders from before.
    finishing = models.JSONField(null=True, blank=True, editable=False)
    # What preflight found of the print file, as the API shows it; nothing found is NULL.
    preflight = models.JSONField(null=True, blank=True, editable=False)
    # The copy of the EDDM selection it was ordered for; stores.orders.eddm defines its members.
    eddm = models.JSONField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint("order", "position", name="order_item_position_unique"),
            models.UniqueConstraint("order", "item_key", name="order_item_key_unique"),
            models.CheckConstraint(
                condition=Q(line_total=models.F("quantity") * models.F("unit_price")),
                name="order_item_total_adds_up",
            ),
        ]
        indexes = [models.Index("product", name="order_item_of_product")]
        ordering = ["order", "position"]

    def __str__(self) -> str:
        return f"{self.quantity} × {self.product_name}"  # noqa: RUF001 - a multiplication sign is meant

    @property
    def eddm_summary(self) -> JsonObject | None:
        return summary_of(self.eddm) if self.eddm else None


@pghistory.track(*changes(), exclude=["tracking_url"])
class Shipment(models.Model):
    """A parcel; the same tracking number of a carrier is recorded once for an order."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="shipments", db_index=False)
    carrier = models.CharField(max_length=60)
    tracking_number = models.CharField(max_length=100)
    tracking_url = models.CharField(max_length=1000, blank=True)
    item_keys = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    shipped = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint("order", "carrier", "tracking_number", name="shipment_unique"),
        ]
        indexes = [models.Index("tracking_number", name="shipment_by_tracking_number")]
        ordering = ["order", "id"]

    def __str__(self) -> str:
        return f"{self.carrier} {self.tracking_number}"


class OrderedAsset(models.Model):
    """Records that an uploaded picture is printed in an order, so that erasing the order's recipient finds it."""

    pk = models.CompositePrimaryKey("order", "asset")
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="ordered_assets", db_index=False)
    asset = models.ForeignKey(Asset, on_delete=models.CASCADE, related_name="uses")

    class Meta:
        ordering = ["order", "asset"]

    def __str__(self) -> str:
        return f"{self.asset_id} in {self.order_id}"
