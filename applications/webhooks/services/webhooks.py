"""Creates, changes and removes webhooks of an application.

`values` have the contract's names: URL, EventTypes, StoreIDs, IsEnabled."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Min
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import NotificationKind
from applications.registration.models import Application
from applications.registration.services.keys import lock_application
from applications.registration.services.notices import notify_owners
from applications.webhooks.event_types import EVERYTHING, PATTERNS, EventType
from applications.webhooks.models import Webhook, WebhookSecret
from applications.webhooks.selectors.signatures import generate_webhook_secret
from applications.webhooks.selectors.webhooks import webhook_etag
from applications.webhooks.services.events import record_event
from fulfillment.core.db.changes import saved_if_changed
from fulfillment.core.errors import Conflict, Fault, Invalid, PreconditionFailed, raise_faults
from fulfillment.core.http.outgoing.url_policy import refusal
from fulfillment.core.secrets import encrypt

MAX_WEBHOOKS = 20
# In force at once: each signs every delivery.
MAX_SECRETS = 10
OLD_SECRET_GOOD_FOR = timedelta(hours=24)
BY_APPLICATION = "Disabled by the application."
BY_OPERATOR = "Disabled by an operator."
MAX_STORES = 100
MAX_STORE_ID_LENGTH = 64
WARNED_AFTER = timedelta(hours=24)
DISABLED_AFTER = timedelta(hours=120)


@transaction.atomic
def create_webhook(*, application: Application, values: Mapping[str, Any]) -> tuple[Webhook, str]:
    """Returns the webhook and its secret, which cannot be shown again."""
    check_webhook(values, is_new=True)
    lock_application(application)
    if application.webhooks.filter(deleted__isnull=True).count() >= MAX_WEBHOOKS:
        raise Invalid.at(
            "",
            "too_many_webhooks",
            _("An application has at most %(max_webhooks)s webhooks; delete one.")
            % {"max_webhooks": MAX_WEBHOOKS},
        )
    webhook = Webhook(application=application, event_types=[EVERYTHING])
    _write(webhook, values)
    webhook.save(force_insert=True)
    return webhook, _add_secret(webhook)


@transaction.atomic
def change_webhook(*, webhook: Webhook, values: Mapping[str, Any], if_match: Sequence[str] = ()) -> Webhook:
    """Changes the given members; a new URL resets failures. Raises PreconditionFailed."""
    check_webhook(values, is_new=False)
    locked = lock_webhook(webhook)
    if if_match and "*" not in if_match and webhook_etag(locked) not in if_match:
        raise PreconditionFailed(_("The webhook has changed since; read it again before changing it."))
    with saved_if_changed(locked):
        _write(locked, values)
    return locked


@transaction.atomic
def delete_webhook(*, webhook: Webhook) -> None:
    """Deletes the webhook at once; requests under way may still arrive. `prune` removes the log."""
    locked = lock_webhook(webhook)
    locked.is_enabled, locked.disabled_reason, locked.deleted = False, "Deleted.", timezone.now()
    locked.save()
    locked.secrets.all().delete()


@transaction.atomic
def rotate_secret(*, webhook: Webhook) -> str:
    """Returns a new secret, which cannot be shown again; the old one also signs for 24 hours. Raises Conflict."""
    locked = lock_webhook(webhook)
    now = timezone.now()
    locked.secrets.filter(expires__lte=now).delete()
    if locked.secrets.count() >= MAX_SECRETS:
        first = locked.secrets.aggregate(first=Min("expires"))["first"]
        raise Conflict(
            _(
                "The webhook has %(max_secrets)s valid secrets, which is the limit; the first one ends at "
                "%(first_end)s UTC."
            )
            % {"max_secrets": MAX_SECRETS, "first_end": f"{first:%Y-%m-%d %H:%M}"},
            code="too_many_secrets",
        )
    locked.secrets.filter(expires__isnull=True).update(expires=now + OLD_SECRET_GOOD_FOR)
    locked.save(update_fields=["updated"])
    return _add_secret(locked)


@transaction.atomic
def enable_webhook(*, webhook: Webhook) -> Webhook:
    """Enables the webhook and resets failures; `recover_deliveries` sends missed events."""
    locked = lock_webhook(webhook)
    _enable(locked)
    locked.save()
    return locked


@transaction.atomic
def disable_webhook(*, webhook: Webhook, reason: str) -> Webhook:
    """Disables a webhook whose endpoint fails; notifies its other webhooks and the application's owners."""
    locked = lock_webhook(webhook)
    if not locked.is_enabled:
        return locked
    locked.is_enabled, locked.disabled_reason = False, reason
    locked.save()
    data = {"WebhookID": str(locked.pk), "URL": locked.url, "DisabledReason": reason}
    record_event(
        application_id=locked.application_id, store_id="", type=EventType.WEBHOOK_DISABLED, data=data
    )
    notify_owners(
        application=locked.application,
        kind=NotificationKind.WEBHOOK_FAILING,
        key=f"webhook:{locked.pk}:disabled:{locked.updated:%Y%m%d%H%M%S%f}",
        title=lambda: _("A webhook of %(name)s was disabled") % {"name": locked.application.name},
        path=f"{locked.application.get_absolute_url()}/webhooks/{locked.pk}",
        text=lambda: (
            _(
                "%(reason)s\n\nEvents are no longer sent to %(url)s. Enable the webhook when the "
                "endpoint works again, and recover what it missed: events are kept for 30 days."
            )
            % {"reason": reason, "url": locked.url}
        ),
    )
    return locked


