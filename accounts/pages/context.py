from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from accounts.pages.confirmation import confirmed_until
from accounts.selectors.notifications import PageHeader, get_page_header


def header_context(request: HttpRequest) -> dict[str, Any]:
    """Template context of all pages: whether the header links to the console, the number of unread notifications, and
    the time when the confirmation ends.

    The first two are read in one query, and all only if a template uses them.
    """

    @cache
    def header() -> PageHeader:
        return get_page_header(getattr(request, "user", None))

    def until() -> str:
        # Formatted here: not every page is shown in the user's time zone.
        moment = confirmed_until(request, shown=True) if hasattr(request, "session") else None
        return f"{moment:%H:%M}" if moment else ""

    return {
        "may_enter_console": lambda: header().may_enter_console,
        "unread": lambda: header().unread,
        "confirmed_until": until,
        "is_development": settings.DEVELOPMENT,
    }
