from typing import Any

from django.http import HttpRequest
from unfold.admin import ModelAdmin


class ReadOnlyAdmin(ModelAdmin):
    """For records that only services write."""

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return False
