"""The actors on the mailing page: the user, or an application, which may then order the selection."""

from dataclasses import dataclass

from accounts.callers import Caller
from accounts.models import User
from applications.registration.selectors.applications import own_applications

MYSELF = "me"


@dataclass(frozen=True, slots=True)
class Actor:
    key: str
    name: str
    caller: Caller


def actors_of(user: User) -> list[Actor]:
    applications = own_applications(user).only("pk", "name", "is_test")
    return [
        Actor(MYSELF, "Myself", Caller.on_pages(user)),
        *(Actor(str(one.pk), one.name, Caller.of_application(one)) for one in applications),
    ]


def chosen_actor(actors: list[Actor], key: str) -> Actor:
    return next((one for one in actors if one.key == key), actors[0])
