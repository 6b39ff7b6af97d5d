"""Who changes orders in the console."""

from django.http import HttpRequest

from accounts.admin.staff import staff_on
from stores.orders.models import ActorKind
from stores.orders.services.changes import Actor


def actor_on(request: HttpRequest) -> Actor:
    kind = ActorKind.OPERATOR if staff_on(request).is_operator else ActorKind.STORE
    return Actor(kind, request.user.pk)
