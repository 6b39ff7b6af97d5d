"""Makes, changes, tops up and removes budgets."""

from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from accounts.callers import Caller
from accounts.models import User
from applications.registration.models import Application
from fulfillment.core.db.changes import differs_from_stored
from fulfillment.core.errors import Conflict, Fault, Invalid, raise_faults
from fulfillment.core.text import parse_uuid
from stores.budgets.models import Budget, BudgetEntry, BudgetPeriod, CostCenter, EntryKind, ScopeKind
from stores.budgets.services.announcements import announce_levels
from stores.budgets.services.ledger import Posting, Reason, lock_standing, open_period, write_entries
from stores.budgets.standings import MAX_LIMIT, Standing
from stores.catalog.models import Store
from stores.catalog.models.store import BudgetType
from stores.catalog.services.stores import lock_store

# `Scope` beside these is resolved to two columns.
COLUMNS = {
    "Name": "name",
    "Type": "type",
    "Limit": "limit",
    "Duration": "duration",
    "StartDate": "start_date",
    "EndDate": "end_date",
    "CarryOver": "carry_over",
    "OverBudget": "over_budget",
    "WarnAt": "warn_at",
    "IsEnabled": "is_enabled",
}
# With entries these stay as they are; after changing the last three, periods are counted anew.
FIXED = ("Scope", "Type", "Duration", "StartDate")
FIRST_YEAR, LAST_YEAR = 2000, 2199
MAX_AMOUNT = Decimal(10) ** 12
MAX_BUDGETS = 5_000
# Budgets that have not ended: each quote lists all that bind it, and each order locks and counts them.
MAX_OF_SCOPE = 100


@transaction.atomic
def create_budget(*, store: Store, values: Mapping[str, Any]) -> Standing:
    """`values` under the names of the API; StartDate is today by default."""
    store = lock_store(store.pk)
    if not store.budget_enabled:
        raise Conflict(_("The store has no budgets: BudgetEnabled is false."), code="budgets_disabled")
    if Budget.objects.filter(store=store).count() >= MAX_BUDGETS:
        message = _("A store has at most %(max_budgets)s budgets. Remove one without entries.")
        listed = number_format(MAX_BUDGETS, force_grouping=True)
        raise Conflict(message % {"max_budgets": listed}, code="too_many_budgets")
    now = timezone.now()
    budget = Budget(store=store, start_date=store.local_date(now), created=now, updated=now)
    _apply_values(budget, store, values, is_new=True)
    _refuse_crowded(budget, store.local_date(now))
    budget.save(force_insert=True)
    return lock_standing(budget, store=store, moment=now)


@transaction.atomic
def change_budget(*, budget: Budget, values: Mapping[str, Any]) -> Standing:
    """Changes the members in `values`. A changed limit or carry-over counts from the present period on."""
    store, now = lock_store(budget.store_id), timezone.now()
    standing = lock_standing(budget, store=store, moment=now)
    stored = standing.budget
    if changed := [name for name in FIXED if name in values and _differs(stored, name, values[name])]:
        _refuse_entries(stored, f"{', '.join(changed)} cannot change")
        BudgetPeriod.objects.filter(budget=stored).delete()
    elif store.local_date(now) >= stored.start_date:
        # Earlier periods are carried over by the terms that they had.
        open_period(standing, moment=now)
    before = stored.scope_key, stored.end_date
    _apply_values(stored, store, values)
    if (stored.scope_key, stored.end_date) != before:
        _refuse_crowded(stored, store.local_date(now))
    if differs_from_stored(stored):
        stored.updated = now
        stored.save()
    standing = lock_standing(stored, store=store, moment=now)
    if standing.period.pk is not None:
        announce_levels(standing, store=store)
    return standing


