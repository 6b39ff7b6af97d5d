"""Console integration of this app."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from operator import attrgetter
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_noop as _
from django.utils.translation import ngettext

from accounts.admin.staff import staff_on
from applications.registration.models import Application
from applications.registration.selectors.applications import applications_with_ending_keys
from applications.registration.selectors.request_log import daily_totals
from applications.webhooks.selectors.webhooks import failing_webhooks
from fulfillment.core.admin.charts import axis_ticks, count_and_oldest, data_link
from fulfillment.core.admin.search import named_hits
from fulfillment.core.plugins import Attention, DashboardCard, MenuItem, SearchResult

DAYS = 30
CHART_WIDTH, CHART_HEIGHT = 600, 140
# On a phone, console.css shows half of these.
LABELLED_EVERY = 6
NAMED = 3
MAX_COUNTED = 1000
NAVIGATION = [
    MenuItem(_("Applications"), _("Applications"), "apps", "applications.application", 400),
    MenuItem(_("Applications"), _("Webhooks"), "webhook", "applications.webhook", 405),
    MenuItem(_("Applications"), _("Deliveries"), "outbox", "applications.delivery", 410, minor=True),
    MenuItem(_("Applications"), _("Access tokens"), "key", "oauth2_provider.accesstoken", 415, minor=True),
    MenuItem(
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


def calls_chart(totals: Sequence[tuple[date, int, int, int]]) -> dict[str, Any]:
    """The bars of the last days over all applications; `most` is the height of the chart in calls."""
    today = datetime.now(UTC).date()
    sums: dict[date, Sequence[int]] = {
        today - timedelta(days=ago): (0, 0, 0) for ago in range(DAYS - 1, -1, -1)
    }
    sums |= {day: counts for day, *counts in totals if day in sums}
    most = max((counts[0] for counts in sums.values()), default=0)
    ticks = axis_ticks(most)
    step = CHART_WIDTH / DAYS
    days = [
        _draw_bar(
            day, counts, ticks[0], left=(number + 0.11) * step, width=step * 0.78, days_ago=DAYS - 1 - number
        )
        for number, (day, counts) in enumerate(sums.items())
    ]
    calls, client, server = (sum(counts[position] for counts in sums.values()) for position in range(3))
    return {
        "days": days,
        "most": most,
        "ticks": ticks,
        "data": data_link(
            ["Day", "Calls", "Refused", "Failed"], [[day, *counts] for day, counts in sums.items()]
        ),
        "calls": calls,
        "client_errors": client,
        "server_errors": server,
        "width": CHART_WIDTH,
        "height": CHART_HEIGHT,
    }


def _draw_bar(
    day: date, counts: Sequence[int], top: int, *, left: float, width: float, days_ago: int
) -> dict[str, Any]:
    """The bar of a day: successful, refused and failed calls from the bottom up, in units of the chart."""
    calls, client_errors, server_errors = counts
    successes = max(calls - client_errors - server_errors, 0)
    fine_height, client_height, server_height = (
        round(count * CHART_HEIGHT / top, 2) for count in (successes, client_errors, server_errors)
    )
    fine_top = CHART_HEIGHT - fine_height
    client_top = fine_top - client_height
    return {
        "day": day,
        "calls": calls,
        "client_errors": client_errors,
        "server_errors": server_errors,
        "left": round(left, 2),
        "width": round(width, 2),
        "fine_top": round(fine_top, 2),
        "fine_height": fine_height,
        "client_top": round(client_top, 2),
        "client_height": client_height,
        "server_top": round(client_top - server_height, 2),
        "server_height": server_height,
        "is_today": days_ago == 0,
        "is_labelled": days_ago % LABELLED_EVERY == 0,
    }


def search(request: HttpRequest, words: str) -> list[SearchResult]:
    names = ("name", "client_id")
    return named_hits(request, Application, words, names, attrgetter(*names))


def needs_attention(request: HttpRequest) -> list[Attention]:
    if not staff_on(request).is_operator:
        return []
    entries = []
    if count := _card_of_failing_webhooks(request)["count"]:
        words = ngettext("webhook failing", "webhooks failing", count)
        address = f"{reverse('admin:applications_webhook_changelist')}?health=failing"
        entries.append(Attention(count, words, address, 400))
    if names := list(applications_with_ending_keys().values_list("name", flat=True)[: MAX_COUNTED + 1]):
        words = ngettext(
            "application whose last key expires within two weeks",
            "applications whose last key expires within two weeks",
            len(names),
        )
        address = f"{reverse('admin:applications_application_changelist')}?keys=ending"
        detail = ", ".join(names[:NAMED])
        entries.append(
            Attention(len(names), words, address, 500, detail, is_at_least=len(names) > MAX_COUNTED)
        )
    return entries


def dashboard_cards(request: HttpRequest) -> list[DashboardCard]:
    if not staff_on(request).is_operator:
        return []
    return [
        DashboardCard("admin/dashboard/webhooks.html", _card_of_failing_webhooks(request), 300),
        DashboardCard("admin/dashboard/calls.html", calls_chart(daily_totals(days=DAYS)), 500),
    ]


def _card_of_failing_webhooks(request: HttpRequest) -> dict[str, Any]:
    return count_and_oldest(request, "failing webhooks", failing_webhooks().select_related("application"))
