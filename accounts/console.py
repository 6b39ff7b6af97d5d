"""Console integration of this app."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_noop as _
from django.utils.translation import ngettext

from accounts.admin.staff import staff_on
from accounts.callers import Caller
from accounts.models import AssociationState, User
from accounts.selectors.associations import association_requests_for
from fulfillment.core.admin.charts import count_and_oldest
from fulfillment.core.admin.search import named_hits
from fulfillment.core.plugins import Attention, DashboardCard, MenuItem, SearchResult

NAVIGATION = [
    MenuItem(_("Work"), _("Association requests"), "inbox", "accounts.associationrequest", 100),
    MenuItem(_("People"), _("Users"), "person", "accounts.user", 500),
    MenuItem(_("People"), _("Roles"), "admin_panel_settings", "accounts.role", 505, minor=True),
    MenuItem(_("People"), _("Subscriptions"), "vpn_key", "accounts.subscription", 510, minor=True),
    MenuItem(_("People"), _("Tenants"), "domain", "accounts.tenant", 515, minor=True),
]
# By model: what the list is for, on the page *System*.
ABOUT = {
    "accounts.role": _("What a user or an application may do, and at which store."),
    "accounts.subscription": _("Subscription keys, and the calls a minute that each allows."),
    "accounts.tenant": _("The domains at the end of sign-in names."),
}


def may_enter(request: HttpRequest) -> bool:
    """Operators, and staff of stores."""
    return staff_on(request).is_staff


def search(request: HttpRequest, words: str) -> list[SearchResult]:
    fields = ["username", "first_name", "last_name", "email"]
    return named_hits(request, User, words, fields, lambda user: (user.username, user.full_name, user.email))


def needs_attention(request: HttpRequest) -> list[Attention]:
    if not staff_on(request).is_operator:
        return []
    count = _card_of_pending_requests(request)["count"]
    words = ngettext("association request pending", "association requests pending", count)
    address = reverse("admin:accounts_associationrequest_changelist")
    return [Attention(count, words, address, 300)] if count else []


def dashboard_cards(request: HttpRequest) -> list[DashboardCard]:
    if not staff_on(request).is_operator:
        return []
    return [
        DashboardCard("admin/dashboard/association_requests.html", _card_of_pending_requests(request), 100)
    ]


def _card_of_pending_requests(request: HttpRequest) -> dict[str, Any]:
    pending = association_requests_for(Caller.on_pages(request.user), state=AssociationState.PENDING)
    return count_and_oldest(request, "pending requests", pending.order_by("created"))
