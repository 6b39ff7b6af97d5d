"""A user's notifications and preferences, and what the header of every page shows of them."""

from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, QuerySet

from accounts.models import Notification, NotificationKind, NotificationPreference, User
from accounts.selectors.staff import staff_roles

# The bell shows larger numbers as "+".
MAX_COUNTED = 100


@dataclass(frozen=True, slots=True)
class Preference:
    kind: NotificationKind
    in_bell: bool
    by_mail: bool


def bell_notifications(user: User) -> QuerySet[Notification]:
    return Notification.objects.filter(user=user, in_bell=True)


def unread_notifications(user: User) -> QuerySet[Notification]:
    """Unread notifications of the bell, as many as it counts."""
    return bell_notifications(user).filter(read__isnull=True)[:MAX_COUNTED]


def find_notification(user: User, notification_id: int) -> Notification | None:
    """Finds a notification, even if it was only mailed."""
    return Notification.objects.filter(user=user, pk=notification_id).first()


def list_preferences(user: User) -> list[Preference]:
    """The preference of each kind, in the order of NotificationKind."""
    stored = {row.kind: row for row in NotificationPreference.objects.filter(user=user)}
    preferences = []
    for kind in NotificationKind:
        row = stored.get(kind.value)
        preferences.append(Preference(kind, row.in_bell if row else True, row.by_mail if row else True))
    return preferences


@dataclass(frozen=True, slots=True)
class PageHeader:
    may_enter_console: bool
    unread: int


def get_page_header(user: Any) -> PageHeader:
    """One query; none for signed-out visitors."""
    if user is None or not user.is_active or not user.is_authenticated:
        return PageHeader(may_enter_console=False, unread=0)
    people = User.objects.filter(pk=user.pk).order_by()
    looked_up = people.values_list(
        ArraySubquery(unread_notifications(user).values("pk")), Exists(staff_roles(user))
    )
    unread, is_staff = looked_up.first() or ([], False)
    return PageHeader(may_enter_console=user.is_operator or is_staff, unread=len(unread))
