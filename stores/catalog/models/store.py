"""Stores with their profiles and the counts of their API calls."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator, URLValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

EXTERNAL_ID = r"^[A-Za-z0-9._-]{1,64}\Z"
validate_external_id = RegexValidator(EXTERNAL_ID, _("Use 1 to 64 letters, digits and . _ - only."))


class BudgetType(models.TextChoices):
    AMOUNT = "Amount", "Amount spent"
    ORDERS = "Orders", "Number of orders"
    QUANTITY = "Quantity", "Quantity ordered"


class BudgetDuration(models.TextChoices):
    WEEKLY = "Weekly", "Every week"
    MONTHLY = "Monthly", "Every month"
    QUARTERLY = "Quarterly", "Every quarter"
    YEARLY = "Yearly", "Every year"


@pghistory.track(exclude=["catalog_version", "product_count", "rendering", "verbose_rendering"])
class Store(models.Model):
    """`rendering` and `verbose_rendering` are the API's finished JSON bodies, written with the store."""

    external_id = models.CharField("store ID", max_length=64, unique=True, validators=[validate_external_id])
    company_name = models.CharField(max_length=200)
    description = models.TextField(blank=True, max_length=4000)
    currency = models.CharField(max_length=3, default="USD")
    time_zone = models.CharField(max_length=64, default="UTC")
    is_demo = models.BooleanField("demo store", default=False)
    budget_enabled = models.BooleanField(default=False)
    budget_types = ArrayField(
        models.CharField(max_length=10, choices=BudgetType.choices), default=list, blank=True
    )
    budget_durations = ArrayField(
        models.CharField(max_length=10, choices=BudgetDuration.choices), default=list, blank=True
    )
    admits_test_applications = models.BooleanField(
        "test applications",
        default=False,
        db_default=False,
        help_text="Approve requests of test applications automatically. Their orders are never produced.",
    )
    hold_window_minutes = models.PositiveIntegerField(default=60)
    approval_above = models.DecimalField(max_digits=14, decimal_places=2, null=True, blank=True)
    approval_hours = models.PositiveIntegerField(default=72, db_default=72)
    created = models.DateTimeField(default=timezone.now, editable=False)
    updated = models.DateTimeField(default=timezone.now, editable=False)

    catalog_version = models.BigIntegerField(default=0, editable=False)
    product_count = models.PositiveIntegerField(default=0, editable=False)
    rendering = models.TextField(editable=False, default="")
    verbose_rendering = models.TextField(editable=False, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint("is_demo", condition=models.Q(is_demo=True), name="store_one_demo"),
            models.CheckConstraint(condition=models.Q(external_id__regex=EXTERNAL_ID), name="store_id_form"),
            models.CheckConstraint(
                condition=models.Q(currency__regex=r"^[A-Z]{3}\Z"), name="store_currency_form"
            ),
        ]
        ordering = ["company_name"]

    def __str__(self) -> str:
        return self.company_name

    def local_date(self, moment: datetime) -> date:
        return moment.astimezone(ZoneInfo(self.time_zone)).date()


@pghistory.track(exclude=["logo"])
class StoreProfile(models.Model):
    """A store's entry in the directory, which shows listed stores only. `logo` is a re-encoded PNG."""

    store = models.OneToOneField(Store, primary_key=True, on_delete=models.CASCADE, related_name="profile")
    is_listed = models.BooleanField("listed in the directory", default=False)
    country = models.CharField(max_length=100, blank=True)
    website = models.CharField(max_length=200, blank=True, validators=[URLValidator(["https", "http"])])
    logo = models.BinaryField(null=True, blank=True)
    logo_sha256 = models.CharField(max_length=64, blank=True, db_index=True)
    updated = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [
            models.Index("store", condition=models.Q(is_listed=True), name="store_profile_listed"),
        ]

    def __str__(self) -> str:
        return f"Profile of {self.store}"


class StoreUsage(models.Model):
    """How often the API was called for a store on a day (UTC). Only the service `usage` writes it."""

    pk = models.CompositePrimaryKey("store_id", "day")
    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    calls = models.BigIntegerField()

    class Meta:
        indexes = [models.Index("day", name="store_usage_day")]

    def __str__(self) -> str:
        return f"{self.calls} calls on {self.day}"
