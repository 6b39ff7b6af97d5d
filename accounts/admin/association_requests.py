from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from accounts.callers import Caller
from accounts.models import AssociationRequest, AssociationState
from accounts.services.associations import approve_association, deny_association
from fulfillment.errors import DomainError


class StateFilter(admin.SimpleListFilter):
    """The inbox shows what waits for a decision unless something else is chosen."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("all", "All"), *((value, value) for value in AssociationState.values if value != "Pending")]

    def queryset(self, request: HttpRequest, requests: QuerySet) -> QuerySet:
        state = self.value() or AssociationState.PENDING
        return requests if state == "all" else requests.filter(state=state)

    def choices(self, changelist: Any) -> Any:
        yield {
            "selected": self.value() is None,
            "query_string": changelist.get_query_string(remove=[self.parameter_name]),
            "display": "Waiting",
        }
        for value, title in self.lookup_choices:
            yield {
                "selected": self.value() == value,
                "query_string": changelist.get_query_string({self.parameter_name: value}),
                "display": title,
            }


@admin.register(AssociationRequest)
class AssociationRequestAdmin(ModelAdmin):
    """The inbox. A decision is made with the grants and the note of the form, or for several by action."""

    list_display = ["application", "wanted", "requested_by", "asked_grants", "message", "state", "created"]
    list_filter = [StateFilter]
    list_select_related = ["application", "store", "user", "requested_by"]
    search_fields = ["application__name", "application__client_id", "store__external_id", "user__username"]
    fields = [
        "application",
        "store",
        "user",
        "requested_by",
        "message",
        "state",
        "grants",
        "note",
        "decided_by",
        "decided",
    ]
    readonly_fields = fields
    actions = ["approve", "deny"]
    date_hierarchy = "created"

    @admin.display(description="wants")
    def wanted(self, request: AssociationRequest) -> Any:
        return request.store or request.user

    @admin.display(description="grants")
    def asked_grants(self, request: AssociationRequest) -> str:
        return ", ".join(request.grants) or "the usual ones"

    @admin.action(description="Approve with the grants asked for")
    def approve(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._decide(request, chosen, approve_association, "approved")

    @admin.action(description="Deny")
    def deny(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._decide(request, chosen, deny_association, "denied")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return False

    def _decide(
        self, request: HttpRequest, chosen: QuerySet, decide: Callable[..., AssociationRequest], done: str
    ) -> None:
        caller = Caller.on_pages(request.user)
        decided = 0
        for asked in chosen:
            try:
                decide(caller=caller, request_id=asked.pk)
                decided += 1
            except DomainError as error:
                messages.error(request, f"{asked}: {error.message}")
        if decided:
            messages.success(request, f"{decided} requests {done}." if decided > 1 else f"1 request {done}.")
