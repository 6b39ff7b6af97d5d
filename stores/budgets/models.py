"""Cost centers with their people, and budgets with the ledger of what was reserved and spent."""

import uuid
from typing import Any

import pghistory
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from stores.catalog.models.store import (
    EXTERNAL_ID,
    BudgetDuration,
    BudgetType,
    Store,
    validate_external_id,
)

MONEY: Any = {"max_digits": 16, "decimal_places": 2}


class ScopeKind(models.TextChoices):
    STORE = "Store", _("Everybody in the store")
    USER = "User", _("A person")
    APPLICATION = "Application", _("An application")
    COST_CENTER = "CostCenter", _("A cost center")


class OverBudget(models.TextChoices):
    REFUSE = "Refuse", _("Refuse the order")
    APPROVE = "Approve", _("Ask for approval")
    WARN = "Warn", _("Accept the order and warn")


class EntryKind(models.TextChoices):
    """`Reservation` is for a batch: it takes its sum before its orders are written."""

    ORDER = "Order", _("Order")
    RELEASE = "Release", _("Release")
    ADJUSTMENT = "Adjustment", _("Adjustment")
    CARRY_OVER = "CarryOver", _("Carry Over")
    RESERVATION = "Reservation", _("Reservation")


class BudgetLevel(models.IntegerChoices):
    """The highest level that was announced in a period."""

    NONE = 0
    WARNED = 1
    EXCEEDED = 2


@pghistory.track()
class CostCenter(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    store = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="cost_centers", db_index=False)
    code = models.CharField(
        max_length=64,
        validators=[validate_external_id],
        help_text="Budgets and files refer to the cost center by this code. It cannot be changed later.",
    )
    name = models.CharField(max_length=200)
    updated = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("store", "code", name="cost_center_code_unique"),
            models.CheckConstraint(condition=Q(code__regex=EXTERNAL_ID), name="cost_center_code_form"),
        ]
        ordering = ["store", "code"]

    def __str__(self) -> str:
        return f"{self.code} {self.name}"


@pghistory.track()
class CostCenterMember(models.Model):
    """A person in a cost center. `store` is that of the cost center: a person is in one of each store at most."""

    cost_center = models.ForeignKey(CostCenter, on_delete=models.CASCADE, related_name="members")
    store = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="cost_centers")

    class Meta:
        constraints = [models.UniqueConstraint("store", "user", name="cost_center_member_unique")]
        ordering = ["cost_center", "id"]

    def __str__(self) -> str:
        return f"{self.user} in {self.cost_center}"


@pghistory.track()
class Budget(models.Model):
    """What may be spent in each period. Every change of its ledger locks this row first.

    `scope_key` is the key of a person, an application or a cost center, kept as a value: the budget and its entries
    stay when that is removed. It is null for the whole store. `currency` is that of the store, for amounts only.
    """

    id = models.UUIDField("budget ID", primary_key=True, default=uuid.uuid4, editable=False)
    store = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="budgets", db_index=False)
    name = models.CharField(max_length=200)
    scope_kind = models.CharField("scope", max_length=11, choices=ScopeKind.choices)
    scope_key = models.UUIDField(null=True, blank=True)
    type = models.CharField("counts", max_length=10, choices=BudgetType.choices)
    limit = models.DecimalField(**MONEY, validators=[MinValueValidator(0)])
    currency = models.CharField(max_length=3, blank=True, editable=False)
    duration = models.CharField("period", max_length=10, choices=BudgetDuration.choices)
    start_date = models.DateField(help_text="Periods begin on this day, in the store's time zone.")
    end_date = models.DateField(
        null=True, blank=True, help_text="The last day on which the budget applies. Empty: it has no end."
    )
    carry_over = models.BooleanField(
        default=False, help_text="Add the unused rest of a period to the next one."
    )
    over_budget = models.CharField(max_length=7, choices=OverBudget.choices, default=OverBudget.REFUSE)
    warn_at = models.PositiveSmallIntegerField(
        "warn at (%)",
        default=80,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text="The service notifies staff when this percentage of the limit is used, and again at 100%.",
    )
    is_enabled = models.BooleanField("enabled", default=True)
    created = models.DateTimeField(default=timezone.now, editable=False)
    updated = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(limit__gte=0), name="budget_limit_not_negative"),
            models.CheckConstraint(condition=Q(warn_at__range=(1, 100)), name="budget_warn_at_percent"),
            models.CheckConstraint(
                condition=Q(scope_kind=ScopeKind.STORE) ^ Q(scope_key__isnull=False),
                name="budget_scope_has_key",
            ),
            models.CheckConstraint(
                condition=Q(end_date__isnull=True) | Q(end_date__gte=models.F("start_date")),
                name="budget_ends_after_start",
            ),
            models.CheckConstraint(
                condition=Q(type=BudgetType.AMOUNT) ^ Q(currency=""), name="budget_amount_has_currency"
            ),
        ]
        indexes = [models.Index("store", "name", "id", name="budget_of_store")]
        ordering = ["store", "name", "id"]

    def __str__(self) -> str:
        return self.name