@transaction.atomic
def adjust_budget(
    *, budget: Budget, amount: Decimal, note: str, caller: Caller, key: UUID | None = None
) -> BudgetEntry:
    """Adds to the present period, or takes from it if `amount` is negative; once for each `key`."""
    now, store = timezone.now(), budget.store
    standing = lock_standing(budget, store=store, moment=now)
    day, stored = store.local_date(now), standing.budget
    cause = f"adjustment:{key or uuid4()}"
    entries = BudgetEntry.objects.select_related("period").filter(budget=stored, cause=cause)
    if key and (earlier := entries.first()):
        return earlier
    if not stored.start_date <= day <= (stored.end_date or day):
        raise Conflict(
            _("The budget has no period today: it has not begun, or it has ended."),
            code="budget_not_in_force",
        )
    _check_adjustment(standing, amount)
    open_period(standing, moment=now)
    reason = Reason(EntryKind.ADJUSTMENT, cause, now, caller, note=note)
    write_entries(postings=[Posting(stored.pk, standing.period.pk, amount)], reason=reason)
    standing.period.added += amount
    announce_levels(standing, store=store)
    return entries.get()


def _refuse_crowded(budget: Budget, day: date) -> None:
    """Call it with the store locked."""
    others = Budget.objects.filter(store=budget.store_id, scope_key=budget.scope_key).exclude(pk=budget.pk)
    if others.exclude(end_date__lt=day).count() >= MAX_OF_SCOPE:
        message = _("At most %(max_budgets)s budgets apply to the same scope. End or remove one of them.")
        raise Conflict(message % {"max_budgets": MAX_OF_SCOPE}, code="too_many_budgets")


def _check_adjustment(standing: Standing, amount: Decimal) -> None:
    raise_faults(list(_amount_faults("Amount", amount, standing.budget.type)))
    if standing.limit + amount < 0:
        message = (
            f"Amount: the limit of the period is {standing.text(standing.limit)}; you cannot subtract more."
        )
        raise Invalid.at("/Amount", "limit_below_zero", message)
    if standing.limit + amount > MAX_LIMIT:
        message = f"Amount: the limit of a period is at most {MAX_LIMIT:,}."
        raise Invalid.at("/Amount", "too_large", message)


@transaction.atomic
def remove_budget(*, budget: Budget) -> None:
    """Removes a budget without entries; others are ended."""
    locked = Budget.objects.select_for_update(of=("self",)).get(pk=budget.pk)
    _refuse_entries(locked, "It cannot be removed; end it by its EndDate")
    locked.delete()


def resolve_scope(store: Store, scope: Mapping[str, Any]) -> UUID | None:
    """The `scope_key` of `Kind` and `ID`; raises Invalid where there is no such scope."""
    kind, reference = ScopeKind(scope["Kind"]), str(scope.get("ID") or "")
    if kind == ScopeKind.STORE:
        if reference in {"", store.external_id}:
            return None
        message = f"ID: a budget of this store is for {store.external_id}."
        raise Invalid.at("/Scope/ID", "scope_unknown", message)
    key = _scope_key(store, kind, reference)
    if key is None:
        names = {
            ScopeKind.USER: "user with this ID",
            ScopeKind.APPLICATION: "application with this ID",
            ScopeKind.COST_CENTER: "cost center with this code in the store",
        }
        raise Invalid.at("/Scope/ID", "scope_unknown", _("ID: there is no %(kind)s.") % {"kind": names[kind]})
    return key


def _scope_key(store: Store, kind: ScopeKind, reference: str) -> UUID | None:
    if kind == ScopeKind.COST_CENTER:
        return CostCenter.objects.filter(store=store, code=reference).values_list("pk", flat=True).first()
    key = parse_uuid(reference)
    if key is None:
        return None
    allowed: Any = (
        User.objects.filter(is_active=True) if kind == ScopeKind.USER else Application.objects.all()
    )
    return key if allowed.filter(pk=key).exists() else None


