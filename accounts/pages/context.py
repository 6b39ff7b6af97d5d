from functools import cache
from typing import Any

from django.http import HttpRequest

from accounts.selectors.bar import Bar, bar_of


def bar(request: HttpRequest) -> dict[str, Any]:
    """For templates: whether the bar leads to the console, and how many notifications the bell says are unread.

    Both are looked up at once, and only where a template asks.
    """

    @cache
    def found() -> Bar:
        return bar_of(getattr(request, "user", None))

    return {"may_enter_console": lambda: found().may_enter_console, "unread": lambda: found().unread}
