from typing import Any

from django.http import HttpRequest

from accounts.selectors.staff import staff_of


def console_entry(request: HttpRequest) -> dict[str, Any]:
    """For templates: whether the bar leads to the console; looked up only where a template asks."""
    return {"may_enter_console": lambda: staff_of(request.user).is_staff}