def _apply_values(budget: Budget, store: Store, values: Mapping[str, Any], *, is_new: bool = False) -> None:
    """Sets the members in `values`, or raises Invalid with every fault."""
    faults: list[Fault] = []
    offered = {"Type": store.budget_types, "Duration": store.budget_durations}
    for name, allowed in offered.items():
        if (
            name in values
            and values[name] not in allowed
            and (is_new or _differs(budget, name, values[name]))
        ):
            listed = ", ".join(allowed) or "none"
            message = f"{name}: the store does not offer {values[name]}; it offers: {listed}."
            faults.append(Fault(f"/{name}", "not_offered", message))
    if "Scope" in values and (is_new or _differs(budget, "Scope", values["Scope"])):
        try:
            budget.scope_key = resolve_scope(store, values["Scope"])
            budget.scope_kind = values["Scope"]["Kind"]
        except Invalid as error:
            faults += error.faults
    for name, column in COLUMNS.items():
        if name in values:
            setattr(budget, column, values[name])
    if is_new or "Type" in values:
        budget.currency = store.currency if budget.type == BudgetType.AMOUNT else ""
    faults += [*_amount_faults("Limit", budget.limit, budget.type, least=Decimal(0)), *_date_faults(budget)]
    faults += _currency_faults(budget, store)
    raise_faults(faults)


def _amount_faults(
    name: str, amount: Decimal, budget_type: str, *, least: Decimal | None = None
) -> Iterator[Fault]:
    if least is not None and amount < least:
        yield Fault(
            f"/{name}",
            "too_small",
            _("%(name)s: this must not be below %(minimum)s.") % {"name": name, "minimum": least},
        )
    elif not amount and least is None:
        yield Fault(f"/{name}", "too_small", _("%(name)s: 0 changes nothing.") % {"name": name})
    elif abs(amount) > MAX_AMOUNT:
        yield Fault(
            f"/{name}",
            "too_large",
            _("%(name)s: at most %(maximum)s.")
            % {"name": name, "maximum": number_format(MAX_AMOUNT, force_grouping=True)},
        )
    elif budget_type != BudgetType.AMOUNT and amount % 1:
        yield Fault(
            f"/{name}",
            "not_whole",
            _("%(name)s: write a whole number, because the budget counts %(budget_type)s.")
            % {"name": name, "budget_type": budget_type},
        )


def _date_faults(budget: Budget) -> Iterator[Fault]:
    dates: dict[str, date | None] = {"StartDate": budget.start_date, "EndDate": budget.end_date}
    for name, day in dates.items():
        if day is not None and not FIRST_YEAR <= day.year <= LAST_YEAR:
            message = f"{name}: write a day from {FIRST_YEAR} to {LAST_YEAR}."
            yield Fault(f"/{name}", "date_out_of_range", message)
    if budget.end_date is not None and budget.end_date < budget.start_date:
        yield Fault("/EndDate", "ends_before_start", _("EndDate: this is before StartDate."))


def _currency_faults(budget: Budget, store: Store) -> Iterator[Fault]:
    """A budget that ended before the store changed its currency stays ended."""
    is_over = budget.end_date is not None and budget.end_date < store.local_date(timezone.now())
    if budget.currency not in {"", store.currency} and not is_over:
        message = f"EndDate: the budget is in {budget.currency}, and the store is now in {store.currency}."
        yield Fault("/EndDate", "currency_changed", message)


def _differs(budget: Budget, name: str, value: Any) -> bool:
    if name != "Scope":
        return bool(getattr(budget, COLUMNS[name]) != value)
    if value["Kind"] != budget.scope_kind:
        return True
    if budget.scope_kind == ScopeKind.STORE:
        return value.get("ID") not in {None, "", budget.store.external_id}
    return (
        _scope_key(budget.store, ScopeKind(budget.scope_kind), str(value.get("ID") or "")) != budget.scope_key
    )


def _refuse_entries(budget: Budget, consequence: str) -> None:
    if BudgetEntry.objects.filter(budget=budget).exists():
        raise Conflict(
            _("The budget has entries. %(consequence)s.") % {"consequence": consequence},
            code="budget_has_entries",
        )
