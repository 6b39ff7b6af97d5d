from django.db import models

from stores.orders.models.order import Order

# The name of the outcome in the metadata of a test order.
TEST_OUTCOME = "TestOutcome"


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
