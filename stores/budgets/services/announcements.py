"""Announces once for a period that a budget is nearly used, and that it is used."""

from typing import Any
from uuid import UUID

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.models import NotificationKind, Role
from accounts.permissions import Permission
from accounts.selectors.staff import people_with
from accounts.services.notifications import notify
from applications.webhooks.event_types import EventType
from applications.webhooks.services.events import record_event
from fulfillment.core.text import timestamp
from stores.budgets.models import BudgetLevel, BudgetPeriod
from stores.budgets.standings import Standing
from stores.catalog.models import Store

EVENT_TYPES = {
    BudgetLevel.WARNED: EventType.BUDGET_WARNED,
    BudgetLevel.EXCEEDED: EventType.BUDGET_EXCEEDED,
}
# Grants with which all budgets of a store may be read.
READERS = (Permission.STORE_ALL_READ, Permission.BUDGET_ALL_WRITE)


def announce_levels(standing: Standing, *, store: Store, application_id: UUID | None = None) -> None:
    """Announces each level that the period reached for the first time; its row is locked with the budget.

    `application_id` is the application of the order that reached it, which gets the events as well.
    """
    period, level = standing.period, standing.level
    if level <= period.level:
        return
    reached = [threshold for threshold in EVENT_TYPES if period.level < threshold <= level]
    BudgetPeriod.objects.filter(budget=standing.budget, number=period.number).update(level=level)
    period.level = level
    for application in _find_applications(store, application_id):
        for threshold in reached:
            record_event(
                application_id=application,
                store_id=store.external_id,
                type=EVENT_TYPES[threshold],
                data=_event_data(standing, store),
            )
    _notify_staff(standing, store, level)


def _find_applications(store: Store, application_id: UUID | None) -> list[UUID]:
    """Applications that may read all budgets of the store, and that of the order; never test applications."""
    associated = Role.objects.filter(
        store=store, user__isnull=True, grant__in=READERS, application__is_test=False
    ).values_list("application_id", flat=True)
    return sorted({application for application in (*associated, application_id) if application is not None})


def _event_data(standing: Standing, store: Store) -> dict[str, Any]:
    return {
        "BudgetID": str(standing.budget.pk),
        "StoreID": store.external_id,
        "Name": standing.budget.name,
        "Type": standing.budget.type,
        "WarnAt": standing.budget.warn_at,
        **standing.amounts,
        "PeriodStart": timestamp(standing.period.starts),
        "PeriodEnd": timestamp(standing.period.ends),
    }


def _notify_staff(standing: Standing, store: Store, level: BudgetLevel) -> None:
    budget, period = standing.budget, standing.period
    is_used = level == BudgetLevel.EXCEEDED
    title = (
        gettext_noop("The budget %(name)s of %(store)s is used up")
        if is_used
        else gettext_noop("The budget %(name)s of %(store)s is used to %(share)s%%")
    )
    used, limit = standing.text(period.used), standing.text(standing.limit)
    notify(
        user_ids=people_with(READERS, store_id=store.pk),
        kind=NotificationKind.BUDGET_USED,
        key=f"budget:{budget.pk}:{period.number}:{level.value}",
        title=lambda: _(title) % {"name": budget.name, "store": store.company_name, "share": budget.warn_at},
        text=lambda: (
            _("%(used)s of %(limit)s are used. The last day of the period is %(day)s.")
            % {"used": used, "limit": limit, "day": date_format(standing.last_day)}
        ),
        path=f"/admin/stores/budget/{budget.pk}/change/",
    )
