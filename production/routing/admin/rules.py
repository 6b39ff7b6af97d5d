from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import admin
from django.contrib.postgres.fields import ArrayField
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from unfold.widgets import UnfoldAdminTextInputWidget

from fulfillment.core.admin.base import ConsoleAdmin, ConsoleInline
from fulfillment.core.admin.read_only import HistoryAdmin
from production.routing.models import RoutingChoice, RoutingRule
from production.routing.selectors.routing import Decision, ItemFacts, decide, facts_of
from stores.orders.models import Order, OrderItem

MAX_ITEMS = 50


@dataclass(frozen=True, slots=True)
class TestedItem:
    item: OrderItem
    facts: ItemFacts
    decision: Decision


class ChoiceInline(ConsoleInline):
    model = RoutingChoice
    fields = ["provider", "priority", "share", "daily_capacity"]
    min_num = 1
    verbose_name = "provider"
    verbose_name_plural = "providers"


@admin.register(RoutingRule)
class RoutingRuleAdmin(ConsoleAdmin):
    list_display = ["position", "name", "conditions", "providers", "is_enabled"]
    list_display_links = ["name"]
    list_filter = ["is_enabled"]
    search_fields = ["name"]
    search_help_text = "Name"
    ordering = ["position", "id"]
    sortable_by = ()
    list_before_template = "admin/production/rules_before.html"
    empty_help = "Without a rule nothing is sent. A rule says which items go to which providers."
    fields = [
        "name",
        "position",
        "is_enabled",
        "store",
        "product",
        "category",
        "countries",
        "minimum_quantity",
        "maximum_quantity",
    ]
    autocomplete_fields = ["store", "product"]
    inlines = [ChoiceInline]
    formfield_overrides = {ArrayField: {"widget": UnfoldAdminTextInputWidget}}

    def get_queryset(self, request: HttpRequest) -> QuerySet[RoutingRule]:
        rules = super().get_queryset(request).select_related("store", "product")
        return rules.prefetch_related("choices__provider")

    @admin.display(description="for")
    def conditions(self, rule: RoutingRule) -> str:
        parts = [str(one) for one in (rule.store, rule.product, rule.category) if one]
        parts += [", ".join(rule.countries)] if rule.countries else []
        if rule.minimum_quantity:
            parts.append(f"from {rule.minimum_quantity:,}")
        if rule.maximum_quantity:
            parts.append(f"up to {rule.maximum_quantity:,}")
        return " · ".join(parts) or "everything"

    @admin.display(description="providers")
    def providers(self, rule: RoutingRule) -> str:
        return ", ".join(str(choice) for choice in rule.choices.all()) or "none: the rule is passed over"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.tester_view)
        return [path("tester", view, name="production_routingrule_tester"), *super().get_urls()]

    def tester_view(self, request: HttpRequest) -> HttpResponse:
        """Shows which provider an order would get now, and why."""
        entered = request.GET.get("order", "").strip()[:20]
        order = self._order(entered)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Rule tester",
            "entered": entered,
            "order": order,
            "tested": _tested(order) if order else (),
            "is_unknown": bool(entered) and order is None,
            "is_never_sent": order is not None and (order.is_test or order.store.is_demo),
        }
        return TemplateResponse(request, "admin/production/rule_tester.html", context)

    def _order(self, entered: str) -> Order | None:
        if not (entered.isascii() and entered.isdecimal()):
            return None
        number = int(entered)
        found = Order.objects.select_related("store").filter(number=number) if number < 2**63 else None
        return found.first() if found is not None else None


def _tested(order: Order) -> Sequence[TestedItem]:
    now, tested = timezone.now(), []
    for item in order.items.select_related("product").order_by("position")[:MAX_ITEMS]:
        facts = facts_of(order, item)
        tested.append(TestedItem(item, facts, decide(facts, now=now)))
    return tested


@admin.register(RoutingRule.pgh_event_model)  # type: ignore[attr-defined]
class RoutingRuleHistoryAdmin(HistoryAdmin):
    shown = ("name", "position", "is_enabled")
    search_fields = ["=name"]
    search_help_text = "Name, written out"


@admin.register(RoutingChoice.pgh_event_model)  # type: ignore[attr-defined]
class RoutingChoiceHistoryAdmin(HistoryAdmin):
    shown = ("rule", "provider", "priority")
    search_fields = ["=provider__code"]
    search_help_text = "Code of the provider, written out"
