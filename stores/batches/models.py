"""A batch with its rows, who approved it, and the mappings of columns that are kept for the next file."""

import uuid

import pghistory
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from stores.catalog.models import Product, Store
from stores.orders.models import OWN_ORDER, ApprovalState, Order


class BatchMode(models.TextChoices):
    """`Items`: one order with an item for each row. `Recipients`: an order for each row."""

    ITEMS = "Items"
    RECIPIENTS = "Recipients"


class BatchStatus(models.TextChoices):
    EMPTY = "Empty", _("Empty")
    CHECKING = "Checking", _("Checking")
    CHECKED = "Checked", _("Checked")
    ORDERING = "Ordering", _("Ordering")
    ORDERED = "Ordered", _("Ordered")
    CANCELLED = "Cancelled", _("Cancelled")


class RowState(models.TextChoices):
    """`Pending` rows are not checked yet; `Failed` ones could not be ordered."""

    PENDING = "Pending", _("Pending")
    READY = "Ready", _("Ready")
    WARNING = "Warning", _("Warning")
    ERROR = "Error", _("Error")
    ORDERED = "Ordered", _("Ordered")
    FAILED = "Failed", _("Failed")
    CANCELLED = "Cancelled", _("Cancelled")


ORDERABLE = (RowState.READY, RowState.WARNING)
SETTLED = (BatchStatus.ORDERED, BatchStatus.CANCELLED)
# The most rows by mode: an order has as many items, and a sheet of recipients as many orders.
MAX_ROWS = {BatchMode.ITEMS: 500, BatchMode.RECIPIENTS: 20_000}


class Batch(models.Model):
    """Rows of a table that are checked and ordered together, by the caller who made it.

    `product_version`, `template_digest` and `prices_expire` are fixed when a check begins: what was seen and priced is
    what is ordered.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    store = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="batches", db_index=False)
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    is_first_party = models.BooleanField()
    is_test = models.BooleanField()
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="batches")
    name = models.CharField(max_length=200, blank=True)
    mode = models.CharField(max_length=10, choices=BatchMode.choices)
    status = models.CharField(max_length=9, choices=BatchStatus.choices, default=BatchStatus.EMPTY)
    quantity = models.PositiveIntegerField(null=True)
    delivery_method_code = models.CharField(max_length=40, blank=True)
    production_days = models.PositiveSmallIntegerField(null=True)
    # The recipient of all items; in the mode Recipients, what a row without such a cell has.
    recipient = models.JSONField(default=dict)
    columns = models.JSONField(default=list)
    # A column for each target; `matches` adds how alike their names are.
    mapping = models.JSONField(default=dict)
    matches = models.JSONField(default=list)
    file_problems = models.JSONField(default=list)
    product_version = models.PositiveIntegerField(null=True)
    template_digest = models.CharField(max_length=64, blank=True, db_default="")
    prices_expire = models.DateTimeField(null=True)
    check_started = models.DateTimeField(null=True)
    # Rows that the check found as they are: the estimate of its end leaves them out.
    checked_before = models.PositiveIntegerField(default=0, db_default=0)
    external_id = models.CharField(max_length=90, blank=True)
    # What it took from budgets, anew with each time that it is ordered.
    reservation_id = models.UUIDField(null=True)
    # Who ordered: the actor of its orders.
    actor_kind = models.CharField(max_length=20, blank=True)
    actor_user = models.UUIDField(null=True)
    actor_application = models.UUIDField(null=True)
    note = models.CharField(max_length=1000, blank=True)
    created = models.DateTimeField()
    updated = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index("store", "created", "id", name="batch_of_store"),
            models.Index(
                "updated", condition=~Q(status=BatchStatus.ORDERED), name="batch_unordered_by_updated"
            ),
        ]
        ordering = ["store", "created", "id"]
        verbose_name_plural = "batches"

    def __str__(self) -> str:
        return self.name or self.product.name


class BatchRow(models.Model):
    """A row of the table. `number` is its line as a person counts, where the head is line 1.

    `key` is the same when the same row is sent again. `digest` is that of its content: a row whose digest
    changes is checked again.
    """

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="rows", db_index=False)
    number = models.PositiveIntegerField()
    key = models.CharField(max_length=100)
    name = models.CharField(max_length=100, blank=True)
    values = models.JSONField()
    # Key and cells without accents and case, by which a person filters rows.
    words = models.TextField(blank=True, db_default="")
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=9, choices=RowState.choices, default=RowState.PENDING)
    # What reading the file found, and what the check or the order found.
    file_problems = models.JSONField(default=list)
    problems = models.JSONField(default=list)
    quantity = models.PositiveIntegerField(default=0)
    total = models.DecimalField(max_digits=14, decimal_places=2, default=0)
    # The delivery, speed, unit price, currency and paper that were checked.
    offer = models.JSONField(null=True)
    proof = models.CharField(max_length=40, blank=True)
    order = models.ForeignKey(
        Order, null=True, on_delete=models.SET_NULL, related_name="batch_rows", db_index=False
    )

    class Meta:
        constraints = [models.UniqueConstraint("batch", "key", name="batch_row_key_unique")]
        indexes = [
            models.Index("batch", "number", name="batch_row_by_number"),
            # With what a whole batch is counted by, 20,000 rows at a time.
            models.Index("batch", "state", "number", name="batch_row_counts", include=["total", "quantity"]),
            models.Index("order", condition=Q(order__isnull=False), name="batch_row_of_order"),
        ]
        ordering = ["batch", "number"]

    def __str__(self) -> str:
        return self.key


@pghistory.track(pghistory.UpdateEvent(), pghistory.ManualEvent(OWN_ORDER), exclude=["reasons", "note"])
class BatchApproval(models.Model):
    """Why a batch needs approval, and what was decided for all of its orders together."""

    batch = models.OneToOneField(Batch, primary_key=True, on_delete=models.CASCADE, related_name="approval")
    state = models.CharField(max_length=8, choices=ApprovalState.choices)
    reasons = models.JSONField()
    ordered_by = ArrayField(models.UUIDField())
    requested = models.DateTimeField()
    expires = models.DateTimeField()
    reminder_due = models.DateTimeField(null=True)
    decided = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    note = models.TextField(blank=True, max_length=1000)

    class Meta:
        indexes = [
            models.Index("expires", condition=Q(decided__isnull=True), name="batch_approval_pending"),
        ]
        ordering = ["expires"]

    def __str__(self) -> str:
        return f"Approval of {self.batch_id}"


class ColumnMapping(models.Model):
    """Which column is which field, kept under a name for the next file."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="column_mappings", db_index=False)
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100)
    mapping = models.JSONField()
    updated = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "store",
                "application",
                "user",
                "name",
                nulls_distinct=False,
                name="column_mapping_name_unique",
            ),
        ]
        ordering = ["store", "name"]

    def __str__(self) -> str:
        return self.name
