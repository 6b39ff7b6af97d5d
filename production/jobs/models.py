"""Print jobs at a provider, every attempt to send or cancel one, and what providers and scanners report."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from production.interface import ReportedState
from production.providers.models import Provider
from production.routing.models import RoutingRule
from stores.catalog.models import Store
from stores.orders.models import ActorKind, Order, OrderItem

# What is not read for many jobs: a product or an order has megabytes of it, and each of its jobs would have a copy.
OF_STORE = ("rendering", "verbose_rendering")
OF_PRODUCT = ("template", "description", *OF_STORE)
UNREAD = (
    *(f"{store}__{name}" for store in ("store", "order__store") for name in OF_STORE),
    "order__rendering",
    "order__metadata",
    *(f"item__{name}" for name in OrderItem.LARGE),
    *(f"item__product__{name}" for name in OF_PRODUCT),
)


class JobState(models.TextChoices):
    QUEUED = "Queued", _("Queued")
    SENT = "Sent", _("Sent")
    ACKNOWLEDGED = ReportedState.ACKNOWLEDGED.value, _("Acknowledged")
    IN_PRODUCTION = ReportedState.IN_PRODUCTION.value, _("In production")
    SHIPPED = ReportedState.SHIPPED.value, _("Shipped")
    FAILED = ReportedState.FAILED.value, _("Failed")
    CANCELLED = ReportedState.CANCELLED.value, _("Cancelled")


class HoldReason(models.TextChoices):
    NONE = "", _("Not held")
    MANUAL = "Manual", _("Held by hand")
    ORDER = "Order", _("The order is on hold")


# The order of progress; a report never moves a job back.
RANK: dict[str, int] = {
    JobState.QUEUED: 0,
    JobState.SENT: 1,
    JobState.ACKNOWLEDGED: 2,
    JobState.IN_PRODUCTION: 3,
    JobState.SHIPPED: 4,
}
AT_PROVIDER = (JobState.SENT.value, JobState.ACKNOWLEDGED.value, JobState.IN_PRODUCTION.value)
OPEN = (JobState.QUEUED.value, *AT_PROVIDER)
# Open and failed jobs, which the board shows first: a person or the worker still has to act.
IN_WORK = (*OPEN, JobState.FAILED.value)


class Job(models.Model):
    """The production of an order item.

    It is its own outbox: `next_try` is when a worker must submit it or, if `cancel_requested` is set, cancel it.
    `number` identifies it at the provider: the same over all attempts, and a new one (`generation`) when the job is
    restarted. `pieces` are those of a reprint of fewer than ordered. `is_uncertain`: an attempt ended without a
    response, so the provider may have the job. A job on a `gang_sheet` is sent with it and has no `next_try`. Jobs of
    an order that a provider takes as one order have its number there in `provider_order`, from when they are sent; they
    keep it while the provider may have that order.
    """

    number = models.CharField(max_length=40, unique=True)
    generation = models.PositiveSmallIntegerField(default=1)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="jobs", db_index=False)
    item = models.OneToOneField(OrderItem, on_delete=models.PROTECT, related_name="job")
    store = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="+", db_index=False)
    provider = models.ForeignKey(
        Provider, null=True, on_delete=models.PROTECT, related_name="jobs", db_index=False
    )
    # Named by a text, because the feature stands above this one.
    gang_sheet = models.ForeignKey(
        "production.GangSheet", null=True, on_delete=models.SET_NULL, related_name="jobs", db_index=False
    )
    provider_order = models.CharField(
        "order at the provider", max_length=40, blank=True, default="", db_default="", editable=False
    )
    rule = models.ForeignKey(RoutingRule, null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=12, choices=JobState.choices, default=JobState.QUEUED)
    held = models.CharField(max_length=6, choices=HoldReason.choices, blank=True, default="")
    message = models.CharField(max_length=1000, blank=True)
    reference = models.CharField(max_length=200, blank=True)
    due = models.DateField()
    pieces = models.PositiveIntegerField(null=True, editable=False)
    tries = models.PositiveIntegerField(default=0)
    next_try = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    is_uncertain = models.BooleanField(default=False)
    refused_by = ArrayField(models.BigIntegerField(), default=list)
    cancel_requested = models.DateTimeField(null=True)
    reported = models.DateTimeField(null=True)
    created = models.DateTimeField()
    sent = models.DateTimeField(null=True)
    updated = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="job_state_known"),
            models.CheckConstraint(
                condition=Q(held="") | Q(next_try__isnull=True) | Q(cancel_requested__isnull=False),
                name="job_held_not_due",
            ),
        ]
        indexes = [
            models.Index("order", name="job_of_order"),
            models.Index("next_try", condition=Q(next_try__isnull=False), name="job_due"),
            models.Index("state", "id", name="job_by_state"),
            models.Index("store", "state", "id", name="job_by_store"),
            models.Index("provider", "state", "id", name="job_by_provider"),
            models.Index("gang_sheet", condition=Q(gang_sheet__isnull=False), name="job_of_gang_sheet"),
            # The board walks along these, however many jobs are done: all that its stages ask is in them.
            models.Index("due", "id", "state", "held", condition=Q(state__in=IN_WORK), name="job_by_due"),
            models.Index(
                "store",
                "due",
                "id",
                "state",
                "held",
                condition=Q(state__in=IN_WORK),
                name="job_by_due_of_store",
            ),
            models.Index(
                "provider",
                "due",
                "id",
                "state",
                "held",
                condition=Q(state__in=IN_WORK),
                name="job_by_due_of_provider",
            ),
            models.Index("store", "id", name="job_all_of_store"),
            models.Index("provider", "id", name="job_all_of_provider"),
        ]
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.number

    @property
    def quantity(self) -> int:
        return self.pieces or self.item.quantity


class ScanStep(models.TextChoices):
    PRINTED = "Printed", _("Printed")
    CUT = "Cut", _("Cut")
    PACKED = "Packed", _("Packed")
    MISSING = "Missing", _("Missing")


class Scan(models.Model):
    """A code read on the shop floor, under the ID that the scanning page gave it: sent twice it counts once.

    `number` is that of the job when it was read, so that a reprint is printed, cut and packed again. `pieces` are those
    that are missing. Who scanned is in the job's history.
    """

    id = models.UUIDField(primary_key=True)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="scans", db_index=False)
    number = models.CharField("job number", max_length=40)
    step = models.CharField(max_length=7, choices=ScanStep.choices)
    pieces = models.PositiveIntegerField(null=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(step__in=ScanStep.values), name="scan_step_known")]
        indexes = [models.Index("job", "number", "step", name="scan_of_job")]

    def __str__(self) -> str:
        return f"{self.step} of {self.number}"


class AttemptKind(models.TextChoices):
    SUBMIT = "Submit", _("Submit")
    CANCEL = "Cancel", _("Cancel")


class AttemptOutcome(models.TextChoices):
    UNFINISHED = "", _("Under way")
    SENT = "Sent", _("Sent")
    CANCELLED = "Cancelled", _("Cancelled")
    REFUSED = "Refused", _("Refused")
    UNAVAILABLE = "Unavailable", _("Could not be reached")
    FAILED = "Failed", _("Failed")
    INTERRUPTED = "Interrupted", _("Interrupted")


class Attempt(models.Model):
    """An exchange with a provider: written before the request, completed with the response."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="attempts", db_index=False)
    number = models.CharField("job number", max_length=40)
    provider = models.ForeignKey(Provider, on_delete=models.PROTECT, related_name="+", db_index=False)
    kind = models.CharField(max_length=6, choices=AttemptKind.choices)
    outcome = models.CharField(max_length=11, choices=AttemptOutcome.choices, blank=True, default="")
    message = models.CharField(max_length=1000, blank=True)
    request = models.TextField(blank=True)
    response = models.TextField(blank=True, db_column="answer")
    digests = models.JSONField(default=dict)
    started = models.DateTimeField()
    finished = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index("job", "id", name="job_attempt_of_job"),
            models.Index("number", name="job_attempt_by_number"),
            models.Index("started", name="job_attempt_by_start"),
        ]
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} of {self.number}"


