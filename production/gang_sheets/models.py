import re

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from production.providers.models import Provider
from stores.catalog.models import Product, Store

NUMBER = re.compile(r"G(\d{1,15})(?:-(\d{1,5}))?\Z")


class SheetState(models.TextChoices):
    COLLECTING = "Collecting", _("Collecting")
    PLANNED = "Planned", _("Planned")
    SENT = "Sent", _("Sent")
    CANCELLED = "Cancelled", _("Dissolved")


class GangSheet(models.Model):
    """Jobs of one product and size that go to a provider together, on press sheets.

    Jobs wait for it (`Job.gang_sheet`) until `next_try`; then its members are fixed, and it is sent like a job:
    `number` is what the provider knows it by, another (`generation`) once a member has left a planned one. What is
    planned follows from the members, their files and `sheet` alone: it is the same however often it is made.
    """

    generation = models.PositiveSmallIntegerField(default=1)
    provider = models.ForeignKey(Provider, on_delete=models.PROTECT, related_name="gang_sheets")
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="+")
    store = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="+", db_index=False)
    # Size, bleed, sides and preset in one word: only jobs that are equal in it share a sheet.
    kind = models.CharField(max_length=300)
    state = models.CharField(max_length=10, choices=SheetState.choices, default=SheetState.COLLECTING)
    sheet = models.JSONField(default=dict)
    pieces = models.PositiveBigIntegerField(default=0)
    layouts = models.PositiveIntegerField(default=0)
    # Paper with overs; none on sheets that were sent before it was counted.
    printed_sheets = models.PositiveIntegerField(null=True)
    waste = models.FloatField(null=True)
    message = models.CharField(max_length=1000, blank=True)
    tries = models.PositiveIntegerField(default=0)
    next_try = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    is_uncertain = models.BooleanField(default=False)
    created = models.DateTimeField()
    sent = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=SheetState.values), name="gang_sheet_state_known"),
            models.UniqueConstraint(
                "provider",
                "product",
                "kind",
                condition=Q(state="Collecting"),
                name="gang_sheet_collects_once",
            ),
        ]
        indexes = [
            models.Index("next_try", condition=Q(next_try__isnull=False), name="gang_sheet_due"),
            models.Index("store", "id", name="gang_sheet_of_store"),
        ]
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.number

    @property
    def number(self) -> str:
        return f"G{self.pk}-{self.generation}" if self.generation > 1 else f"G{self.pk}"
