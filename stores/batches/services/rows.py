"""Writes the rows of a batch: the whole set of a file, or a single row, and has them checked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob

from fulfillment.core.db.locks import long_transaction
from fulfillment.core.errors import Conflict, Fault, Invalid, raise_faults
from fulfillment.core.text import pointer_to
from printing.text import did_you_mean
from stores.batches.files.matching import Match
from stores.batches.files.records import FileRow, Problem
from stores.batches.models import MAX_ROWS, Batch, BatchMode, BatchRow, BatchStatus, RowState
from stores.batches.row_contents import MAX_CELL_LENGTH, content_digest, name_of, searched_words
from stores.batches.selectors.callers import caller_of
from stores.batches.services.storing import UNCHECKED, write_rows
from stores.catalog.models import Product
from stores.concurrency_limits import BATCHES
from stores.orders.services.quotes import BINDING
from stores.templates.selectors import template_digest

CHECK_TASK = "stores.check_batch"
# How many batches of one person are checked at once.
BATCHES_AT_ONCE = 4
KEY_CODES = ("row_key_repeated", "row_key_invalid")
# A file is limited as a whole, and corrections row by row: 150 of 1 MB made a download take 1.6 GB of memory.
MAX_CORRECTED_LENGTH = 20_000
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class RowSource:
    """The rows of a file. `matches` say which column is which target, where the batch has no mapping of its own."""

    columns: Sequence[str]
    rows: Sequence[FileRow]
    matches: Sequence[Match] = ()
    problems: Sequence[Problem] = ()


def in_batch_slot(change: Callable[P, R]) -> Callable[P, R]:
    """Changes of a batch wait for a slot here, where few of them hold a thread, and not for its lock in PostgreSQL."""

    @wraps(change)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        batch: Any = kwargs["batch"]
        with BATCHES.slot(caller_of(batch).key):
            return change(*args, **kwargs)

    return wrapper


@in_batch_slot
def replace_rows(*, batch: Batch, source: RowSource, check: bool = True) -> Batch:
    """Makes these rows the set of the batch, and has them checked unless `check` is False.

    The same row sent again is the same row; what its check found stays.
    """
    most = MAX_ROWS[BatchMode(batch.mode)]
    if len(source.rows) > most:
        message = (
            f"A batch of the mode {batch.mode} has at most {most:,} rows; these are {len(source.rows):,}."
        )
        raise Invalid.at("", "too_many_rows", message)
    return _replace_rows(batch, source, check)


@long_transaction()
def _replace_rows(batch: Batch, source: RowSource, check: bool) -> Batch:
    locked = lock_open(batch)
    locked.columns = list(source.columns)
    is_chosen = bool(locked.mapping) and not locked.matches
    missing = set(locked.mapping.values()) - set(locked.columns) if is_chosen else set()
    if missing and check:
        listed = ", ".join(sorted(missing)[:10])
        raise Invalid.at(
            "",
            "column_unknown",
            _("The file lacks columns of the Mapping: %(columns)s.") % {"columns": listed},
        )
    # A file that is only read may have other columns: these are to be mapped then.
    if missing or not is_chosen:
        locked.mapping = {match.target: match.column for match in source.matches}
        locked.matches = [
            {"Target": match.target, "Column": match.column, "Score": round(match.score, 3)}
            for match in source.matches
        ]
    locked.file_problems = list(source.problems)
    locked.status = BatchStatus.EMPTY
    locked.updated = timezone.now()
    locked.save(update_fields=["columns", "mapping", "matches", "file_problems", "status", "updated"])
    write_rows(locked=locked, rows=source.rows)
    if check and source.rows:
        begin_check(locked)
    return locked


def put_cells(batch: Batch, row: BatchRow, cells: Mapping[str, str]) -> BatchRow:
    """The row with these cells, not saved; raises Invalid for columns that the file lacks, and for long texts."""
    raise_faults([*_unknown_columns(batch, cells), *_too_long_cells(cells), *_unstorable_cells(cells)])
    _refuse_longer_row(row.values, changed := {**row.values, **cells})
    row.values = changed
    row.name = name_of(row.values, batch.mapping)
    row.words = searched_words(row.key, row.values)
    row.digest = content_digest(row.values, batch.mapping)
    row.file_problems = [problem for problem in row.file_problems if problem["Column"] not in cells]
    row.batch = batch
    return row


def begin_check(locked: Batch, *, is_reset: bool = False, note: str = "") -> None:
    """Has the pending rows of a locked batch checked; all with `is_reset`, after a change of the product, and once
    their prices bind no longer. `note` says why to people.
    """
    now = timezone.now()
    version = Product.objects.values_list("version", flat=True).get(pk=locked.product_id)
    is_expired = locked.prices_expire is None or locked.prices_expire <= now
    if is_reset or is_expired or version != locked.product_version:
        locked.rows.exclude(state=RowState.PENDING).update(**UNCHECKED)
        locked.product_version, locked.prices_expire = version, now + BINDING
        locked.template_digest = template_digest(locked.product_id)
    locked.status, locked.check_started, locked.updated = BatchStatus.CHECKING, now, now
    locked.note = note
    locked.checked_before = locked.rows.exclude(state=RowState.PENDING).count()
    fixed = ["product_version", "template_digest", "prices_expire", "checked_before"]
    locked.save(update_fields=["status", "check_started", "note", "updated", *fixed])
    queue_check(locked)


def queue_check(batch: Batch) -> None:
    """Two jobs, from both ends, unless they wait. Only one of a person's batches is checked from its end at a time."""
    waiting = set(waiting_jobs(batch).filter(task_name=CHECK_TASK).values_list("lock", flat=True))
    for from_end, lock in (
        (False, job_lock(batch)),
        (True, f"batches of {caller_of(batch).key} from their ends"),
    ):
        if lock not in waiting:
            app.configure_task(CHECK_TASK, lock=lock).defer(batch_id=str(batch.pk), from_end=from_end)


