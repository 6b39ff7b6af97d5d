"""Console integration of this app."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_noop as _
from django.utils.translation import ngettext

from accounts.admin.staff import staff_on
from applications.registration.calls_chart import DAYS, calls_chart
from applications.registration.models import Application
from applications.registration.selectors.applications import applications_with_ending_keys
from applications.registration.selectors.usage import daily_totals
from applications.webhooks.selectors.webhooks import failing_webhooks
from fulfillment.core.admin.charts import oldest_of
from fulfillment.core.admin.search import named_hits
from fulfillment.core.plugins import Attention, Card, Entry, Hit

NAMED = 3
MAX_COUNTED = 1000
NAVIGATION = [
    Entry(_("Applications"), _("Applications"), "apps", "applications.application", 400),
    Entry(_("Applications"), _("Webhooks"), "webhook", "applications.webhook", 405),
    Entry(_("Applications"), _("Deliveries"), "outbox", "applications.delivery", 410, minor=True),
    Entry(_("Applications"), _("Access tokens"), "key", "oauth2_provider.accesstoken", 415, minor=True),
    Entry(
        _("Applications"), _("Refresh tokens"), "autorenew", "oauth2_provider.refreshtoken", 420, minor=True
    ),
]
# By model: what the list is for, on the page *System*.
ABOUT = {
    "applications.delivery": _("Each event sent to a webhook, with its attempts and responses."),
    "oauth2_provider.accesstoken": _("Tokens that call the API now; revoke one to end its access."),
    "oauth2_provider.refreshtoken": _(
        "Tokens that renew access; revoke one to end a person's authorization."
    ),
}


def search(request: HttpRequest, words: str) -> list[Hit]:
    fields = ["name", "client_id"]
    return named_hits(request, Application, words, fields, lambda one: (one.name, str(one.client_id)))


def needs_attention(request: HttpRequest) -> list[Attention]:
    if not staff_on(request).is_operator:
        return []
    found = []
    if count := _failing(request)["count"]:
        words = ngettext("webhook failing", "webhooks failing", count)
        address = f"{reverse('admin:applications_webhook_changelist')}?health=failing"
        found.append(Attention(count, words, address, 400))
    if names := list(applications_with_ending_keys().values_list("name", flat=True)[: MAX_COUNTED + 1]):
        words = ngettext(
            "application whose last key expires within two weeks",
            "applications whose last key expires within two weeks",
            len(names),
        )
        address = f"{reverse('admin:applications_application_changelist')}?keys=ending"
        detail = ", ".join(names[:NAMED])
        found.append(Attention(len(names), words, address, 500, detail, is_at_least=len(names) > MAX_COUNTED))
    return found


def dashboard_cards(request: HttpRequest) -> list[Card]:
    if not staff_on(request).is_operator:
        return []
    return [
        Card("admin/dashboard/webhooks.html", _failing(request), 300),
        Card("admin/dashboard/calls.html", calls_chart(daily_totals(days=DAYS)), 500),
    ]


def _failing(request: HttpRequest) -> dict[str, Any]:
    return oldest_of(request, "failing webhooks", failing_webhooks().select_related("application"))
