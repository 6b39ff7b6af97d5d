"""Print providers, and what their adapters note about the jobs they hand over, where no press can write."""

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from production.adapters.registry import MAX_KIND_LENGTH, adapter_kinds
from production.interface import CANCELLED, DONE, PREPARED, TAKEN

CODE = r"^[a-z0-9-]{1,40}\Z"
validate_code = RegexValidator(CODE, _("Use 1 to 40 small letters, digits and - only."))


@pghistory.track(
    exclude=[
        "secrets_ciphertext",
        "postback_ciphertext",
        "postback_digest",
        "failing_since",
        "last_error",
        "last_success",
        "last_polled",
    ]
)
class Provider(models.Model):
    """A print provider (a print shop or own press) with its adapter.

    `settings` are checked by the adapter's declaration; secrets of the adapter are encrypted, as JSON, apart from
    them. Reports may be received at an address of its own, whose last part is the postback secret.
    """

    code = models.CharField(max_length=40, unique=True, validators=[validate_code])
    name = models.CharField(max_length=100)
    adapter = models.CharField(max_length=MAX_KIND_LENGTH)
    settings = models.JSONField(default=dict, blank=True)
    secrets_ciphertext = models.BinaryField(editable=False)
    postback_ciphertext = models.BinaryField(editable=False)
    postback_digest = models.CharField(max_length=64, editable=False)
    is_enabled = models.BooleanField("enabled", default=True)
    daily_capacity = models.PositiveIntegerField(
        "jobs per day",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Jobs above this limit go to the next provider of the rule, or wait for the next day (UTC). "
        "Empty: no limit.",
    )
    failing_since = models.DateTimeField(null=True, editable=False)
    last_error = models.CharField(max_length=1000, blank=True, editable=False)
    last_success = models.DateTimeField(null=True, editable=False)
    last_polled = models.DateTimeField(null=True, editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)
    updated = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(code__regex=CODE), name="provider_code_form")
        ]
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def adapter_label(self) -> str:
        """The kind itself where no app has this adapter any more."""
        kind = adapter_kinds().get(self.adapter)
        return kind.label if kind else self.adapter

    @property
    def takes_several_items(self) -> bool:
        kind = adapter_kinds().get(self.adapter)
        return kind is not None and kind.takes_several_items


class LedgerRow(models.Model):
    """What an adapter noted of a job; see `production.interface.LedgerEntry`."""

    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="+", db_index=False)
    number = models.CharField(max_length=40)
    state = models.CharField(max_length=10)
    work = models.CharField(max_length=40)
    names = ArrayField(models.TextField())
    digests = models.JSONField()
    marks = ArrayField(models.CharField(max_length=20))
    updated = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint("provider", "number", name="ledger_number_once"),
            models.CheckConstraint(
                condition=Q(state__in=(PREPARED, DONE, CANCELLED)), name="ledger_state_known"
            ),
        ]
        indexes = [
            models.Index(
                "provider", condition=Q(state=DONE) & ~Q(marks__contains=[TAKEN]), name="ledger_waiting"
            ),
            models.Index("updated", name="ledger_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.number}: {self.state}"


class LedgerStem(models.Model):
    """A name of a job, with or without its ending, by which a file is found that the press moved."""

    row = models.ForeignKey(LedgerRow, on_delete=models.CASCADE, related_name="stems")
    stem = models.TextField(db_index=True)

    def __str__(self) -> str:
        return self.stem
