"""Webhooks that a caller may read or change."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.callers import Caller
from applications.registration.models import Application
from applications.registration.selectors.applications import application_for, application_to_write
from applications.webhooks.models import Webhook
from fulfillment.core.api.serializers import meta, timestamp
from fulfillment.core.errors import NotFound


def application_webhooks(application: Application) -> QuerySet[Webhook]:
    return Webhook.objects.filter(application=application, deleted__isnull=True).order_by("created", "pk")


def application_to_hook(caller: Caller, application_id: str) -> Application:
    """An application whose webhooks the caller may change: itself, or one that the user may change."""
    if caller.is_application:
        return application_for(caller, application_id)
    return application_to_write(caller, application_id)


def webhook_for(caller: Caller, application_id: str, webhook_id: Any) -> Webhook:
    return find_webhook(application_for(caller, application_id), webhook_id)


def webhook_to_write(caller: Caller, application_id: str, webhook_id: Any) -> Webhook:
    return find_webhook(application_to_hook(caller, application_id), webhook_id)


def find_webhook(application: Application, webhook_id: Any) -> Webhook:
    try:
        return application_webhooks(application).select_related("application").get(pk=UUID(str(webhook_id)))
    except (ValueError, Webhook.DoesNotExist) as error:
        raise NotFound(_("The application has no webhook with this ID."), code="webhook_not_found") from error


def failing_webhooks() -> QuerySet[Webhook]:
    """Failing webhooks of all applications, the longest failing first."""
    failing = Webhook.objects.filter(failing_since__isnull=False, is_enabled=True, deleted__isnull=True)
    return failing.order_by("failing_since")


def webhook_record(webhook: Webhook, *, secret: str | None = None) -> dict[str, Any]:
    """The API's record; `secret` only right after its creation."""
    record = {
        "ID": str(webhook.pk),
        "ApplicationID": str(webhook.application_id),
        "URL": webhook.url,
        "EventTypes": webhook.event_types,
        "StoreIDs": webhook.store_ids,
        "IsEnabled": webhook.is_enabled,
        "DisabledReason": webhook.disabled_reason or None,
        "FailingSince": timestamp(webhook.failing_since) if webhook.failing_since else None,
        "Created": timestamp(webhook.created),
        "Updated": timestamp(webhook.updated),
        "_meta": meta(),
    }
    return record if secret is None else {**record, "Secret": secret}


def webhook_etag(webhook: Webhook) -> str:
    return f'"{webhook.pk.hex}-{int(webhook.updated.timestamp() * 1_000_000):x}"'
