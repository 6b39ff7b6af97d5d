"""Budgets with their entries and people, for callers of the API, pages of the console and files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.callers import Caller
from accounts.models import User
from accounts.permissions import Permission
from accounts.selectors.grants import grants_on_store
from accounts.selectors.users import find_user
from applications.registration.models import Application
from fulfillment.core.errors import Conflict, DomainError, Forbidden, NotFound
from fulfillment.core.text import JsonObject, parse_uuid
from stores.budgets.models import Budget, BudgetEntry, BudgetPeriod, CostCenter, CostCenterMember, ScopeKind
from stores.budgets.representations import entry_cells, entry_record
from stores.budgets.selectors.standings import standings_of, standings_of_caller
from stores.budgets.standings import Standing
from stores.catalog.models import Store
from stores.catalog.selectors.products import store_refusal
from stores.catalog.selectors.stores import unknown_store

READ_ALL = (Permission.STORE_ALL_READ.value, Permission.BUDGET_ALL_WRITE.value)
READ = (*READ_ALL, Permission.STORE_SELF_READ.value)
WRITE = (Permission.BUDGET_ALL_WRITE.value,)
# A list of all 5,000 budgets of a store takes a third of a second of processor time.
LONG_LIST = 500
BATCH = 500
# People whom a typed name may fit.
MAX_PEOPLE = 200


@dataclass(frozen=True, slots=True)
class BudgetAccess:
    """A store, and whether the caller may read all of its budgets or only those that bind the caller."""

    store: Store
    caller: Caller
    sees_all: bool


def authorize_budgets(caller: Caller, store_id: str, permissions: Sequence[str]) -> BudgetAccess:
    """The store, if the caller has one of `permissions` on it.

    Budgets and their entries are about live orders: test applications see none and make none.
    """
    store = Store.objects.filter(external_id=store_id).first()
    if store is None:
        raise unknown_store(store_id)
    granted = grants_on_store(caller, store)
    if granted.isdisjoint(permissions):
        raise store_refusal(caller, store, permissions)
    if caller.is_test and tuple(permissions) == WRITE:
        message = "Budgets bind live orders; a test application cannot change them."
        raise Forbidden(message, code="closed_to_test_applications")
    return BudgetAccess(store, caller, sees_all=not caller.is_test and not granted.isdisjoint(READ_ALL))


def has_long_list(access: BudgetAccess) -> bool:
    return access.sees_all and Budget.objects.filter(store=access.store).count() > LONG_LIST


def list_budgets(access: BudgetAccess) -> list[Standing]:
    """Budgets by name: with access to all every budget, else those that bind the caller today."""
    now = timezone.now()
    if access.sees_all:
        budgets = list(Budget.objects.filter(store=access.store).order_by("name", "id"))
        return standings_of(budgets, store=access.store, moment=now)
    return sorted(
        standings_of_caller(access.caller, store=access.store, moment=now),
        key=lambda standing: (standing.budget.name, standing.budget.pk),
    )


def standing_for(access: BudgetAccess, budget_id: str) -> Standing:
    """Raises NotFound for one that the caller cannot see."""
    key, now = parse_uuid(budget_id), timezone.now()
    if access.sees_all:
        budgets = list(Budget.objects.filter(store=access.store, pk=key)) if key else []
        standings = standings_of(budgets, store=access.store, moment=now) if budgets else []
    else:
        standings = standings_of_caller(access.caller, store=access.store, moment=now)
    for standing in standings:
        if standing.budget.pk == key:
            return standing
    raise NotFound(_("There is no budget with this ID for this caller."), code="budget_not_found")


def entries_for(access: BudgetAccess, budget: Budget) -> QuerySet[BudgetEntry]:
    """The oldest first. One's own budget shows all of its entries; those of others show what other people ordered.

    The budget of an application is its own, not one of the users who share it.
    """
    caller = access.caller
    own = (
        (ScopeKind.APPLICATION, caller.application_id)
        if caller.is_application
        else (ScopeKind.USER, caller.user_id)
    )
    is_own = (budget.scope_kind, budget.scope_key) == own
    if not (access.sees_all or is_own):
        message = (
            "The entries of a budget that binds others as well require the grant Store.All.Read on the store."
        )
        raise Forbidden(message, code="grant_missing")
    return BudgetEntry.objects.filter(budget=budget).select_related("period").order_by("id")


def wrong_balances(stores: Sequence[int] | None) -> QuerySet[Budget]:
    """Budgets of these stores, or of all, that the nightly check found to differ from their entries."""
    budgets = Budget.objects.all() if stores is None else Budget.objects.filter(store__in=stores)
    return budgets.filter(Exists(BudgetPeriod.objects.filter(budget=OuterRef("pk"), differs=True)))


def scope_names(budgets: Iterable[Budget], *, names_people: bool = True) -> Mapping[UUID, tuple[str, str]]:
    """Scopes by `scope_key`: the ID that the API shows, and the name; nothing for those that were erased or removed.

    People have none for callers who do not see names.
    """
    keys = {budget.scope_key for budget in budgets if budget.scope_key}
    if not keys:
        return {}
    persons = {
        user.pk: (str(user.pk), user.full_name) for user in _known_people(keys if names_people else ())
    }
    applications = Application.objects.filter(pk__in=keys).values_list("pk", "name")
    centers = CostCenter.objects.filter(pk__in=keys)
    return {
        **persons,
        **{pk: (str(pk), name) for pk, name in applications},
        **{center.pk: (center.code, center.name) for center in centers},
    }


def actor_names(entries: Iterable[BudgetEntry], *, names_people: bool = True) -> Mapping[UUID, str]:
    """The names of people and applications in entries; nothing for those that were erased or removed."""
    listed = list(entries)
    persons = {entry.actor_user for entry in listed if entry.actor_user and names_people}
    applications = {entry.actor_application for entry in listed if entry.actor_application}
    application_names: dict[Any, str] = dict(
        Application.objects.filter(pk__in=applications).values_list("pk", "name")
    )
    return {**application_names, **{user.pk: user.full_name for user in _known_people(persons)}}


def _known_people(keys: Iterable[UUID | None]) -> QuerySet[User]:
    return User.objects.filter(pk__in=[key for key in keys if key]).exclude(
        username__startswith="erased-", is_active=False
    )


def filter_entries(
    budget: Budget, *, kind: str, period: int | None, person: str, order_id: UUID | None
) -> QuerySet[BudgetEntry]:
    """The entries of these; an empty value filters nothing."""
    exact = {"kind": kind or None, "period__number": period, "order_id": order_id}
    filters = {name: value for name, value in exact.items() if value is not None}
    entries = BudgetEntry.objects.filter(budget=budget, **filters).select_related("period")
    if not person:
        return entries
    people, applications = _people_named(person), _applications_named(person)
    return entries.filter(Q(actor_user__in=people) | Q(actor_application__in=applications))


def entry_records(
    entries: Iterable[BudgetEntry], budget: Budget, *, names_people: bool = True
) -> list[JsonObject]:
    listed = list(entries)
    names = actor_names(listed, names_people=names_people)
    return [entry_record(entry, budget, names) for entry in listed]


def statement_cells(
    entries: QuerySet[BudgetEntry], budget: Budget, *, names_people: bool = True
) -> Iterator[Iterable[Any]]:
    """The cells of every entry, the oldest first, in short statements."""
    last = 0
    while page := list(entries.filter(pk__gt=last).order_by("pk")[:BATCH]):
        yield from (entry_cells(record) for record in entry_records(page, budget, names_people=names_people))
        last = page[-1].pk


def _people_named(text: str) -> list[UUID]:
    people = User.objects.annotate(shown=Concat("first_name", Value(" "), "last_name"))
    fits = Q(shown__icontains=text) | Q(username__iexact=text) | Q(email__iexact=text)
    return list(people.filter(fits).values_list("pk", flat=True)[:MAX_PEOPLE])


def _applications_named(text: str) -> list[UUID]:
    return list(Application.objects.filter(name__icontains=text).values_list("pk", flat=True)[:MAX_PEOPLE])


def find_person(text: str, *, viewer: User) -> User:
    """An active user by full name, e-mail address or ID; raises NotFound or Conflict.

    Only operators find people of other organisations, and learn which ones an ambiguous name fits.
    """
    try:
        user = find_user(text)
    except DomainError as error:
        if isinstance(error, Conflict) and viewer.is_operator:
            raise
        raise _person_not_found(text) from error
    if not user.is_active or not (viewer.is_operator or user.tenant_id == viewer.tenant_id):
        raise _person_not_found(text)
    return user


def scope_id(kind: ScopeKind, text: str, *, store: Store, viewer: User) -> str:
    """What the API calls the ID of a scope, of a person or an application written by name."""
    if kind == ScopeKind.USER and text:
        return str(find_person(text, viewer=viewer).pk)
    if kind == ScopeKind.APPLICATION and text and parse_uuid(text) is None:
        applications = Application.objects.filter(name__iexact=text)
        if not viewer.is_operator:
            applications = applications.filter(roles__store=store)
        keys = list(applications.values_list("pk", flat=True).distinct()[:2])
        if len(keys) != 1:
            message = (
                _("Several applications have the name %(text)s. Write the ID of the one you mean.")
                if keys
                else _("You see no application with the name %(text)s. Write its name in full, or its ID.")
            )
            raise NotFound(message % {"text": text}, code="application_not_found")
        return str(keys[0])
    return text


def people_rows(store: Store) -> Iterator[tuple[str, str, str]]:
    """The code and name of each cost center with each of its people, or with none."""
    members = (
        CostCenterMember.objects.filter(store=store).select_related("user__tenant").order_by("user__username")
    )
    people: dict[Any, list[str]] = {}
    for member in members:
        # The full name that `find_person` reads.
        full_name = f"{member.user.username}@{member.user.tenant.domain}"
        people.setdefault(member.cost_center_id, []).append(full_name)
    for center in CostCenter.objects.filter(store=store).order_by("code"):
        for name in people.get(center.pk, [""]):
            yield center.code, center.name, name


def _person_not_found(text: str) -> NotFound:
    return NotFound(
        _(
            "No active user has the full name or e-mail address %(text)s. Use a full name such as "
            "olivia@print.example."
        )
        % {"text": text},
        code="user_not_found",
    )
