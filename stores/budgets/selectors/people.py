"""People and applications as they are written in forms and files."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from accounts.models import User
from accounts.selectors.users import find_user
from applications.registration.models import Application
from fulfillment.core.errors import Conflict, DomainError, NotFound
from fulfillment.core.text import parse_uuid
from stores.budgets.models import CostCenter, CostCenterMember, ScopeKind
from stores.catalog.models import Store


def find_person(text: str, *, viewer: User) -> User:
    """An active user by full name, e-mail address or ID; raises NotFound or Conflict.

    Only operators find people of other organisations, and learn which ones an ambiguous name fits.
    """
    try:
        user = find_user(text)
    except DomainError as error:
        if isinstance(error, Conflict) and viewer.is_operator:
            raise
        raise _unknown(text) from error
    if not user.is_active or not (viewer.is_operator or user.tenant_id == viewer.tenant_id):
        raise _unknown(text)
    return user


def scope_id(kind: ScopeKind, text: str, *, store: Store, viewer: User) -> str:
    """What the API calls the ID of a scope, of a person or an application written by name."""
    if kind == ScopeKind.USER and text:
        return str(find_person(text, viewer=viewer).pk)
    if kind == ScopeKind.APPLICATION and text and parse_uuid(text) is None:
        known = Application.objects.filter(name__iexact=text)
        if not viewer.is_operator:
            known = known.filter(roles__store=store)
        found = list(known.values_list("pk", flat=True).distinct()[:2])
        if len(found) != 1:
            message = (
                _("Several applications have the name %(text)s. Write the ID of the one you mean.")
                if found
                else _("You see no application with the name %(text)s. Write its name in full, or its ID.")
            )
            raise NotFound(message % {"text": text}, code="application_not_found")
        return str(found[0])
    return text


def name_of_person(user: User) -> str:
    """The full name that `find_person` reads."""
    return f"{user.username}@{user.tenant.domain}"


def people_rows(store: Store) -> Iterator[tuple[str, str, str]]:
    """The code and name of each cost center with each of its people, or with none."""
    members = (
        CostCenterMember.objects.filter(store=store).select_related("user__tenant").order_by("user__username")
    )
    people: dict[Any, list[str]] = {}
    for member in members:
        people.setdefault(member.cost_center_id, []).append(name_of_person(member.user))
    for center in CostCenter.objects.filter(store=store).order_by("code"):
        for name in people.get(center.pk, [""]):
            yield center.code, center.name, name


def _unknown(text: str) -> NotFound:
    return NotFound(
        _(
            "No active user has the full name or e-mail address %(text)s. Use a full name such as "
            "olivia@print.example."
        )
        % {"text": text},
        code="user_not_found",
    )
