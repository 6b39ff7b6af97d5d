from django.conf import settings
from django.db import models

from stores.catalog.models.store import Store
from stores.orders.models.order import Order
from stores.orders.models.status import ActorKind, OrderStatus

MAX_COMMENT_LENGTH = 2000
MAX_VIEW_NAME_LENGTH = 40


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
        """In the language of the page."""
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