class JobHistory(models.Model):
    """A change of a job: of its state, its provider, or by a person."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="history", db_index=False)
    previous_state = models.CharField(max_length=12, blank=True)
    state = models.CharField(max_length=12, choices=JobState.choices)
    timestamp = models.DateTimeField()
    actor_kind = models.CharField(max_length=11, choices=ActorKind.choices)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    note = models.CharField(max_length=1000, blank=True)

    class Meta:
        indexes = [
            models.Index("job", "id", name="job_history_of_job"),
            models.Index("actor", condition=models.Q(actor__isnull=False), name="job_history_of_actor"),
        ]
        ordering = ["job", "id"]
        verbose_name_plural = "job history"

    def __str__(self) -> str:
        return f"{self.job_id}: {self.state}"


class ReportOutcome(models.TextChoices):
    APPLIED = "Applied", _("Applied")
    LATE = "Late", _("Late: a newer state is known")
    CONTRADICTION = "Contradiction", _("Contradiction")
    UNKNOWN_JOB = "Unknown", _("Unknown job")


class ProviderReport(models.Model):
    """A provider's report on a job, even without effect; `repeats` counts repetitions."""

    provider = models.ForeignKey(Provider, on_delete=models.PROTECT, related_name="reports", db_index=False)
    identifier = models.CharField(max_length=200)
    job = models.ForeignKey(Job, null=True, on_delete=models.CASCADE, related_name="reports", db_index=False)
    job_number = models.CharField(max_length=100)
    state = models.CharField(max_length=20)
    at = models.DateTimeField(null=True)
    received = models.DateTimeField()
    outcome = models.CharField(max_length=13, choices=ReportOutcome.choices)
    explanation = models.CharField(max_length=1000, blank=True)
    carrier = models.CharField(max_length=60, blank=True)
    tracking_number = models.CharField(max_length=100, blank=True)
    tracking_url = models.CharField(max_length=1000, blank=True)
    message = models.CharField(max_length=1000, blank=True)
    raw = models.TextField(blank=True)
    repeats = models.PositiveIntegerField(default=0)
    is_seen = models.BooleanField("looked at", default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint("provider", "identifier", name="provider_report_once"),
        ]
        indexes = [
            models.Index("job", "id", name="provider_report_of_job"),
            models.Index("received", name="provider_report_by_time"),
            models.Index(
                "id",
                condition=models.Q(outcome__in=("Contradiction", "Unknown"), is_seen=False),
                name="provider_report_open",
            ),
        ]
        ordering = ["-id"]

    def __str__(self) -> str:
        return _("%(state)s of %(record)s") % {"state": self.shown_state, "record": self.job_number}

    @property
    def shown_state(self) -> str:
        """The label of the state, if it is a state of jobs."""
        return str(dict(JobState.choices).get(self.state, self.state))
