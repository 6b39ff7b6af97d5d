"""What the header of every page needs to know of the user."""

from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists

from accounts.models import User
from accounts.selectors.notifications import unread_of
from accounts.selectors.staff import staff_roles_of


@dataclass(frozen=True, slots=True)
class PageHeader:
    may_enter_console: bool
    unread: int


def page_header_of(user: Any) -> PageHeader:
    """One query; none for signed-out visitors."""
    if user is None or not user.is_active or not user.is_authenticated:
        return PageHeader(may_enter_console=False, unread=0)
    people = User.objects.filter(pk=user.pk).order_by()
    looked_up = people.values_list(ArraySubquery(unread_of(user).values("pk")), Exists(staff_roles_of(user)))
    unread, is_staff = looked_up.first() or ([], False)
    return PageHeader(may_enter_console=user.is_operator or is_staff, unread=len(unread))
