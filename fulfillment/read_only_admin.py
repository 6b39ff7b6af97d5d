from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from fulfillment.console_admin import ConsoleAdmin


class ReadOnlyAdmin(ConsoleAdmin):
    """For records that only services write."""

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return False


class HistoryAdmin(ReadOnlyAdmin):
    """The audit trail of one model; the database refuses changes as well."""

    ordering = ["-pgh_id"]
    list_filter = ["pgh_label", "pgh_created_at"]
    list_select_related = ["pgh_context"]
    shown: tuple[str, ...] = ()

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return ["pgh_created_at", "pgh_label", *self.shown, "caller", "address"]

    @admin.display(description="by")
    def caller(self, event: Any) -> str:
        """User and application, by ID: they may be gone, their deeds stay."""
        known = event.pgh_context.metadata if event.pgh_context else {}
        return (
            " through ".join(str(known[name]) for name in ("user", "application") if known.get(name)) or "-"
        )

    @admin.display(description="at")
    def address(self, event: Any) -> str:
        return (event.pgh_context.metadata.get("url") if event.pgh_context else None) or "-"
