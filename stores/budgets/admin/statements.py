"""The statement of a budget: its entries by kind, period, person and order, as a page and as CSV."""

from collections.abc import Iterable
from datetime import date
from itertools import chain
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.admin.staff import StaffAdmin, staff_on
from accounts.callers import Caller
from accounts.permissions import ORDER_GRANTS
from fulfillment.core.csv_rows import BOM, csv_pieces
from fulfillment.core.files.downloads import streamed_file
from fulfillment.core.plugins import offered_values
from fulfillment.core.text import parse_number, parse_uuid
from stores.budgets.admin.forms import StatementForm
from stores.budgets.models import Budget, BudgetEntry
from stores.budgets.representations import ENTRY_COLUMNS, gauge_of
from stores.budgets.selectors.budgets import actor_names, filter_entries, statement_cells
from stores.budgets.selectors.standings import standings_of
from stores.budgets.standings import Standing, first_day
from stores.catalog.models.store import BudgetType

A_PAGE = 50
PERIODS_OFFERED = 120


class StatementPages(StaffAdmin):
    def sees_orders(self, request: HttpRequest, budget: Budget) -> bool:
        return staff_on(request).holds(ORDER_GRANTS, budget.store_id)

    def statement_view(self, request: HttpRequest, budget_id: UUID) -> HttpResponse:
        budget = get_object_or_404(self.get_queryset(request), pk=budget_id)
        form = StatementForm(request.GET)
        form.is_valid()
        entries = self._entries(budget, form)
        if before := form.cleaned_data.get("before"):
            entries = entries.filter(pk__lt=before)
        page = list(entries.order_by("-pk")[: A_PAGE + 1])
        query = request.GET.copy()
        query.pop("before", None)
        context = self.page_context(
            request,
            f"Statement of {budget}",
            below=budget,
            budget=budget,
            **gauge_of(standing_of(budget)),
            form=form,
            lines=statement_lines(budget, page[:A_PAGE]),
            periods=_list_periods(budget),
            query=query.urlencode(),
            older=page[A_PAGE - 1].pk if len(page) > A_PAGE else None,
            is_filtered=any(form.cleaned_data.get(name) not in (None, "") for name in form.fields),
            places=places_of(budget),
            sees_orders=self.sees_orders(request, budget),
        )
        return TemplateResponse(request, "admin/stores/budget_statement.html", context)

    def statement_csv(self, request: HttpRequest, budget_id: UUID) -> StreamingHttpResponse:
        budget = get_object_or_404(self.get_queryset(request), pk=budget_id)
        form = StatementForm(request.GET)
        form.is_valid()
        rows = csv_pieces(ENTRY_COLUMNS, statement_cells(self._entries(budget, form), budget))
        caller = Caller.on_pages(request.user)
        return streamed_file(chain([BOM], rows), f"budget-{budget.pk}.csv", caller.key)

    def _entries(self, budget: Budget, form: StatementForm) -> QuerySet[BudgetEntry]:
        values = form.cleaned_data
        order = str(values.get("order", "")).strip()
        return filter_entries(
            budget,
            kind=values.get("kind", ""),
            period=values.get("period"),
            person=values.get("person", "").strip(),
            order_id=_order_id(order) if order else None,
        )


def standing_of(budget: Any) -> Standing:
    """The list has looked it up for all of its budgets."""
    if not hasattr(budget, "standing"):
        [budget.standing] = standings_of([budget], store=budget.store, moment=timezone.now())
    standing: Standing = budget.standing
    return standing


def statement_lines(budget: Budget, entries: Iterable[BudgetEntry]) -> list[dict[str, Any]]:
    listed = list(entries)
    names, numbers = actor_names(listed), _order_numbers(listed)
    return [
        {
            "entry": entry,
            "actor": names.get(actor, _("removed")) if actor else _("the service"),
            "order_number": numbers.get(entry.order_id),
            "first_day": first_day(budget.duration, budget.start_date, entry.period.number),
        }
        for entry in listed
        for actor in [entry.actor_user or entry.actor_application]
    ]


def _list_periods(budget: Budget) -> list[tuple[int, date]]:
    numbers = budget.periods.order_by("-number").values_list("number", flat=True)[:PERIODS_OFFERED]
    return [(number, first_day(budget.duration, budget.start_date, number)) for number in numbers]


def places_of(budget: Budget) -> str:
    """The format of an amount in the measure of the budget."""
    return "2g" if budget.type == BudgetType.AMOUNT else "0g"


def _order_numbers(entries: Iterable[BudgetEntry]) -> dict[Any, int]:
    keys = {entry.order_id for entry in entries if entry.order_id}
    [numbers_of] = offered_values("order_record", "order_numbers")
    numbers: dict[Any, int] = numbers_of(order_ids=keys) if keys else {}
    return numbers


def _order_id(text: str) -> UUID:
    """The ID from an OrderID or an order number; an unknown order has no entries."""
    if key := parse_uuid(text):
        return key
    [find_order] = offered_values("order_record", "find_order")
    number = parse_number(text)
    order_id: UUID | None = None if number is None else find_order(number=number)
    return order_id or UUID(int=0)
