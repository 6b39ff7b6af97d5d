"""Creates users and changes their profiles, by the rules for user names and passwords."""

import math
from datetime import timedelta
from typing import TypedDict, Unpack

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Tenant, User
from accounts.names import prepared_name
from accounts.selectors.emails import is_confirmed_by_another
from accounts.services.mailed_links import request_confirmation
from accounts.services.subscriptions import create_subscription
from fulfillment.core.errors import Fault, Invalid, TooManyRequests

DAY = timedelta(days=1)
# The JSON pointer of each model field in the request.
POINTERS = {
    "username": "/Username",
    "first_name": "/FirstName",
    "last_name": "/LastName",
    "email": "/Email",
    "phone": "/Phone",
}


class ProfileFields(TypedDict, total=False):
    """What people write about themselves; a new account may leave out any of it."""

    first_name: str
    last_name: str
    phone: str
    time_zone: str
    language: str


PROFILE = tuple(ProfileFields.__annotations__)


def ensure_default_tenant() -> Tenant:
    """The tenant that users join when they sign up."""
    domain = settings.DEFAULT_TENANT_DOMAIN
    tenant = Tenant.objects.filter(domain__iexact=domain).first()
    return tenant or Tenant.objects.get_or_create(domain=domain, defaults={"name": domain})[0]


@transaction.atomic
def create_user(
    *,
    tenant: Tenant,
    username: str,
    email: str,
    password: str,
    is_operator: bool = False,
    email_is_confirmed: bool = False,
    made_by: User | None = None,
    **profile: Unpack[ProfileFields],
) -> User:
    """Creates the user with a subscription, and mails a link that confirms the address.

    Raises Invalid naming each wrong field, also a name that is taken; TooManyRequests where `made_by`, the person
    whose limits hold for the new account, made too many today.
    """
    user = User(
        tenant=tenant,
        username=username,
        email=email,
        is_operator=is_operator,
        email_confirmed=timezone.now() if email_is_confirmed else None,
        counted_on=_person_responsible(made_by) if made_by else None,
        **profile,
    )
    _check_new_user(user, password)
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError as error:
        raise username_taken(username) from error
    create_subscription(user=user)
    request_confirmation(user=user)
    return user


def _check_new_user(user: User, password: str) -> None:
    faults = [*field_faults(user), *password_faults(password, user)]
    if not any(fault.pointer == POINTERS["username"] for fault in faults) and is_name_taken(
        tenant=user.tenant, username=user.username, by_other_than=user
    ):
        taken_error = username_taken(user.username)
        if not faults:
            raise taken_error
        faults += taken_error.faults
    if faults:
        message = faults[0].message if len(faults) == 1 else "The user cannot be created."
        raise Invalid(message, code="invalid_body", faults=faults)


def _person_responsible(maker: User) -> User:
    """The creator or, if the creator's own account is unconfirmed, the user it counts against. Locked, so that of many
    new accounts at once exactly the allowed number is made.
    """
    person = User.objects.select_for_update(of=("self",), no_key=True).get(pk=maker.responsible_id)
    most, now = settings.ACCOUNTS_PER_USER, timezone.now()
    recent = User.objects.filter(counted_on=person, created__gt=now - DAY).order_by("-created")
    if oldest := recent.values_list("created", flat=True)[most - 1 : most]:
        wait = max(1, math.ceil((oldest[0] + DAY - now).total_seconds()))
        raise TooManyRequests(
            _(
                "You have created %(max_accounts)s accounts within a day, which is the limit. Try again in %(wait)s "
                "seconds, or ask an operator to create them."
            )
            % {"max_accounts": most, "wait": wait},
            code="too_many_accounts",
            retry_after=wait,
        )
    return person


@transaction.atomic
def change_profile(*, user: User, **profile: Unpack[ProfileFields]) -> User:
    for name, value in profile.items():
        setattr(user, name, value)
    # The unchanged name is not checked: it may be older than the current rules.
    faults = [fault for fault in field_faults(user) if fault.pointer != POINTERS["username"]]
    if faults:
        raise Invalid(_("The profile cannot be saved."), faults=faults)
    user.save(update_fields=[*profile, "updated"])
    return user


def end_sessions(*, user: User) -> None:
    """Reads all sessions: the table does not say whose a session is; only its content does."""
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            session.delete()


def take_browser_zone(*, user: User, time_zone: str) -> None:
    """Takes the zone at the first sign-in of an account that another person made: nothing chosen is overwritten."""
    if user.time_zone == "UTC" != time_zone:
        user.time_zone = time_zone
        user.save(update_fields=["time_zone", "updated"])


def is_name_taken(*, tenant: Tenant, username: str, by_other_than: User) -> bool:
    """Whether another user of the tenant has the name, however either is written, or signs in with an e-mail address
    that reads like the full name: a full name comes first, so that person could no longer do so.
    """
    prepared = prepared_name(username)
    other_users = User.objects.filter(tenant=tenant, prepared_name=prepared).exclude(pk=by_other_than.pk)
    full_name = f"{prepared}@{tenant.domain}"
    return other_users.exists() or is_confirmed_by_another(full_name, than=by_other_than)


def username_taken(username: str) -> Invalid:
    message = _("A user with the username “%(username)s” already exists.") % {"username": username}
    return Invalid.at("/Username", "username_taken", message)


def password_faults(password: str, user: User | None = None) -> list[Fault]:
    """The messages of the configured validators about a password."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        return [
            Fault("/Password", reason.code or "password_invalid", " ".join(reason.messages))
            for reason in error.error_list
        ]
    return []


def field_faults(user: User) -> list[Fault]:
    try:
        user.full_clean(exclude=["password", "tenant"], validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        return [
            Fault(POINTERS.get(field, f"/{field}"), reason.code or "invalid", " ".join(reason.messages))
            for field, reasons in error.error_dict.items()
            for reason in reasons
        ]
    return []
