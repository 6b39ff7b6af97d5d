"""Budgets with their statement, and cost centers with their people."""

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.admin.staff import StaffAdmin, staff_on
from accounts.permissions import Grant
from fulfillment.core.admin.base import ConsoleAdmin, ConsoleInline, LabelledFormSet
from fulfillment.core.admin.read_only import register_history
from stores.budgets.models import Budget, BudgetEntry, CostCenter, CostCenterMember
from stores.budgets.selectors.budgets import actor_names, scope_names
from stores.budgets.selectors.standings import standings_of
from stores.budgets.standings import Standing

ENTRIES_SHOWN = 100


class DiffersFilter(admin.SimpleListFilter):
    title = "balance"
    parameter_name = "differs"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Not the sum of the entries")]

    def queryset(self, request: HttpRequest, records: QuerySet) -> QuerySet:
        return records.filter(periods__differs=True).distinct() if self.value() == "yes" else records


@admin.register(Budget)
class BudgetAdmin(StaffAdmin):
    """How each budget stands, and what was counted. Budgets are made and changed over the API."""

    forbidden = ("add", "change", "delete")
    view_grants = (Grant.STORE_ALL_READ, Grant.BUDGET_ALL_WRITE)
    list_display = ["name", "store", "scope", "used", "period_ends", "over_budget", "is_enabled"]
    list_filter = [DiffersFilter, "is_enabled", "type"]
    list_select_related = ["store"]
    search_fields = ["name", "store__external_id"]
    search_help_text = "Name or StoreID"
    empty_help = "Make one with POST /store/{storeID}/budget, for a store whose budgets are switched on."
    change_form_outer_after_template = "admin/stores/budget_after.html"
    fieldsets = [
        (None, {"fields": ["name", "store", "scope", "used", "period_ends", "is_enabled"]}),
        (
            "Terms",
            {
                "fields": [
                    *("type", "limit", "duration", "start_date", "end_date"),
                    *("carry_over", "over_budget", "warn_at"),
                ]
            },
        ),
    ]
    readonly_fields = ["scope", "used", "period_ends"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Budget]:
        return super().get_queryset(request).defer("store__rendering", "store__verbose_rendering")

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """All budgets of a page stand with one query for each store."""
        changelist = super().get_changelist_instance(request)
        budgets: list[Any] = list(changelist.result_list)
        changelist.result_list, names = budgets, scope_names(budgets)
        by_store = attrgetter("store_id")
        for _, of_store in groupby(sorted(budgets, key=by_store), key=by_store):
            listed = list(of_store)
            for standing in standings_of(listed, store=listed[0].store, at=timezone.now()):
                budget: Any = standing.budget
                budget.standing, budget.scope_names = standing, names
        return changelist

    @admin.display(description="for")
    def scope(self, budget: Any) -> str:
        kind: str = budget.get_scope_kind_display()
        if budget.scope_key is None:
            return kind
        names = getattr(budget, "scope_names", None) or scope_names([budget])
        return f"{kind}: {names.get(budget.scope_key, ('', 'removed'))[1]}"

    @admin.display(description="used in this period")
    def used(self, budget: Budget) -> str:
        standing = _standing(budget)
        return f"{standing.text(standing.period.used)} of {standing.text(standing.limit)}"

    @admin.display(description="period ends")
    def period_ends(self, budget: Budget) -> Any:
        return _standing(budget).period.ends

    def record_context(self, request: HttpRequest, record: Budget) -> dict[str, Any]:
        standing = _standing(record)
        limit, used = standing.limit, standing.period.used
        newest = BudgetEntry.objects.filter(budget=record).select_related("period")
        return {
            "standing": standing,
            "remaining": standing.text(standing.remaining),
            "percent": min(round(used * 100 / limit), 100) if limit > 0 else 100 * bool(used),
            "entries": list(_lines(list(newest.order_by("-id")[:ENTRIES_SHOWN]))),
            "entries_shown": ENTRIES_SHOWN,
        }


def _standing(budget: Any) -> Standing:
    """The list has looked it up for all of its budgets."""
    if not hasattr(budget, "standing"):
        [budget.standing] = standings_of([budget], store=budget.store, at=timezone.now())
    standing: Standing = budget.standing
    return standing


def _lines(entries: list[BudgetEntry]) -> Iterator[dict[str, Any]]:
    names = actor_names(entries)
    for entry in entries:
        actor = entry.actor_user or entry.actor_application
        yield {"entry": entry, "actor": names.get(actor, "removed") if actor else "the service"}


register_history(Budget, "name", "limit", search=["name"], search_help="Name")


class MemberFormSet(LabelledFormSet):
    def clean(self) -> None:
        """The store of the members is that of their cost center: Django does not see that it makes them unique."""
        super().clean()
        chosen = [form.cleaned_data.get("user") for form in self.forms if hasattr(form, "cleaned_data")]
        people = [user for user in chosen if user is not None]
        if len(set(people)) < len(people):
            raise ValidationError("A person is named twice.")
        others = CostCenterMember.objects.filter(store=self.instance.store_id, user__in=people)
        if (
            taken := others.exclude(cost_center=self.instance.pk)
            .select_related("cost_center", "user")
            .first()
        ):
            raise ValidationError(f"{taken.user} belongs to {taken.cost_center} already.")


class MemberInline(ConsoleInline):
    model = CostCenterMember
    formset = MemberFormSet
    fields = ["user"]
    verbose_name, verbose_name_plural = "person", "people"

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return staff_on(request).is_operator

    has_change_permission = has_view_permission
    has_delete_permission = has_view_permission
    has_add_permission = has_view_permission


@admin.register(CostCenter)
class CostCenterAdmin(ConsoleAdmin):
    """A person belongs to one cost center of a store at most."""

    forbidden = ("delete",)
    harmless_pages = ("add", "change")
    list_display = ["code", "name", "store"]
    list_select_related = ["store"]
    search_fields = ["code", "name", "store__external_id"]
    search_help_text = "Code, name or StoreID"
    empty_help = "Add one, with its people, to bind them together by a budget."
    fields = ["store", "code", "name"]
    inlines = [MemberInline]

    def get_readonly_fields(self, request: HttpRequest, center: CostCenter | None = None) -> list[str]:
        return ["store", "code"] if center else []

    def get_queryset(self, request: HttpRequest) -> QuerySet[CostCenter]:
        return super().get_queryset(request).defer("store__rendering", "store__verbose_rendering")

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        for one in formset.forms:
            one.instance.store = form.instance.store
        super().save_formset(request, form, formset, change)


register_history(CostCenter, "code", "name", search=["code", "name"], search_help="Code or name")
register_history(CostCenterMember, "cost_center", "user", search=["=user__username"], search_help="User name")
