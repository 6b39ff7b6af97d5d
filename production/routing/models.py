"""Rules that assign order items to print providers, and counts of what each got for fair shares."""

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from production.providers.models import Provider
from stores.catalog.models import Product, Store


@pghistory.track()
class RoutingRule(models.Model):
    """Which items go to which providers. The first enabled rule by `position` that fits an item decides.

    An empty condition fits everything. An item that no rule fits is produced by hand: it gets no job.
    """

    position = models.PositiveIntegerField(
        default=100,
        help_text="Rules are tried in this order, smallest number first. The first that matches an item decides.",
    )
    name = models.CharField(max_length=100)
    is_enabled = models.BooleanField("enabled", default=True)
    store = models.ForeignKey(
        Store,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="Empty: any store.",
    )
    product = models.ForeignKey(
        Product,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="Empty: any product.",
    )
    category = models.CharField(
        max_length=100, blank=True, help_text="The category of the product, as in the catalog. Empty: any."
    )
    countries = ArrayField(
        models.CharField(
            max_length=2, validators=[RegexValidator(r"^[A-Z]{2}\Z", _("Use codes of two capital letters."))]
        ),
        default=list,
        blank=True,
        help_text="Destination countries by their codes, such as US, CA. Empty: any.",
    )
    minimum_quantity = models.PositiveIntegerField(null=True, blank=True)
    maximum_quantity = models.PositiveIntegerField(null=True, blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)
    updated = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(minimum_quantity__isnull=True)
                | models.Q(maximum_quantity__isnull=True)
                | models.Q(minimum_quantity__lte=models.F("maximum_quantity")),
                name="routing_rule_quantities_ordered",
                violation_error_message=_("The smallest quantity is larger than the largest."),
            )
        ]
        ordering = ["position", "id"]

    def __str__(self) -> str:
        return self.name


@pghistory.track()
class RoutingChoice(models.Model):
    """A provider of a rule. Available providers of the smallest `priority` get jobs by their shares."""

    rule = models.ForeignKey(RoutingRule, on_delete=models.CASCADE, related_name="choices")
    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="choices")
    priority = models.PositiveSmallIntegerField(
        default=1,
        help_text="1 is tried first; the next takes over where a provider is down, full or refuses a job.",
    )
    share = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text="Among providers of the same priority: with 3 and 1, the first gets three jobs of four.",
    )
    daily_capacity = models.PositiveIntegerField(
        "jobs per day", null=True, blank=True, validators=[MinValueValidator(1)]
    )

    class Meta:
        constraints = [
            models.UniqueConstraint("rule", "provider", name="routing_choice_unique"),
            models.CheckConstraint(condition=models.Q(share__gte=1), name="routing_share_positive"),
        ]
        ordering = ["rule", "priority", "id"]

    def __str__(self) -> str:
        return f"{self.provider} ({self.priority})"


class RoutingTally(models.Model):
    """The jobs that a rule gave a provider on a day (UTC), without reassigned ones."""

    day = models.DateField()
    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="+")
    rule = models.ForeignKey(
        RoutingRule, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    jobs = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "day", "provider", "rule", nulls_distinct=False, name="routing_tally_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.jobs} for {self.provider_id} on {self.day}"
