"""Print providers, and what their adapters note about the jobs they hand over, where no press can write."""

from collections.abc import Collection, Mapping, Sequence
from os.path import splitext

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator, RegexValidator
from django.db import connection, models, transaction
from django.db.models import F, Func, Q, Value
from django.utils import timezone

from production.adapters.registry import MAX_KIND_LENGTH, adapter_kinds
from production.interface import CANCELLED, DONE, PREPARED, TAKEN, LedgerEntry

CODE = r"^[a-z0-9-]{1,40}\Z"
validate_code = RegexValidator(CODE, "Use 1 to 40 small letters, digits and - only.")


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


NAMES_AT_ONCE = 10_000
COLUMNS = ("state", "work", "names", "digests", "marks")
# One array: thousands of parameters take longer to write into a statement than to look up.
NAMED = """
SELECT stem.stem, owner.number FROM production_ledgerstem stem JOIN production_ledgerrow owner ON owner.id = stem.row_id
WHERE owner.provider_id = %s AND stem.stem = ANY(%s) AND NOT owner.marks @> %s::varchar[]
"""


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


class ProviderLedger:
    """The ledger of one provider. Each change is durable when its method returns, so call none in a transaction."""

    def __init__(self, provider_pk: int) -> None:
        self._rows, self._provider_pk = LedgerRow.objects.filter(provider=provider_pk), provider_pk

    def read(self, number: str) -> LedgerEntry | None:
        row = self._rows.filter(number=number).first()
        return None if row is None else _entry(row)

    def create(self, number: str, entry: LedgerEntry) -> LedgerEntry:
        """Creates the entry, or returns the existing one."""
        with transaction.atomic():
            row, is_new = LedgerRow.objects.get_or_create(
                provider_id=self._provider_pk, number=number, defaults=_values(entry)
            )
            if is_new:
                LedgerStem.objects.bulk_create(LedgerStem(row=row, stem=stem) for stem in _stems(entry.names))
        return _entry(row)

    def write(self, number: str, entry: LedgerEntry) -> None:
        """Changes an entry but for its names."""
        LedgerRow.objects.update_or_create(
            provider_id=self._provider_pk, number=number, defaults=_values(entry)
        )

    def add_mark(self, number: str, mark: str) -> None:
        added = Func(F("marks"), Value(mark), function="array_append")
        rows = self._rows.filter(number=number).exclude(marks__contains=[mark])
        rows.update(marks=added, updated=timezone.now())

    def has_done(self) -> bool:
        """Whether any job was handed over."""
        return self._rows.filter(state=DONE).exists()

    def waiting(self) -> Sequence[tuple[str, LedgerEntry]]:
        rows = self._rows.filter(state=DONE).exclude(marks__contains=[TAKEN]).order_by("pk")
        return [(row.number, _entry(row)) for row in rows]

    def find_named(self, names: Collection[str], *, mark: str) -> Mapping[str, str]:
        """The number of the job of each name, where it has one without this mark; one query for 10,000 stems."""
        wanted: dict[str, list[str]] = {}
        for name in names:
            for stem in _stems([name]):
                wanted.setdefault(stem, []).append(name)
        stems, found = list(wanted), {}
        with connection.cursor() as cursor:
            for start in range(0, len(stems), NAMES_AT_ONCE):
                cursor.execute(NAMED, [self._provider_pk, stems[start : start + NAMES_AT_ONCE], [mark]])
                for stem, number in cursor.fetchall():
                    found.update(dict.fromkeys(wanted[stem], number))
        return found

    def drafts(self) -> Collection[str]:
        """Work folders of jobs that are not handed over yet."""
        return set(self._rows.filter(state=PREPARED).values_list("work", flat=True))


def _stems(names: Collection[str]) -> list[str]:
    # PurePath takes twice as long for each of 10,000 names.
    return sorted({*names, *(splitext(name)[0] for name in names)})  # noqa: PTH122


def _values(entry: LedgerEntry) -> dict[str, object]:
    values = {column: getattr(entry, column) for column in COLUMNS}
    lists = {"names": list(entry.names), "marks": list(entry.marks)}
    return {**values, **lists, "digests": dict(entry.digests), "updated": timezone.now()}


def _entry(row: LedgerRow) -> LedgerEntry:
    return LedgerEntry(row.state, row.work, tuple(row.names), row.digests, tuple(row.marks))
