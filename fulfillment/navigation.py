"""The side bar of the admin: what operators work with, in their words."""

from typing import Any

from django.urls import reverse_lazy


def _item(title: str, icon: str, name: str) -> dict[str, Any]:
    return {"title": title, "icon": icon, "link": reverse_lazy(f"admin:{name}_changelist")}


OPERATOR_NAVIGATION = [
    {
        "title": "Work",
        "items": [
            _item("Association requests", "inbox", "accounts_associationrequest"),
            _item("Orders", "shopping_cart", "stores_order"),
            _item("Quotes", "request_quote", "stores_quote"),
        ],
    },
    {
        "title": "Catalog",
        "items": [
            _item("Stores", "storefront", "stores_store"),
            _item("Products", "sell", "stores_product"),
            _item("Fonts", "font_download", "stores_font"),
        ],
    },
    {
        "title": "Delivery",
        "items": [
            _item("EDDM data sets", "map", "delivery_dataset"),
            _item("EDDM imports", "upload_file", "delivery_importrun"),
        ],
    },
    {
        "title": "Applications",
        "items": [
            _item("Applications", "apps", "applications_application"),
            _item("Access tokens", "key", "oauth2_provider_accesstoken"),
            _item("Refresh tokens", "autorenew", "oauth2_provider_refreshtoken"),
        ],
    },
    {
        "title": "People",
        "items": [
            _item("Users", "person", "accounts_user"),
            _item("Roles", "admin_panel_settings", "accounts_role"),
            _item("Subscriptions", "vpn_key", "accounts_subscription"),
            _item("Tenants", "domain", "accounts_tenant"),
        ],
    },
    {
        "title": "Audit trail",
        "separator": True,
        "items": [
            _item("Roles", "history", "accounts_roleevent"),
            _item("Association requests", "history", "accounts_associationrequestevent"),
            _item("Users", "history", "accounts_userevent"),
            _item("Subscription keys", "history", "accounts_subscriptionkeyevent"),
            _item("Applications", "history", "applications_applicationevent"),
            _item("Application keys", "history", "applications_applicationkeyevent"),
            _item("Stores", "history", "stores_storeevent"),
            _item("Products", "history", "stores_productevent"),
        ],
    },
]
