"""The entries of a budget, filtered, and as lines of a file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Concat

from accounts.models import User
from applications.registration.models import Application
from stores.budgets.models import Budget, BudgetEntry
from stores.budgets.representations import Record, entry_cells, entry_record
from stores.budgets.selectors.budgets import actor_names

BATCH = 500
# People whom a typed name may fit.
MAX_PEOPLE = 200


@dataclass(frozen=True, slots=True)
class EntryFilter:
    kind: str = ""
    period: int | None = None
    person: str = ""
    order_id: UUID | None = None


def filtered_entries(budget: Budget, chosen: EntryFilter) -> QuerySet[BudgetEntry]:
    found = BudgetEntry.objects.filter(budget=budget).select_related("period")
    if chosen.kind:
        found = found.filter(kind=chosen.kind)
    if chosen.period is not None:
        found = found.filter(period__number=chosen.period)
    if chosen.order_id is not None:
        found = found.filter(order_id=chosen.order_id)
    if chosen.person:
        people, applications = _people_named(chosen.person), _applications_named(chosen.person)
        found = found.filter(Q(actor_user__in=people) | Q(actor_application__in=applications))
    return found


def entry_records(entries: Iterable[BudgetEntry], budget: Budget) -> list[Record]:
    listed = list(entries)
    names = actor_names(listed)
    return [entry_record(entry, budget, names) for entry in listed]


def statement_cells(entries: QuerySet[BudgetEntry], budget: Budget) -> Iterator[Iterable[Any]]:
    """The cells of every entry, the oldest first, in short statements."""
    last = 0
    while page := list(entries.filter(pk__gt=last).order_by("pk")[:BATCH]):
        yield from (entry_cells(record) for record in entry_records(page, budget))
        last = page[-1].pk


def _people_named(text: str) -> list[UUID]:
    named = User.objects.annotate(shown=Concat("first_name", Value(" "), "last_name"))
    fits = Q(shown__icontains=text) | Q(username__iexact=text) | Q(email__iexact=text)
    return list(named.filter(fits).values_list("pk", flat=True)[:MAX_PEOPLE])


def _applications_named(text: str) -> list[UUID]:
    return list(Application.objects.filter(name__icontains=text).values_list("pk", flat=True)[:MAX_PEOPLE])
