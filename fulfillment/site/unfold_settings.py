"""The part of the settings that concerns the look of the console."""

from django.templatetags.static import static
from django.utils.translation import gettext_lazy

UNFOLD = {
    "SITE_TITLE": "Store Fulfillment",
    "SITE_HEADER": "Store Fulfillment",
    "SITE_SUBHEADER": gettext_lazy("Console"),
    "SITE_ICON": lambda request: static("brand/mark.svg"),
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("brand/favicon.svg")}
    ],
    "STYLES": [
        lambda request: static("console/theme.css"),
        lambda request: static("console/console.css"),
        lambda request: static("console/records.css"),
        lambda request: static("brand/preflight.css"),
    ],
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_HISTORY": True,
    # The color scheme is static/console/theme.css.
    "SIDEBAR": {"show_search": True, "navigation": "fulfillment.site.navigation.navigation_for"},
}
