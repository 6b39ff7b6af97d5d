"""Users by ID or by the name that a person types, their roles, and the addresses known in a tenant."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db.models import Min, Q, QuerySet
from django.utils.translation import gettext as _

from accounts.callers import Caller
from accounts.models import RecoveryCode, Role, Subscription, SubscriptionSlot, Tenant, User
from accounts.names import prepared_name
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.errors import Conflict, Forbidden, Invalid, NotFound
from fulfillment.core.secrets import decrypt, mask_secret

MAX_ADDRESSES = 100
# The number of matching users that a message lists.
SHOWN = 5

# One query for every result, so that its time reveals nothing; LATERAL keeps the order of the request.
ADDRESSES_OF_TENANT = """
SELECT requested.address
FROM unnest(%s::text[]) WITH ORDINALITY AS requested(address, place)
WHERE EXISTS (
    SELECT FROM accounts_user person
    WHERE person.tenant_id = %s AND lower(person.email) = lower(requested.address) AND person.is_active
)
ORDER BY requested.place
"""


def user_by_id(user_id: str) -> User:
    try:
        return User.objects.select_related("tenant").get(pk=UUID(user_id))
    except (ValueError, User.DoesNotExist) as error:
        raise NotFound(_("There is no user with this ID."), code="user_not_found") from error


def find_active_user(user_id: str) -> User | None:
    return User.objects.filter(pk=user_id, is_active=True).select_related("tenant").first()


def count_recovery_codes(user: User) -> int:
    """The number of recovery codes that were not used yet."""
    return RecoveryCode.objects.filter(authenticator__user=user).count()


def user_roles(caller: Caller, user: User) -> QuerySet[Role]:
    """The user's roles; those over applications only if the caller can see the application."""
    visible = Q(application__isnull=True) | Q(application__is_test__in=caller.modes)
    return Role.objects.filter(visible, user=user).select_related("store").order_by("pk")


def role_subjects(user: User, searched: str = "") -> QuerySet[Any, Any]:
    """The pairs of application and store (either may be null) that a user has roles on, the oldest first."""
    roles = Role.objects.filter(user=user)
    if searched:
        roles = roles.filter(
            Q(application__name__icontains=searched)
            | Q(store__company_name__icontains=searched)
            | Q(store__external_id__icontains=searched)
        )
    return roles.values("application", "store").annotate(first=Min("pk")).order_by("first")


def grants_on_subjects(user: User, subjects: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row for each, with the names and the sorted `grants`; one query for all of them."""
    rows = {(each["application"], each["store"]): {**each, "grants": []} for each in subjects}
    applications, stores = ({pair[position] for pair in rows} - {None} for position in (0, 1))
    roles = Role.objects.filter(
        Q(application__in=applications) | Q(application__isnull=True),
        Q(store__in=stores) | Q(store__isnull=True),
        user=user,
    )
    names = ("application__name", "store__external_id", "store__company_name")
    for role in roles.order_by("grant").values("application", "store", "grant", *names):
        # The filter by both lists may also match other pairs.
        if row := rows.get((role["application"], role["store"])):
            row["grants"].append(role["grant"])
            row.update({name: role[name] for name in names})
    return list(rows.values())


def known_addresses(caller: Caller, addresses: Sequence[str], *, tenant: str | None) -> list[str]:
    """The addresses, in their order, that belong to an active user of the tenant (default: own)."""
    if len(addresses) > MAX_ADDRESSES:
        raise Invalid.at(
            "",
            "too_many_addresses",
            _("At most %(max_addresses)s addresses can be looked up; %(addresses)s were sent.")
            % {"max_addresses": MAX_ADDRESSES, "addresses": len(addresses)},
        )
    tenant_id = _requested_tenant(caller, tenant)
    unique = list(dict.fromkeys(addresses))
    return [address for (address,) in fetch_rows(ADDRESSES_OF_TENANT, (unique, tenant_id))]


def _requested_tenant(caller: Caller, domain: str | None) -> int:
    own_tenant_id = _own_tenant(caller)
    if not domain:
        return own_tenant_id
    tenant_id = Tenant.objects.filter(domain__iexact=domain).values_list("pk", flat=True).first()
    if tenant_id == own_tenant_id or (tenant_id is not None and caller.is_operator):
        return tenant_id
    if caller.is_operator:
        raise NotFound(_("There is no tenant with this domain."), code="tenant_not_found")
    # The same for an unknown and a foreign tenant: the caller learns nothing about others.
    raise Forbidden(_("Only operators can read another tenant."), code="foreign_tenant")


def _own_tenant(caller: Caller) -> int:
    """The caller's tenant; for an application on its own, that of its creator."""
    if caller.tenant_id is not None:
        return caller.tenant_id
    creator = (
        User.objects.filter(owned_applications=caller.application_id)
        .values_list("tenant_id", flat=True)
        .first()
    )
    if creator is None:
        raise Forbidden(_("The application has no owner, so it belongs to no tenant."), code="no_tenant")
    return creator


def find_user(text: str) -> User:
    """Finds a user by full name (`name@domain`), by an e-mail address or a name that one person has.

    Raises NotFound, and Conflict where several fit: a full name can look like the e-mail address of another person.
    """
    users = User.objects.select_related("tenant").order_by("created")
    with suppress(ValueError):
        if user := users.filter(pk=UUID(text)).first():
            return user
    name, domain = text.rpartition("@")[::2]
    full = (
        list(users.filter(prepared_name=prepared_name(name), tenant__domain__iexact=domain)) if name else []
    )
    candidates = list(users.filter(Q(email__iexact=text) | Q(prepared_name=prepared_name(text)))[:SHOWN])
    matches = {user.pk: user for user in [*full, *candidates]}
    if len(matches) == 1:
        return next(iter(matches.values()))
    if matches:
        raise _refuse_ambiguous(text, list(matches.values()))
    raise NotFound(
        _(
            "No user has the full name or e-mail address %(text)s; write the full name, which is the "
            "user name with the domain of the organization (olivia@print.example), or the e-mail "
            "address."
        )
        % {"text": text},
        code="user_not_found",
    )


def _refuse_ambiguous(text: str, users: list[User]) -> Conflict:
    # An ID is unambiguous in every case, also where a full name equals an e-mail address.
    names = ", ".join(
        f"{user.username}@{user.tenant.domain} (e-mail {user.email}, ID {user.pk})" for user in users
    )
    return Conflict(
        _(
            "%(text)s is the full name or e-mail address of %(found)s people: %(shown)s. Write the "
            "ID of the one you mean."
        )
        % {"text": text, "found": len(users), "shown": names},
        code="user_ambiguous",
    )


def find_subscription(*, user: User | None = None, application: Any = None) -> Subscription | None:
    """The subscription of a user or of an application: pass one of the two."""
    return Subscription.objects.filter(user=user, application=application).first()


def subscription_keys(subscription: Subscription) -> dict[str, str]:
    """The plain keys by slot ("primary", "secondary"); show them only to their owner."""
    return {key.slot: decrypt(key.ciphertext) for key in subscription.keys.order_by("slot")}


def shown_subscription_keys(subscription: Subscription | None, *, in_full: bool) -> list[dict[str, Any]]:
    """The keys for a page of their owner, masked unless `in_full`."""
    values = subscription_keys(subscription) if subscription else {}
    return [
        {"slot": slot, "label": slot.label, "value": values[slot] if in_full else mask_secret(values[slot])}
        for slot in SubscriptionSlot
        if slot in values
    ]
