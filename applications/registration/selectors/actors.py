"""The actors of pages that try the API: the user, or an application that the user may change."""

from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.callers import Caller
from accounts.models import User
from applications.registration.models import Application
from applications.registration.selectors.applications import own_applications

MYSELF = "me"
# What tells whose limits hold.
OF_OWNER = ("user__email_confirmed", "user__counted_on")


@dataclass(frozen=True, slots=True)
class Actor:
    """`key` names it in URLs. What is made as an application belongs to the application."""

    key: str
    name: str
    caller: Caller


def actors_of(user: User, applications: QuerySet[Application] | None = None) -> list[Actor]:
    """The user first, then the applications: all of the user's own unless some of them are given."""
    found = own_applications(user) if applications is None else applications
    return [
        Actor(MYSELF, _("Myself"), Caller.on_pages(user)),
        *(
            Actor(str(one.pk), one.name, Caller.of_application(one))
            for one in found.select_related("user").only("name", "is_test", *OF_OWNER)
        ),
    ]


def chosen_actor(actors: list[Actor], key: str) -> Actor:
    return next((one for one in actors if one.key == key), actors[0])