def lock_webhook(webhook: Webhook) -> Webhook:
    """Locks the webhook; raises Conflict if it was deleted in the meantime."""
    try:
        return (
            Webhook.objects.select_for_update(of=("self",), no_key=True)
            .select_related("application")
            .get(pk=webhook.pk, deleted__isnull=True)
        )
    except Webhook.DoesNotExist as error:
        raise Conflict(_("The webhook was deleted in the meantime."), code="webhook_deleted") from error


def _write(webhook: Webhook, values: Mapping[str, Any]) -> None:
    if "URL" in values and values["URL"] != webhook.url:
        webhook.url = values["URL"]
        webhook.failing_since = webhook.warned = None
    if "EventTypes" in values:
        webhook.event_types = list(dict.fromkeys(values["EventTypes"]))
    if "StoreIDs" in values:
        webhook.store_ids = list(dict.fromkeys(values["StoreIDs"]))
    if values.get("IsEnabled") is True and not webhook.is_enabled:
        _enable(webhook)
    if values.get("IsEnabled") is False and webhook.is_enabled:
        webhook.is_enabled, webhook.disabled_reason = False, BY_APPLICATION


def _enable(webhook: Webhook) -> None:
    webhook.is_enabled, webhook.disabled_reason = True, ""
    webhook.failing_since = webhook.warned = None


def _add_secret(webhook: Webhook) -> str:
    secret = generate_webhook_secret()
    WebhookSecret.objects.create(webhook=webhook, ciphertext=encrypt(secret))
    return secret


def check_webhook(values: Mapping[str, Any], *, is_new: bool) -> None:
    """Raises Invalid with every fault. May resolve the URL's name: call it outside of any lock."""
    faults = _find_faults(values)
    if is_new and not values.get("URL"):
        missing = Fault("/URL", "required", _("URL: write the https address that receives the events."))
        faults = [missing, *(fault for fault in faults if fault.pointer != "/URL")]
    raise_faults(faults)


def _find_faults(values: Mapping[str, Any]) -> list[Fault]:
    """The faults of these members of a request by the rules of webhooks."""
    faults: list[Fault] = []
    if "URL" in values and (reason := refusal(values["URL"])):
        faults.append(Fault("/URL", "url_refused", _("URL: %(reason)s") % {"reason": reason}))
    if "EventTypes" in values:
        faults += _event_type_faults(values["EventTypes"])
    if "StoreIDs" in values:
        faults += _store_faults(values["StoreIDs"])
    return faults


def _event_type_faults(names: Sequence[str]) -> list[Fault]:
    if not names:
        return [Fault("/EventTypes", "required", _("EventTypes: name at least one; * stands for all."))]
    allowed = [*PATTERNS, *EventType.values]
    text = f"allowed: {', '.join(allowed)}."
    return [
        Fault(
            f"/EventTypes/{index}",
            "event_type_unknown",
            _("There is no event type %(name)r; %(text)s") % {"name": name[:60], "text": text},
        )
        for index, name in enumerate(names)
        if name not in allowed
    ]


def _store_faults(store_ids: Sequence[str]) -> list[Fault]:
    if len(store_ids) > MAX_STORES:
        message = f"StoreIDs: at most {MAX_STORES}. Omit them to receive the events of every store."
        return [Fault("/StoreIDs", "too_many_stores", message)]
    return [
        Fault(
            f"/StoreIDs/{index}",
            "store_invalid",
            _("A StoreID has 1 to %(max_store_id_length)s characters.")
            % {"max_store_id_length": MAX_STORE_ID_LENGTH},
        )
        for index, store_id in enumerate(store_ids)
        if not 1 <= len(store_id) <= MAX_STORE_ID_LENGTH
    ]


def review_failing_webhooks(*, now: datetime) -> None:
    """Called every minute. Handles each webhook separately, so that a locked one delays no other."""
    failing = Webhook.objects.filter(is_enabled=True, failing_since__lte=now - WARNED_AFTER)
    for webhook in failing.filter(failing_since__lte=now - DISABLED_AFTER):
        _disable(webhook, now)
    for webhook in failing.filter(failing_since__gt=now - DISABLED_AFTER, warned__isnull=True):
        _warn(webhook, now)


@transaction.atomic
def _disable(webhook: Webhook, now: datetime) -> None:
    locked = _lock_if_failing(webhook, now - DISABLED_AFTER)
    if locked:
        disable_webhook(webhook=locked, reason="No attempt succeeded for 120 hours.")


@transaction.atomic
def _warn(webhook: Webhook, now: datetime) -> None:
    locked = _lock_if_failing(webhook, now - WARNED_AFTER)
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


def _lock_if_failing(webhook: Webhook, since: datetime) -> Webhook | None:
    """The locked webhook, if it still fails: an attempt may have succeeded in the meantime."""
    try:
        locked = lock_webhook(webhook)
    except Conflict:
        return None
    is_failing = locked.is_enabled and locked.failing_since is not None and locked.failing_since <= since
    return locked if is_failing else None
