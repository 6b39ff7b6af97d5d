"""What the console shows of this app."""

from django.http import HttpRequest

from accounts.admin.staff import staff_on
from applications.registration.admin.calls_chart import DAYS, calls_chart
from applications.registration.models import Application
from applications.registration.selectors.usage import daily_totals
from applications.webhooks.selectors.webhooks import failing_webhooks
from fulfillment.core.admin.hits import named_hits
from fulfillment.core.admin.offers import Card, Entry, Hit

OLDEST_SHOWN = 5
NAVIGATION = [
    Entry("Applications", "Applications", "apps", "applications.application", 400),
    Entry("Applications", "Webhooks", "webhook", "applications.webhook", 405),
    Entry("Applications", "Deliveries", "outbox", "applications.delivery", 410, minor=True),
    Entry("Applications", "Access tokens", "key", "oauth2_provider.accesstoken", 415, minor=True),
    Entry("Applications", "Refresh tokens", "autorenew", "oauth2_provider.refreshtoken", 420, minor=True),
]


def search(request: HttpRequest, words: str) -> list[Hit]:
    fields = ["name", "client_id"]
    return named_hits(request, Application, words, fields, lambda one: (one.name, str(one.client_id)))


def dashboard_cards(request: HttpRequest) -> list[Card]:
    if not staff_on(request).is_operator:
        return []
    failing = failing_webhooks()
    webhooks = {"count": failing.count(), "oldest": failing.select_related("application")[:OLDEST_SHOWN]}
    return [
        Card("admin/dashboard/webhooks.html", webhooks, 300),
        Card("admin/dashboard/calls.html", calls_chart(daily_totals(days=DAYS)), 500),
    ]
