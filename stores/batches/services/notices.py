"""Notifies approvers of batches that need approval, and the people who ordered of decisions, by bell and mail."""

from django.urls import reverse

from accounts.models import NotificationKind
from accounts.services.notifications import notify
from stores.batches.models import BatchApproval
from stores.orders.approvals.notices import DECIDED, reason_in_words
from stores.orders.approvals.selectors import approver_ids
from stores.orders.models import ApprovalState


def notify_approvers(approval: BatchApproval) -> int:
    batch = approval.batch
    return notify(
        user_ids=approver_ids(batch.store_id, approval.ordered_by),
        kind=NotificationKind.APPROVAL_REQUESTED,
        key=f"batch:{batch.pk}:{approval.requested.timestamp()}",
        title=f"The batch {batch} of {batch.store} needs approval",
        text=f"{'. '.join(map(reason_in_words, approval.reasons))}. Without a decision it is cancelled on "
        f"{approval.expires:%d %b %Y, %H:%M} UTC.",
        path=reverse("admin:stores_batch_change", args=[batch.pk]),
    )


def notify_of_decision(approval: BatchApproval) -> int:
    batch = approval.batch
    return notify(
        user_ids=[batch.user_id] if batch.user_id else approval.ordered_by,
        kind=NotificationKind.APPROVAL_DECIDED,
        key=f"batch:{batch.pk}:decided",
        title=f"The batch {batch} at {batch.store} was {DECIDED[ApprovalState(approval.state)]}",
        text=approval.note,
        path=reverse("portal:batch", args=[batch.pk]),
    )
