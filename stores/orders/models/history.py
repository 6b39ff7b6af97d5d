"""What is kept about orders: history, counts, comments, saved views, test scenarios and approvals."""

import pghistory
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext as _

from stores.catalog.models.store import Store
from stores.orders.models.order import Order
from stores.orders.models.status import ActorKind, OrderStatus

MAX_COMMENT_LENGTH = 2000
MAX_VIEW_NAME_LENGTH = 40
# The name of the outcome in the metadata of a test order.
TEST_OUTCOME = "TestOutcome"
# The label of the audit event of a decision that was refused because the same person had ordered.
OWN_ORDER = "own_order_refused"


class OrderHistory(models.Model):
    """A change of an order: a transition to a status, or a cancellation request or refusal."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="history", db_index=False)
    sequence = models.PositiveIntegerField()
    previous_status = models.PositiveSmallIntegerField(choices=OrderStatus.choices, null=True)
    status = models.PositiveSmallIntegerField(choices=OrderStatus.choices)
    timestamp = models.DateTimeField()
    actor_kind = models.CharField(max_length=11, choices=ActorKind.choices)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    note = models.TextField(blank=True, max_length=1000)

    class Meta:
        constraints = [models.UniqueConstraint("order", "sequence", name="order_history_sequence_unique")]
        ordering = ["order", "sequence"]
        verbose_name_plural = "order history"

    def __str__(self) -> str:
        return f"{self.sequence}: {self.get_status_display()}"

    @property
    def status_words(self) -> str:
        """The status in the language of the page."""
        return OrderStatus(self.status).shown


class OrderTally(models.Model):
    """The number of orders by store, application and status, so that pages need not count the orders."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="+", db_index=False)
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
    )
    status = models.PositiveSmallIntegerField(choices=OrderStatus.choices)
    orders = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "store", "application", "status", nulls_distinct=False, name="order_tally_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.orders} {self.get_status_display()}"


class OrderDay(models.Model):
    """The orders that a store received, with their totals in its currency, and shipped on a day in its time zone."""

    pk = models.CompositePrimaryKey("store", "day")
    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    placed = models.PositiveIntegerField(db_default=0)
    shipped = models.PositiveIntegerField(db_default=0)
    amount = models.DecimalField(max_digits=16, decimal_places=2, db_default=0)

    class Meta:
        indexes = [models.Index("day", name="order_day_by_day")]

    def __str__(self) -> str:
        return f"{self.placed} placed, {self.shipped} shipped on {self.day}"


class OrderComment(models.Model):
    """An internal note of store staff on an order; applications and recipients never see it."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="comments", db_index=False)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    text = models.TextField(max_length=MAX_COMMENT_LENGTH)
    created = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index("order", "id", name="order_comment_of_order"),
            models.Index("author", condition=models.Q(author__isnull=False), name="order_comment_of_author"),
        ]
        ordering = ["order", "id"]

    def __str__(self) -> str:
        return self.text[:60]


class OrderView(models.Model):
    """A saved view of the console's list of orders: filters, sort and columns, as the query of its address.

    One that is shared is seen by the staff of `store`; without a store, by operators.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    name = models.CharField(max_length=MAX_VIEW_NAME_LENGTH)
    query = models.CharField(max_length=1000, blank=True)
    is_shared = models.BooleanField(default=False)
    store = models.ForeignKey(Store, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint("owner", "name", name="order_view_name_unique")]
        indexes = [models.Index("name", condition=models.Q(is_shared=True), name="order_view_shared")]
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name


class TestOutcome(models.TextChoices):
    """The requested outcome of a test order: the value of TEST_OUTCOME in its metadata."""

    __test__ = False  # not a test class, despite its name

    REJECTED = "Rejected"
    ON_HOLD = "OnHold"
    PARTIALLY_SHIPPED = "PartiallyShipped"
    RETURNED = "Returned"
    CANCEL_REFUSED = "CancelRefused"
    DELIVERED = "Delivered"


class TestScenario(models.Model):
    """Moves a test order to its outcome; deleted at the end. Without `due` it waits for a cancellation."""

    __test__ = False  # not a test class, despite its name

    order = models.OneToOneField(Order, primary_key=True, on_delete=models.CASCADE, related_name="scenario")
    outcome = models.CharField(max_length=16, choices=TestOutcome.choices)
    due = models.DateTimeField(null=True)

    class Meta:
        db_table = "stores_orderstory"
        indexes = [models.Index("due", condition=models.Q(due__isnull=False), name="order_story_due")]

    def __str__(self) -> str:
        return f"{self.order_id}: {self.outcome}"


@pghistory.track(pghistory.UpdateEvent(), pghistory.ManualEvent(OWN_ORDER), exclude=["reasons", "note"])
class ApprovalRequest(models.Model):
    """Why an order needs approval, and what was decided. Its state is `Order.approval`.

    `ordered_by` are the people who may not decide, as they were when the order was placed.
    """

    order = models.OneToOneField(
        Order, primary_key=True, on_delete=models.CASCADE, related_name="approval_request"
    )
    reasons = models.JSONField()
    ordered_by = ArrayField(models.UUIDField())
    requested = models.DateTimeField()
    expires = models.DateTimeField()
    reminder_due = models.DateTimeField(null=True)
    decided = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    note = models.TextField(blank=True, max_length=1000)

    class Meta:
        indexes = [
            models.Index(
                "expires", condition=models.Q(decided__isnull=True), name="approval_request_pending"
            ),
            models.Index(
                "reminder_due",
                condition=models.Q(reminder_due__isnull=False),
                name="approval_request_reminder",
            ),
            models.Index(
                "decided_by",
                condition=models.Q(decided_by__isnull=False),
                name="approval_request_decided_by",
            ),
        ]
        ordering = ["expires"]
        verbose_name = "approval"

    def __str__(self) -> str:
        return _("Order %(number)s") % {"number": self.order.number}
