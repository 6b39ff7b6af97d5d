import pghistory
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext as _

from stores.orders.models.order import Order

# The label of the audit event of a decision that was refused because the same person had ordered.
OWN_ORDER = "own_order_refused"


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
