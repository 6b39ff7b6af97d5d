from collections.abc import Iterator

from django.db.models import Exists, Q

from accounts.models import Role, User
from accounts.services.personal_data import names_pattern
from fulfillment.core.api.serializers import timestamp
from fulfillment.core.audit.events import event_model
from fulfillment.core.audit.personal_data import ERASED, PersonalData, Record
from stores.budgets.models import Budget, BudgetEntry, CostCenterMember


def personal_data() -> list[PersonalData]:
    return [
        PersonalData("budgets", _budgets),
        PersonalData("budget_entries", _entries, _erase_notes),
        PersonalData("cost_centers", _memberships, _leave),
    ]


def _budgets(user: User) -> Iterator[Record]:
    for budget in Budget.objects.filter(scope_key=user.pk).select_related("store").order_by("created"):
        yield {"BudgetID": str(budget.pk), "StoreID": budget.store.external_id, "Name": budget.name}


def _entries(user: User) -> Iterator[Record]:
    """Entries are accounting records: they stay, and show no name once the person is erased."""
    for entry in BudgetEntry.objects.filter(actor_user=user.pk).order_by("pk").iterator():
        yield {
            "BudgetID": str(entry.budget_id),
            "Kind": entry.kind,
            "Amount": str(entry.amount),
            "OrderID": str(entry.order_id) if entry.order_id else None,
            "Note": entry.note,
            "Created": timestamp(entry.created),
        }


def _erase_notes(user: User) -> None:
    """Erases the notes that name the person, also those of other authors, in stores where the person had a role.

    A name that a person chose may be a word of any note.
    """
    roles = event_model(Role).objects.filter(user=user)
    everywhere = Exists(roles.filter(application=None, store=None))
    known = Q(actor_user=user.pk) | Q(budget__store__in=roles.values("store")) | Q(everywhere)
    BudgetEntry.objects.filter(known, note__iregex=names_pattern(user)).update(note=ERASED)


def _memberships(user: User) -> Iterator[Record]:
    members = CostCenterMember.objects.filter(user=user).select_related("cost_center", "store")
    for member in members.order_by("pk"):
        center = member.cost_center
        yield {"StoreID": member.store.external_id, "Code": center.code, "Name": center.name}


def _leave(user: User) -> None:
    CostCenterMember.objects.filter(user=user).delete()
