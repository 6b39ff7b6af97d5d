"""The official form of mailings, and the postage of a piece."""

from decimal import Decimal

import pghistory
from django.core.validators import MinValueValidator
from django.db import models
from django.utils import timezone


@pghistory.track(exclude=["content"])
class OfficialForm(models.Model):
    """The Postal Service's PDF of PS Form 3587, as an operator uploaded it; the newest one is filled.

    `mapping` has the name of a field for each value that the papers know, as delivery.papers.official_form says.
    """

    file_name = models.CharField(max_length=200)
    sha256 = models.CharField("SHA-256", max_length=64)
    content = models.BinaryField()
    field_names = models.JSONField(default=list)
    mapping = models.JSONField(default=dict, blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = "PS Form 3587"
        verbose_name_plural = "PS Form 3587"
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.file_name


@pghistory.track()
class PostagePrice(models.Model):
    """The postage of an EDDM Retail piece from a day on, until the next price starts."""

    starts = models.DateField("from", unique=True, help_text="The first day of this price.")
    per_piece = models.DecimalField(
        "price of a piece",
        max_digits=7,
        decimal_places=4,
        validators=[MinValueValidator(Decimal("0.0001"))],
        help_text="In US dollars, with at most 4 decimals, as in the Postal Service's price list (Notice 123).",
    )
    note = models.CharField(max_length=200, blank=True, help_text="For example, the source of the price.")
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = "EDDM postage price"
        ordering = ["-starts"]
        constraints = [
            models.CheckConstraint(condition=models.Q(per_piece__gt=0), name="postage_price_positive")
        ]

    def __str__(self) -> str:
        return f"${self.per_piece.normalize():f} from {self.starts}"
