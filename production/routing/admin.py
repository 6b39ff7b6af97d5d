"""The console pages of routing rules, with a test of the rules on an order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from fulfillment.core.admin.base import ConsoleAdmin, ExtraPage
from fulfillment.core.admin.inlines import ConsoleInline
from fulfillment.core.text import parse_number
from production.routing.models import RoutingChoice, RoutingRule
from production.routing.selectors import Decision, ItemFacts, Routing, item_facts
from stores.catalog.countries import COUNTRIES
from stores.catalog.models import Product
from stores.orders.models import Order, OrderItem

MAX_ITEMS = 50


@dataclass(frozen=True, slots=True)
class TestedItem:
    item: OrderItem
    facts: ItemFacts
    decision: Decision


class CountryCodes(forms.CharField):
    """Codes in either case, separated by commas or spaces; the value is a list."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        codes = list(dict.fromkeys(re.findall(r"[^\s,;]+", str(value or "").upper())))
        if unknown := [code for code in codes if code not in COUNTRIES]:
            message = _("%(code)s is not a country code. Use two letters, such as US, CA or GB.")
            raise forms.ValidationError(message % {"code": unknown[0][:20]}, code="invalid")
        return codes


class RuleForm(forms.ModelForm):
    category = forms.ChoiceField(
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text=gettext_lazy("The category of the product, as in the catalog. Empty: any."),
    )
    countries = CountryCodes(
        required=False,
        widget=UnfoldAdminTextInputWidget,
        help_text=gettext_lazy("Destination countries by their codes, such as US, CA. Empty: any."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The category of the rule stays where no product has it any more.
        categories = Product.objects.order_by().values_list("category", flat=True).distinct()
        names = {*categories, self.instance.category} - {""}
        category: Any = self.fields["category"]
        category.choices = [("", _("Any")), *((name, name) for name in sorted(names, key=str.casefold))]

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        minimum, maximum = values.get("minimum_quantity"), values.get("maximum_quantity")
        if minimum is not None and maximum is not None and maximum < minimum:
            self.add_error("maximum_quantity", _("Maximum quantity is below minimum quantity."))
        return values


class ChoiceInline(ConsoleInline):
    model = RoutingChoice
    fields = ["provider", "priority", "share", "daily_capacity"]
    help_texts = {
        "daily_capacity": "Of this rule. Empty: no limit.",
    }
    min_num = 1
    hide_title = True
    verbose_name = "provider"
    verbose_name_plural = "providers"


@admin.register(RoutingRule)
class RoutingRuleAdmin(ConsoleAdmin):
    harmless_pages = ("add", "change", "delete", "tester")
    list_display = ["position", "name", "conditions", "providers", "is_enabled"]
    list_display_links = ["name"]
    list_filter = ["is_enabled"]
    search_fields = ["name"]
    search_help_text = "Name"
    ordering = ["position", "id"]
    sortable_by = ()
    list_tools_template = "admin/production/rules_tools.html"
    empty_help = (
        "A rule decides which items go to which providers. Items that match no rule are produced manually."
    )
    form = RuleForm
    fieldsets = [
        (None, {"fields": ["name", "position", "is_enabled"]}),
        (
            "Items that match",
            {
                "fields": [
                    "store",
                    "product",
                    "category",
                    "countries",
                    ("minimum_quantity", "maximum_quantity"),
                ]
            },
        ),
    ]
    help_texts = {
        "minimum_quantity": "Empty: any.",
        "maximum_quantity": "Empty: any.",
    }
    autocomplete_fields = ["store", "product"]
    inlines = [ChoiceInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[RoutingRule]:
        rules = super().get_queryset(request).select_related("store", "product")
        return rules.prefetch_related("choices__provider")

    @admin.display(description="for")
    def conditions(self, rule: RoutingRule) -> str:
        parts = [str(part) for part in (rule.store, rule.product, rule.category) if part]
        parts += [", ".join(rule.countries)] if rule.countries else []
        if rule.minimum_quantity:
            parts.append(_("from %(quantity)s") % {"quantity": _quantity_text(rule.minimum_quantity)})
        if rule.maximum_quantity:
            parts.append(_("up to %(quantity)s") % {"quantity": _quantity_text(rule.maximum_quantity)})
        return " · ".join(parts) or _("everything")

    @admin.display(description="providers")
    def providers(self, rule: RoutingRule) -> str:
        return ", ".join(str(choice) for choice in rule.choices.all()) or _("None: the rule is skipped")

    def extra_pages(self) -> list[ExtraPage]:
        return [("tester", self.tester_view, "tester")]

    def tester_view(self, request: HttpRequest) -> HttpResponse:
        """Shows which provider an order would get now, and why."""
        entered = request.GET.get("order", "").strip()[:20]
        order = self._find_order(entered)
        context = {
            **self.page_context(request, _("Rule tester")),
            "entered": entered,
            "order": order,
            "tested": _test_rules(order) if order else (),
            "is_unknown": bool(entered) and order is None,
            "is_never_sent": order is not None and (order.is_test or order.store.is_demo),
        }
        return TemplateResponse(request, "admin/production/rule_tester.html", context)

    def _find_order(self, entered: str) -> Order | None:
        number = parse_number(entered)
        return Order.objects.select_related("store").filter(number=number).first() if number else None


def _test_rules(order: Order) -> Sequence[TestedItem]:
    routing, tested_items = Routing(timezone.now()), []
    for item in order.items.select_related("product").order_by("position")[:MAX_ITEMS]:
        facts = item_facts(order, item)
        tested_items.append(TestedItem(item, facts, routing.decide(facts)))
    return tested_items


def _quantity_text(quantity: int) -> str:
    return number_format(quantity, force_grouping=True)
