import json
from collections.abc import Sequence
from datetime import date
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest

from accounts.admin.staff import StaffAdmin
from accounts.permissions import ORDER_GRANTS
from fulfillment.core.admin.read_only import ReadOnlyAdmin
from stores.catalog.admin.scoping import ModeFilter, StoreFilter
from stores.orders.models import Quote

# Options that the page of a quote shows.
MAX_SHOWN = 200


@admin.register(Quote)
class QuoteAdmin(ReadOnlyAdmin, StaffAdmin):
    view_grants: Sequence[str] = ORDER_GRANTS
    list_display = ["quote_id", "store", "application", "destination", "created", "expires"]
    list_filter = [StoreFilter, ModeFilter]
    list_filter_submit = True
    search_fields = ["id"]
    exact_search = {"pk": UUID}
    search_help_text = "QuoteID"
    empty_help = "Applications request quotes through the API before they order."
    ordering = ["-expires"]
    change_form_outer_after_template = "admin/stores/quote_after.html"
    fields = ["quote_id", "store", "application", "user", "test_quote", "destination", "created", "expires"]

    @admin.display(description="QuoteID", ordering="pk")
    def quote_id(self, quote: Quote) -> str:
        return str(quote.pk)

    @admin.display(description="destination")
    def destination(self, quote: Quote) -> str:
        return f"{quote.country_code} {quote.location_type}".strip()

    @admin.display(description="test", boolean=True)
    def test_quote(self, quote: Quote) -> bool:
        return quote.is_test

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("store", "application").defer("rendering")

    def record_context(self, request: HttpRequest, quote: Quote) -> dict[str, Any]:
        body = json.loads(quote.rendering)
        options = body["Options"][:MAX_SHOWN]
        for option in options:
            option["Earliest"], option["Latest"] = (
                date.fromisoformat(option[f"{name}Delivery"]) for name in ("Earliest", "Latest")
            )
        return {
            "options": options,
            "currency": body["Currency"],
            "items": options[0]["Items"][:MAX_SHOWN] if options else [],
            "orders": quote.orders.order_by("number").only("number")[:MAX_SHOWN],
        }