class BudgetPeriod(models.Model):
    """The balance of a budget in one period: the sums of its entries, made when the period is first needed.

    `added` are adjustments and what was carried over; `used` is what orders took, less what came back. `differs` is set
    by the nightly check while these are not the sums of the entries.
    """

    budget = models.ForeignKey(Budget, on_delete=models.CASCADE, related_name="periods", db_index=False)
    number = models.PositiveIntegerField()
    starts = models.DateTimeField()
    ends = models.DateTimeField()
    added = models.DecimalField(**MONEY, default=0)
    used = models.DecimalField(**MONEY, default=0)
    level = models.PositiveSmallIntegerField(choices=BudgetLevel.choices, default=BudgetLevel.NONE)
    differs = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint("budget", "number", name="budget_period_unique"),
            models.CheckConstraint(condition=Q(used__gte=0), name="budget_period_used_not_negative"),
        ]
        indexes = [models.Index("budget", condition=Q(differs=True), name="budget_period_differs")]
        ordering = ["budget", "number"]

    def __str__(self) -> str:
        return f"{self.budget_id} from {self.starts}"


class BudgetEntry(models.Model):
    """A line of the ledger; rows are only added. A positive amount may be spent, a negative one was spent.

    Orders, people and applications are kept as values. `cause` names the reason and is unique for a budget, so that
    nothing is counted twice.
    """

    # Checked by way of the period, which costs each order less.
    budget = models.ForeignKey(
        Budget, on_delete=models.PROTECT, related_name="entries", db_index=False, db_constraint=False
    )
    period = models.ForeignKey(BudgetPeriod, on_delete=models.PROTECT, related_name="entries")
    kind = models.CharField(max_length=11, choices=EntryKind.choices)
    amount = models.DecimalField(**MONEY)
    order_id = models.UUIDField(null=True)
    # Joins the entries of a batch: what it took, what became its orders, and the rest that came back.
    reservation_id = models.UUIDField(null=True)
    actor_user = models.UUIDField(null=True)
    actor_application = models.UUIDField(null=True)
    note = models.CharField(max_length=1000, blank=True)
    cause = models.CharField(max_length=60)
    created = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint("budget", "cause", name="budget_entry_cause_unique"),
            models.CheckConstraint(condition=~Q(amount=0), name="budget_entry_has_amount"),
        ]
        indexes = [
            models.Index("budget", "id", name="budget_entry_of_budget"),
            models.Index("order_id", condition=Q(order_id__isnull=False), name="budget_entry_of_order"),
            models.Index("actor_user", condition=Q(actor_user__isnull=False), name="budget_entry_of_person"),
            models.Index(
                "reservation_id",
                condition=Q(reservation_id__isnull=False),
                name="budget_entry_of_reservation",
            ),
        ]
        ordering = ["budget", "id"]
        verbose_name_plural = "budget entries"

    def __str__(self) -> str:
        return f"{self.kind} {self.amount}"
