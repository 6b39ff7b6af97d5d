"""Decides on a batch that needs approval: once, for all of its orders together."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime

import pghistory
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from fulfillment.core.db.locks import long_transaction
from fulfillment.core.errors import Conflict, Forbidden
from stores.batches.models import Batch, BatchApproval
from stores.batches.selectors.batches import counts_of, shown_batches
from stores.batches.selectors.callers import people_of_batch
from stores.batches.services.batches import close_batch
from stores.batches.services.notices import notify_approvers, notify_of_decision
from stores.batches.services.ordering import budget_claim, queue_orders
from stores.batches.services.rows import lock_batch
from stores.budgets.services.approvals import check_room
from stores.concurrency_limits import BATCHES
from stores.orders.models import OWN_ORDER, ApprovalState
from stores.orders.services.approvals import EXPIRED, send_reminders
from stores.orders.services.changes import Actor


def approve_batch(*, batch: Batch, actor: Actor, note: str = "", request_name: str = "") -> Batch:
    """Has its orders written. Raises Conflict if it was decided or exceeds a limit that was lowered since.

    Raises Forbidden for the people who ordered. `request_name` names the request that is decided, by `name_of_request`.
    """
    with _slot_of(actor), _decision(batch, transaction.atomic()):
        locked, approval = _lock_undecided(batch, actor, request_name)
        claim = budget_claim(locked, counts_of(locked))
        check_room(order=claim, reasons=approval.reasons, reservation_id=locked.reservation_id)
        approval.state, approval.note = ApprovalState.APPROVED, note
        approval.decided, approval.decided_by_id = timezone.now(), actor.user_id
        approval.save()
        notify_of_decision(approval)
        queue_orders(locked)
    return locked


def deny_batch(*, batch: Batch, actor: Actor, reason: str, request_name: str = "") -> Batch:
    """Cancels the batch. Raises Conflict if it was decided, and Forbidden for the people who ordered."""
    with _slot_of(actor), _decision(batch, long_transaction()):
        locked, approval = _lock_undecided(batch, actor, request_name)
        close_batch(locked, note=reason, approval=ApprovalState.DENIED, decided_by=actor.user_id)
        approval.refresh_from_db()
        notify_of_decision(approval)
    return locked


def name_of_request(approval: BatchApproval) -> str:
    """Tells requests for one batch apart: if nothing of it could be ordered, it can be ordered and approved again."""
    return approval.requested.isoformat()


def _slot_of(actor: Actor) -> AbstractContextManager[object]:
    """A slot of the person who decides, so that the people who made the batch cannot delay the decision."""
    return BATCHES.slot(f"user:{actor.user_id}")


@contextmanager
def _decision(batch: Batch, block: AbstractContextManager[None]) -> Iterator[None]:
    """The transaction. If it refuses those who ordered, the attempt is recorded in the audit log, outside of it."""
    try:
        with block:
            yield
    except Forbidden:
        for approval in BatchApproval.objects.filter(batch=batch):
            pghistory.create_event(approval, label=OWN_ORDER)
        raise


def expire_approvals(*, now: datetime) -> int:
    """Cancels batches that were not decided in time; called by the worker."""
    count = 0
    due = BatchApproval.objects.filter(state=ApprovalState.PENDING, expires__lte=now)
    for batch in shown_batches().filter(approval__in=due):
        with long_transaction():
            locked = lock_batch(batch)
            approval = BatchApproval.objects.get(batch=locked)
            if approval.state == ApprovalState.PENDING:
                close_batch(locked, note=EXPIRED, approval=ApprovalState.EXPIRED)
                approval.refresh_from_db()
                notify_of_decision(approval)
                count += 1
    return count


def remind_approvers(*, now: datetime) -> int:
    undecided = BatchApproval.objects.filter(state=ApprovalState.PENDING, decided=None)
    return send_reminders(undecided.select_related("batch__store"), notify_approvers, now=now)


def _lock_undecided(batch: Batch, actor: Actor, request_name: str) -> tuple[Batch, BatchApproval]:
    locked = lock_batch(batch)
    approval = BatchApproval.objects.filter(batch=locked).first()
    if approval is None:
        raise Conflict(_("The batch needs no approval."), code="approval_not_requested")
    approval.batch = locked
    if actor.user_id in {*approval.ordered_by, *people_of_batch(locked)}:
        raise Forbidden(
            _("You ordered this batch, or own the application that did."), code="approver_ordered"
        )
    if approval.state != ApprovalState.PENDING or approval.expires <= timezone.now():
        message = _("The approval of this batch is %(approval)s and cannot be decided again.")
        raise Conflict(
            message % {"approval": approval.state},
            code="approval_decided",
            members={"State": approval.state},
        )
    if request_name not in {"", name_of_request(approval)}:
        raise Conflict(
            _("The batch was ordered again since you opened it. Look at it again, then decide."),
            code="approval_changed",
        )
    return locked, approval
