"""Reads and writes what the adapter of a provider notes about its jobs."""

from collections.abc import Collection, Mapping, Sequence
from os.path import splitext

from django.db import connection, transaction
from django.db.models import F, Func, Value
from django.utils import timezone

from production.interface import DONE, PREPARED, TAKEN, LedgerEntry
from production.providers.models import LedgerRow, LedgerStem

NAMES_AT_ONCE = 10_000
COLUMNS = ("state", "work", "names", "digests", "marks")
# One array: thousands of parameters take longer to write into a statement than to look up.
NAMED = """
SELECT stem.stem, owner.number FROM production_ledgerstem stem JOIN production_ledgerrow owner ON owner.id = stem.row_id
WHERE owner.provider_id = %s AND stem.stem = ANY(%s) AND NOT owner.marks @> %s::varchar[]
"""


class ProviderLedger:
    """The ledger of one provider. Each change is durable when its method returns, so call none in a transaction."""

    def __init__(self, provider_pk: int) -> None:
        self._rows, self._provider_pk = LedgerRow.objects.filter(provider=provider_pk), provider_pk

    def read(self, number: str) -> LedgerEntry | None:
        row = self._rows.filter(number=number).first()
        return None if row is None else _build_entry(row)

    def create(self, number: str, entry: LedgerEntry) -> LedgerEntry:
        """Creates the entry, or returns the existing one."""
        with transaction.atomic():
            row, is_new = LedgerRow.objects.get_or_create(
                provider_id=self._provider_pk, number=number, defaults=_build_values(entry)
            )
            if is_new:
                LedgerStem.objects.bulk_create(
                    LedgerStem(row=row, stem=stem) for stem in _list_stems(entry.names)
                )
        return _build_entry(row)

    def write(self, number: str, entry: LedgerEntry) -> None:
        """Changes an entry but for its names."""
        LedgerRow.objects.update_or_create(
            provider_id=self._provider_pk, number=number, defaults=_build_values(entry)
        )

    def add_mark(self, number: str, mark: str) -> None:
        new_marks = Func(F("marks"), Value(mark), function="array_append")
        rows = self._rows.filter(number=number).exclude(marks__contains=[mark])
        rows.update(marks=new_marks, updated=timezone.now())

    def has_done(self) -> bool:
        """Whether any job was handed over."""
        return self._rows.filter(state=DONE).exists()

    def waiting(self) -> Sequence[tuple[str, LedgerEntry]]:
        rows = self._rows.filter(state=DONE).exclude(marks__contains=[TAKEN]).order_by("pk")
        return [(row.number, _build_entry(row)) for row in rows]

    def find_named(self, names: Collection[str], *, mark: str) -> Mapping[str, str]:
        """The number of the job of each name, where it has one without this mark; one query for 10,000 stems."""
        names_by_stem: dict[str, list[str]] = {}
        for name in names:
            for stem in _list_stems([name]):
                names_by_stem.setdefault(stem, []).append(name)
        stems, number_by_name = list(names_by_stem), {}
        with connection.cursor() as cursor:
            for start in range(0, len(stems), NAMES_AT_ONCE):
                cursor.execute(NAMED, [self._provider_pk, stems[start : start + NAMES_AT_ONCE], [mark]])
                for stem, number in cursor.fetchall():
                    number_by_name.update(dict.fromkeys(names_by_stem[stem], number))
        return number_by_name

    def drafts(self) -> Collection[str]:
        """Work folders of jobs that are not handed over yet."""
        return set(self._rows.filter(state=PREPARED).values_list("work", flat=True))


def _list_stems(names: Collection[str]) -> list[str]:
    # PurePath takes twice as long for each of 10,000 names.
    return sorted({*names, *(splitext(name)[0] for name in names)})  # noqa: PTH122


def _build_values(entry: LedgerEntry) -> dict[str, object]:
    values = {column: getattr(entry, column) for column in COLUMNS}
    lists = {"names": list(entry.names), "marks": list(entry.marks)}
    return {**values, **lists, "digests": dict(entry.digests), "updated": timezone.now()}


def _build_entry(row: LedgerRow) -> LedgerEntry:
    return LedgerEntry(row.state, row.work, tuple(row.names), row.digests, tuple(row.marks))
