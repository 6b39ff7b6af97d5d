"""Selections of carrier routes for mailings."""

import uuid
from typing import NamedTuple

from django.conf import settings
from django.db import models

from delivery.datasets.models import Dataset


class EddmSelection(models.Model):
    """Carrier routes chosen for a mailing, with their counts on that day. Never changed.

    It belongs to the caller who created it, as quotes do. Its key is the API's SelectionID.
    """

    id = models.UUIDField("SelectionID", primary_key=True, default=uuid.uuid4, editable=False)
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )
    is_test = models.BooleanField(default=False, db_default=False, editable=False)
    created = models.DateTimeField()
    expires = models.DateTimeField(help_text="Until then it can be quoted and ordered.")
    # A selection used in an order stays as long as the order.
    is_ordered = models.BooleanField("ordered", default=False, db_default=False, editable=False)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="+", db_index=False)
    # Copied from the data set, which may be removed later.
    vintage = models.DateField(help_text="The first day of the month the counts are of.")
    is_synthetic = models.BooleanField(
        "synthetic", default=False, help_text="Invented counts, for trying out."
    )
    criteria = models.JSONField(default=dict, help_text="The request, as the API took it.")
    residential_only = models.BooleanField(default=False)
    route_count = models.PositiveIntegerField("routes")
    residential = models.PositiveIntegerField()
    business = models.PositiveIntegerField()
    pieces = models.PositiveIntegerField(help_text="The residential deliveries, or all of them.")
    # The box around the routes in degrees; empty where the data set has no geometry of them.
    west = models.FloatField(null=True)
    south = models.FloatField(null=True)
    east = models.FloatField(null=True)
    north = models.FloatField(null=True)

    class Meta:
        verbose_name = "EDDM selection"
        ordering = ["-created"]
        indexes = [
            models.Index(fields=["user", "-created"], name="eddm_selection_of_user"),
            models.Index(fields=["application", "-created"], name="eddm_selection_of_app"),
            models.Index("expires", condition=models.Q(is_ordered=False), name="eddm_selection_expiry"),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def total(self) -> int:
        return self.residential + self.business

    @property
    def bounding_box(self) -> list[float] | None:
        """West, south, east, north."""
        if self.west is None or self.south is None or self.east is None or self.north is None:
            return None
        return [self.west, self.south, self.east, self.north]


class EddmSelectionRoute(models.Model):
    """A route of a selection with frozen counts, in the order of selection."""

    pk = models.CompositePrimaryKey("selection_id", "position")
    # Without a constraint: thousands of rows are copied at once, and only services write here.
    selection = models.ForeignKey(
        EddmSelection, on_delete=models.CASCADE, related_name="routes", db_constraint=False, db_index=False
    )
    position = models.PositiveIntegerField(help_text="From 1.")
    postal_code = models.CharField(max_length=5)
    carrier_route = models.CharField(max_length=4, help_text="A type letter (C, R, H or B) and three digits.")
    residential = models.PositiveIntegerField()
    business = models.PositiveIntegerField()
    pieces = models.PositiveIntegerField()
    # The post office where the mailing of this route is handed in, as the source names it; empty where it does not.
    facility_name = models.CharField(max_length=80, blank=True)
    # Figures of the people along the route, where the source has them.
    median_income = models.PositiveIntegerField(null=True)
    median_age = models.FloatField(null=True)
    household_size = models.FloatField(null=True)

    class Meta:
        ordering = ["position"]

    def __str__(self) -> str:
        return self.code

    @property
    def code(self) -> str:
        return f"{self.postal_code}{self.carrier_route}"

    @property
    def total(self) -> int:
        return self.residential + self.business


class ChosenRoute(NamedTuple):
    """Has the field names of `EddmSelectionRoute`, as which it is stored."""

    postal_code: str
    carrier_route: str
    residential: int
    business: int
    pieces: int
    median_income: int | None
    median_age: float | None
    household_size: float | None
    facility_name: str

    @property
    def code(self) -> str:
        return self.postal_code + self.carrier_route

    @property
    def total(self) -> int:
        return self.residential + self.business
