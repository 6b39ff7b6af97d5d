"""The side bar of the admin: what operators and staff of stores work with, in their words."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

Entry = tuple[str, str, str]

GROUPS: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    (
        "Work",
        (
            ("Association requests", "inbox", "accounts.associationrequest"),
            ("Orders", "shopping_cart", "stores.order"),
            ("Quotes", "request_quote", "stores.quote"),
        ),
    ),
    (
        "Catalog",
        (
            ("Stores", "storefront", "stores.store"),
            ("Products", "sell", "stores.product"),
            ("Catalog imports", "upload_file", "stores.catalogupload"),
            ("Fonts", "font_download", "stores.font"),
        ),
    ),
    (
        "Delivery",
        (
            ("EDDM data sets", "map", "delivery.dataset"),
            ("EDDM imports", "upload_file", "delivery.importrun"),
        ),
    ),
    (
        "Applications",
        (
            ("Applications", "apps", "applications.application"),
            ("Webhooks", "webhook", "applications.webhook"),
            ("Deliveries", "outbox", "applications.delivery"),
            ("Access tokens", "key", "oauth2_provider.accesstoken"),
            ("Refresh tokens", "autorenew", "oauth2_provider.refreshtoken"),
        ),
    ),
    (
        "Service",
        (
            ("Users", "person", "accounts.user"),
            ("Roles", "admin_panel_settings", "accounts.role"),
            ("Subscriptions", "vpn_key", "accounts.subscription"),
            ("Tenants", "domain", "accounts.tenant"),
            ("Background jobs", "pending_actions", "procrastinate.procrastinatejob"),
        ),
    ),
    (
        "Audit trail",
        (
            ("Roles", "history", "accounts.roleevent"),
            ("Association requests", "history", "accounts.associationrequestevent"),
            ("Users", "history", "accounts.userevent"),
            ("Tenants", "history", "accounts.tenantevent"),
            ("Subscription keys", "history", "accounts.subscriptionkeyevent"),
            ("Applications", "history", "applications.applicationevent"),
            ("Application keys", "history", "applications.applicationkeyevent"),
            ("Webhooks", "history", "applications.webhookevent"),
            ("Stores", "history", "stores.storeevent"),
            ("Products", "history", "stores.productevent"),
            ("Orders", "history", "stores.orderevent"),
            ("Fonts", "history", "stores.fontevent"),
        ),
    ),
)


def navigation_for(request: HttpRequest) -> list[dict[str, Any]]:
    """What the signed-in person may open; the same rules that guard the pages decide."""
    admins = {model._meta.label_lower: one for model, one in admin.site._registry.items()}  # noqa: SLF001
    start = {"title": "Start", "icon": "dashboard", "link": reverse("admin:index")}
    groups: list[dict[str, Any]] = [{"items": [start]}]
    for title, entries in GROUPS:
        items = [
            {
                "title": name,
                "icon": icon,
                "link": reverse(f"admin:{model.replace('.', '_')}_changelist"),
            }
            for name, icon, model in entries
            if model in admins and admins[model].has_module_permission(request)
        ]
        if items:
            groups.append({"title": title, "items": items})
    return groups
