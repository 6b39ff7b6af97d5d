from functools import cache
from typing import Any

from django.http import HttpRequest

from accounts.selectors.page_header import PageHeader, page_header_of


def bar(request: HttpRequest) -> dict[str, Any]:
    """Template context of the header: whether it links to the console, and the number of unread notifications.

    Both are read in one query, and only if a template uses them.
    """

    @cache
    def found() -> PageHeader:
        return page_header_of(getattr(request, "user", None))

    return {"may_enter_console": lambda: found().may_enter_console, "unread": lambda: found().unread}
