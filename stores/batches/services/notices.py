"""Notifies approvers of batches that need approval, and the people who ordered of decisions, by bell and mail."""

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from stores.batches.models import BatchApproval
from stores.orders.approvals.notices import send_decision, send_to_approvers
from stores.orders.models import ApprovalState


def notify_approvers(approval: BatchApproval, *, is_reminder: bool = False) -> int:
    batch = approval.batch
    key = f"batch:{batch.pk}:{approval.requested.timestamp()}"
    return send_to_approvers(
        approval,
        subject=lambda: _("The batch %(batch)s of %(store)s") % {"batch": batch, "store": batch.store},
        store_id=batch.store_id,
        key=f"{key}:reminder" if is_reminder else key,
        path=reverse("admin:stores_batch_change", args=[batch.pk]),
        outcome=gettext_noop("cancelled"),
        is_reminder=is_reminder,
    )


def notify_of_decision(approval: BatchApproval) -> int:
    batch = approval.batch
    return send_decision(
        approval,
        subject=lambda: _("The batch %(batch)s at %(store)s") % {"batch": batch, "store": batch.store},
        state=ApprovalState(approval.state),
        by=batch,
        key=f"batch:{batch.pk}:decided",
        path=reverse("portal:batch", args=[batch.pk]),
    )
