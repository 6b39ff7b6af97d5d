import pghistory
from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

EXTERNAL_ID = r"^[A-Za-z0-9._-]{1,64}\Z"
validate_external_id = RegexValidator(EXTERNAL_ID, "Use 1 to 64 letters, digits and . _ - only.")


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
        help_text="Approve what test applications ask for at once. Their orders are never produced.",
    )
    hold_window_minutes = models.PositiveIntegerField(default=60)
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