def forget_jobs(locked: Batch) -> None:
    """Call it once nothing of the batch is left to be checked or ordered."""
    for job_id in waiting_jobs(locked).values_list("pk", flat=True):
        app.job_manager.cancel_job_by_id(job_id, delete_job=True)


def waiting_jobs(locked: Batch) -> QuerySet[ProcrastinateJob]:
    """Locks the rows of the jobs too, so a worker begins none of them before it can see what this transaction changes.

    A queueing lock would not do so, and would keep a job that is under way from being tried again.
    """
    jobs = ProcrastinateJob.objects.filter(status="todo", args__batch_id=str(locked.pk))
    return jobs.select_for_update()


def job_lock(batch: Batch) -> str:
    """Jobs with the same lock follow each other: a person's batches hold few threads of a worker."""
    return f"batches of {caller_of(batch).key} {batch.pk.int % BATCHES_AT_ONCE}"


def lock_open(batch: Batch) -> Batch:
    """The batch, locked; raises Conflict if its rows are settled."""
    locked = lock_batch(batch)
    refuse_settled(locked)
    return locked


def refuse_settled(batch: Batch) -> None:
    if batch.status in (BatchStatus.ORDERING, BatchStatus.ORDERED):
        raise Conflict(
            _("The batch is already ordered. Create another one for other rows."), code="batch_ordered"
        )
    if batch.status == BatchStatus.CANCELLED:
        raise Conflict(_("The batch is cancelled. Create another one."), code="batch_cancelled")


def lock_batch(batch: Batch) -> Batch:
    locked = Batch.objects.select_for_update(of=("self",), no_key=True).get(pk=batch.pk)
    locked.store, locked.product = batch.store, batch.product
    return locked


def _refuse_longer_row(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    length = sum(map(len, after.values()))
    if length > MAX_CORRECTED_LENGTH and length > sum(map(len, before.values())):
        message = _(
            "The cells of a corrected row have at most %(max_length)s characters together; these have %(length)s."
        ) % {
            "max_length": number_format(MAX_CORRECTED_LENGTH, force_grouping=True),
            "length": number_format(length, force_grouping=True),
        }
        raise Invalid.at("", "max_length", message)


def _unknown_columns(batch: Batch, cells: Mapping[str, str]) -> Iterator[Fault]:
    columns = set(batch.columns)
    unknown = [column for column in cells if column not in columns]
    suggestions = did_you_mean(unknown, batch.columns)
    for column in unknown:
        message = _("The file has no column %(column)r.%(suggestion)s") % {
            "column": column[:100],
            "suggestion": suggestions.get(column, ""),
        }
        yield Fault(pointer_to((None, column)), "column_unknown", message)


def _too_long_cells(cells: Mapping[str, str]) -> Iterator[Fault]:
    for column, text in cells.items():
        if len(text) > MAX_CELL_LENGTH:
            message = _(
                "%(column)s: the cell has %(length)s characters; at most %(max_length)s are allowed."
            ) % {
                "column": column,
                "length": number_format(len(text), force_grouping=True),
                "max_length": number_format(MAX_CELL_LENGTH, force_grouping=True),
            }
            yield Fault(pointer_to((None, column)), "max_length", message)


def _unstorable_cells(cells: Mapping[str, str]) -> Iterator[Fault]:
    for column, text in cells.items():
        if "\x00" in text:
            message = _("%(column)s: the cell contains a NUL character.") % {"column": column}
            yield Fault(pointer_to((None, column)), "control_character", message)
