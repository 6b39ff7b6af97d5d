"""A batch as its pages show it: progress, cost, budgets and approval, and its rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _

from stores.batches.models import SETTLED, Batch, BatchMode, BatchStatus, RowState
from stores.batches.row_contents import RECIPIENT, REQUIRED_RECIPIENT
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
from stores.budgets.standings import BudgetDecision, Standing
from stores.orders.models import ApprovalState
from stores.orders.services.approval_notices import reason_in_words
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
    """The required fields that no column gives, with their labels: no row can be ordered."""
    missing = required_targets(batch) - set(batch.mapping)
    labels = target_labels(batch) if missing else {}
    return {target: _(label) for target, label in labels.items() if target in missing}
