from dataclasses import dataclass

from django.db.models import QuerySet

from accounts.models import Notification, NotificationKind, NotificationPreference, User

# The bell shows larger numbers as "+".
MAX_COUNTED = 100


@dataclass(frozen=True, slots=True)
class Preference:
    kind: NotificationKind
    in_bell: bool
    by_mail: bool


def unread_of(user: User) -> QuerySet[Notification]:
    """The number of unread notifications, up to the limit of the bell."""
    return Notification.objects.filter(user=user, in_bell=True, read__isnull=True)[:MAX_COUNTED]


def preferences_of(user: User) -> list[Preference]:
    """The preference of each kind, in the order of NotificationKind."""
    stored = {row.kind: row for row in NotificationPreference.objects.filter(user=user)}
    found = []
    for kind in NotificationKind:
        row = stored.get(kind.value)
        found.append(Preference(kind, row.in_bell if row else True, row.by_mail if row else True))
    return found
