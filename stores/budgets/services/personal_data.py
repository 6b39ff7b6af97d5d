"""What budgets hold of a person: the export of it, and its erasure."""

from collections.abc import Iterator

from django.db.models import Exists, Q

from accounts.models import Role, User
from accounts.services.personal_data import names_pattern
from fulfillment.core.audit.events import event_model
from fulfillment.core.audit.personal_data import ERASED, PersonalData, records_of
from fulfillment.core.text import JsonObject
from stores.budgets.models import Budget, BudgetEntry, CostCenterMember


def personal_data() -> list[PersonalData]:
    return [
        PersonalData("budgets", _budgets_of),
        PersonalData("budget_entries", _entries_of, _erase_notes),
        PersonalData("cost_centers", _memberships_of, _leave_cost_centers),
    ]


def _budgets_of(user: User) -> Iterator[JsonObject]:
    budgets = Budget.objects.filter(scope_key=user.pk).order_by("created")
    return records_of(budgets, BudgetID="pk", StoreID="store__external_id", Name="name")


def _entries_of(user: User) -> Iterator[JsonObject]:
    """Entries are accounting records: they stay, and show no name once the person is erased."""
    entries = BudgetEntry.objects.filter(actor_user=user.pk).order_by("pk")
    columns = {
        "Kind": "kind",
        "Amount": "amount",
        "OrderID": "order_id",
        "Note": "note",
        "Created": "created",
    }
    return records_of(entries, BudgetID="budget_id", **columns)


def _erase_notes(user: User) -> None:
    """Erases the notes that name the person, also those of other authors, in stores where the person had a role.

    A name that a person chose may be a word of any note.
    """
    roles = event_model(Role).objects.filter(user=user)
    everywhere = Exists(roles.filter(application=None, store=None))
    related = Q(actor_user=user.pk) | Q(budget__store__in=roles.values("store")) | Q(everywhere)
    BudgetEntry.objects.filter(related, note__iregex=names_pattern(user)).update(note=ERASED)


def _memberships_of(user: User) -> Iterator[JsonObject]:
    members = CostCenterMember.objects.filter(user=user).order_by("pk")
    center = {"Code": "cost_center__code", "Name": "cost_center__name"}
    return records_of(members, StoreID="store__external_id", **center)


def _leave_cost_centers(user: User) -> None:
    CostCenterMember.objects.filter(user=user).delete()
