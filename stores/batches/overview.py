"""A batch as its pages show it: progress, cost, budgets and approval, and its rows."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from fulfillment.core.text import MAX_INTEGER, parse_number
from stores.batches.models import SETTLED, Batch, BatchMode, BatchRow, BatchStatus, RowState
from stores.batches.row_contents import RECIPIENT, REQUIRED_RECIPIENT, given_key
from stores.batches.selectors.batches import (
    Counts,
    budget_decision,
    needs_of_budgets,
    order_count,
    outdated_because,
    seconds_left,
    standings_of_batch,
    target_labels,
)
from stores.batches.selectors.rows import WITH_PROBLEMS, page_of_rows, proofs_of, rows_of
from stores.budgets.standings import BudgetDecision, Standing
from stores.orders.models import ApprovalState, OrderStatus
from stores.orders.services.approval_notices import reason_in_words
from stores.proofs.links import proof_urls
from stores.templates.selectors import fields_of

PROBLEMS = "problems"
EDITABLE = (BatchStatus.EMPTY, BatchStatus.CHECKING, BatchStatus.CHECKED)
TONES = {
    BatchStatus.CHECKING: "info",
    BatchStatus.CHECKED: "success",
    BatchStatus.ORDERING: "info",
    BatchStatus.ORDERED: "success",
    BatchStatus.CANCELLED: "danger",
}
# The rows of a batch as pages show them: with their proofs, those with problems first, one page after the other.
ROWS_A_PAGE = 50
WORDS_LENGTH = 100
ROW_BADGES = {
    RowState.READY: "badge-good",
    RowState.WARNING: "badge-warning",
    RowState.ERROR: "badge-bad",
    RowState.ORDERED: "badge-good",
    RowState.FAILED: "badge-bad",
}


@dataclass
class BatchPage:
    """A batch with its counts, for templates."""

    batch: Batch
    counts: Counts
    may_change: bool = True

    @property
    def status(self) -> BatchStatus:
        return BatchStatus(self.batch.status)

    @property
    def tone(self) -> str:
        return tone_of(self.batch)

    @property
    def is_editable(self) -> bool:
        return self.may_change and self.status in EDITABLE

    @property
    def is_moving(self) -> bool:
        """Whether a worker changes its rows, so that the page looks again."""
        return self.status == BatchStatus.CHECKING or (
            self.status == BatchStatus.ORDERING and not self.waits_for_approval
        )

    @property
    def approval(self) -> Any:
        return getattr(self.batch, "approval", None)

    @property
    def waits_for_approval(self) -> bool:
        return self.approval is not None and self.approval.state == ApprovalState.PENDING

    @property
    def reasons(self) -> list[str]:
        return [reason_in_words(reason) for reason in self.approval.reasons] if self.approval else []

    @property
    def done(self) -> int:
        if self.status == BatchStatus.ORDERING:
            return self.counts.rows - self.counts.orderable
        return self.counts.checked

    @property
    def seconds_left(self) -> int | None:
        return seconds_left(self.batch, self.counts)

    @property
    def orders(self) -> int:
        return order_count(self.batch, self.counts.orderable)

    @cached_property
    def standings(self) -> list[Standing]:
        return standings_of_batch(self.batch)

    @property
    def decision(self) -> str:
        return budget_decision(self.batch, self.counts, self.standings).value

    def budgets(self) -> list[dict[str, Any]]:
        """Each budget that binds the batch: what is left of it, and what the batch leaves."""
        return [
            {
                "name": standing.budget.name,
                "left": standing.text(standing.remaining) if standing.remaining > 0 else "",
                "after": standing.text(standing.remaining - requested),
                "is_over": requested > standing.remaining,
                "is_short": standing.decide(requested) not in (BudgetDecision.ALLOWED, BudgetDecision.WARNED),
            }
            for standing, requested in needs_of_budgets(self.batch, self.counts, self.standings)
        ]

    @cached_property
    def outdated(self) -> str:
        return outdated_because(self.batch)

    @cached_property
    def unmapped(self) -> dict[str, str]:
        """Required fields without a column, with their labels; empty while some row can be ordered."""
        is_blocked = self.is_editable and self.counts.errors and not self.counts.orderable
        return unmapped_targets(self.batch) if is_blocked else {}

    @property
    def can_order(self) -> bool:
        is_checked = self.status == BatchStatus.CHECKED and not self.counts.pending
        return self.may_change and is_checked and self.counts.orderable > 0 and not self.outdated

    @property
    def can_cancel(self) -> bool:
        return self.may_change and self.status not in SETTLED

    def filters(self) -> list[tuple[str, str, int]]:
        """The states that rows are in, each with how many; those with problems first."""
        counted = [(state.value, str(state.label), self.counts.by_state.get(state, 0)) for state in RowState]
        shown = [entry for entry in counted if entry[2]]
        with_problems = self.counts.with_problems
        problems = [(PROBLEMS, _("With problems"), with_problems)] if with_problems else []
        return [*problems, ("all", _("All rows"), self.counts.rows), *shown]


def tone_of(batch: Batch) -> str:
    return TONES.get(BatchStatus(batch.status), "default")


def required_targets(batch: Batch) -> set[str]:
    """What each row needs: the fields without a default, and the recipient where the batch names none."""
    fields = fields_of(batch.product_id)
    required = {field.field_name for field in fields if field.required and not field.default_value}
    if batch.mode == BatchMode.RECIPIENTS:
        required |= {f"{RECIPIENT}{name}" for name in REQUIRED_RECIPIENT if not batch.recipient.get(name)}
    return required


def unmapped_targets(batch: Batch) -> dict[str, str]:
    """Those of them that no column gives, with their labels: no row can be ordered."""
    missing = required_targets(batch) - set(batch.mapping)
    labels = target_labels(batch) if missing else {}
    return {target: _(label) for target, label in labels.items() if target in missing}


def listed_rows(page: BatchPage, sent: Mapping[str, Any]) -> dict[str, Any]:
    """A page of rows, of those with problems first, or as `sent` in the address says."""
    batch, chosen = page.batch, sent.get("state", PROBLEMS)
    if chosen == PROBLEMS and not page.counts.with_problems:
        chosen = "all"
    after, words = after_in(sent), sent.get("words", "").strip()[:WORDS_LENGTH]
    matches = rows_of(batch, states=states_in(chosen), after=after, words=words)
    rows, more = page_of_rows(matches.select_related("order"), take=ROWS_A_PAGE)
    return {
        "chosen": chosen,
        "words": words,
        "columns": columns_of(batch),
        "rows": row_views(batch, rows, page.unmapped),
        "after": after,
        "next_after": rows[-1].number if more else None,
    }


def columns_of(batch: Batch) -> list[dict[str, Any]]:
    """The columns that are used, in the order of the file, with the field that each is."""
    targets = {column: target for target, column in batch.mapping.items()}
    return [
        {"place": index, "name": column, "target": targets[column]}
        for index, column in enumerate(batch.columns)
        if column in targets
    ]


def row_views(batch: Batch, rows: Sequence[BatchRow], unmapped: Collection[str] = ()) -> list[dict[str, Any]]:
    """Without the problems of `unmapped` fields, which the page names once."""
    proofs, columns = proofs_of(rows), columns_of(batch)
    views = []
    for row in rows:
        faulty = {problem["Column"]: problem["Severity"] for problem in row.problems}
        stored = proofs.get(row.proof)
        pages = proof_urls(stored, batch.product.external_id).pages if stored else []
        views.append(
            {
                "row": row,
                "problems": [problem for problem in row.problems if problem["Field"] not in unmapped],
                "name": row.name or given_key(row.key, row.values, batch.mapping),
                "state": RowState(row.state).label,
                "badge": ROW_BADGES.get(RowState(row.state), ""),
                "picture": pages[0].removeprefix(settings.PUBLIC_URL) if pages else "",
                "cells": [
                    {
                        **column,
                        "value": row.values.get(column["name"], ""),
                        "fault": faulty.get(column["name"], ""),
                    }
                    for column in columns
                ],
                "order_words": OrderStatus(row.order.status).words if row.order else "",
            }
        )
    return views


def states_in(chosen: str) -> list[str]:
    if chosen == PROBLEMS:
        return list(WITH_PROBLEMS)
    return [chosen] if chosen in RowState.values else []


def after_in(sent: Mapping[str, Any]) -> int:
    """The number of the row before the page."""
    return parse_number(sent.get("after", ""), most=MAX_INTEGER) or 0
