from dataclasses import dataclass

from django.db.models import QuerySet

from accounts.models import Notification, NotificationKind, NotificationPreference, User

# The bell says no larger number.
MAX_COUNTED = 100


@dataclass(frozen=True, slots=True)
class Preference:
    kind: NotificationKind
    in_bell: bool
    by_mail: bool


def unread_of(user: User) -> QuerySet[Notification]:
    """As many as the bell counts."""
    return Notification.objects.filter(user=user, in_bell=True, read__isnull=True)[:MAX_COUNTED]


def preferences_of(user: User) -> list[Preference]:
    """Of every kind, in the order in which they are declared."""
    kept = {row.kind: row for row in NotificationPreference.objects.filter(user=user)}
    found = []
    for kind in NotificationKind:
        row = kept.get(kind.value)
        found.append(Preference(kind, row.in_bell if row else True, row.by_mail if row else True))
    return found
