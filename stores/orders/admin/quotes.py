from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest

from accounts.admin.staff import StaffAdmin
from fulfillment.core.admin.read_only import ReadOnlyAdmin
from stores.catalog.admin.scoping import ORDER_GRANTS, ModeFilter, StoreFilter
from stores.orders.models import Quote


@admin.register(Quote)
class QuoteAdmin(ReadOnlyAdmin, StaffAdmin):
    view_grants: Sequence[str] = ORDER_GRANTS
    list_display = ["id", "store", "application", "country_code", "created", "expires"]
    list_filter = [StoreFilter, ModeFilter]
    list_filter_submit = True
    search_fields = ["id"]
    exact_search = {"pk": UUID}
    search_help_text = "QuoteID"
    empty_help = "Applications request quotes through the API before they order."
    ordering = ["-expires"]
    fields = [
        "id",
        "store",
        "application",
        "user",
        "is_test",
        "country_code",
        "location_type",
        "created",
        "expires",
    ]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("store", "application").defer("rendering")
