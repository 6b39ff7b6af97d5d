"""Failing webhooks: a warning after one day, disabled after five."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import NotificationKind
from applications.registration.services.notices import notify_owners
from applications.webhooks.models import Webhook
from applications.webhooks.services.webhooks import disable_webhook, lock_webhook
from fulfillment.core.errors import Conflict

WARNED_AFTER = timedelta(hours=24)
DISABLED_AFTER = timedelta(hours=120)


def review_failing_webhooks(*, now: datetime) -> None:
    """Called every minute. Handles each webhook separately, so that a locked one delays no other."""
    failing = Webhook.objects.filter(is_enabled=True, failing_since__lte=now - WARNED_AFTER)
    for webhook in failing.filter(failing_since__lte=now - DISABLED_AFTER):
        _disable(webhook, now)
    for webhook in failing.filter(failing_since__gt=now - DISABLED_AFTER, warned__isnull=True):
        _warn(webhook, now)


@transaction.atomic
def _disable(webhook: Webhook, now: datetime) -> None:
    locked = _still(webhook, now - DISABLED_AFTER)
    if locked:
        disable_webhook(webhook=locked, reason="No attempt succeeded for 120 hours.")


@transaction.atomic
def _warn(webhook: Webhook, now: datetime) -> None:
    locked = _still(webhook, now - WARNED_AFTER)
    if not locked or locked.warned:
        return
    Webhook.objects.filter(pk=locked.pk).update(warned=now)
    notify_owners(
        application=locked.application,
        kind=NotificationKind.WEBHOOK_FAILING,
        key=f"webhook:{locked.pk}:failing:{locked.failing_since:%Y%m%d%H%M%S}",
        path=f"{locked.application.get_absolute_url()}/webhooks/{locked.pk}",
        title=lambda: _("A webhook of %(name)s is failing") % {"name": locked.application.name},
        text=lambda: (
            _(
                "No event has reached %(url)s for 24 hours. After 120 hours without success the webhook "
                "is disabled; nothing is lost, events are kept for 30 days."
            )
            % {"url": locked.url}
        ),
    )


def _still(webhook: Webhook, since: datetime) -> Webhook | None:
    """The locked webhook, if it still fails: an attempt may have succeeded in the meantime."""
    try:
        locked = lock_webhook(webhook)
    except Conflict:
        return None
    is_failing = locked.is_enabled and locked.failing_since is not None and locked.failing_since <= since
    return locked if is_failing else None
