"""The users of the demo: an operator, a user with an application, and one without any role."""

import logging
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, connection
from django.db.models import Q
from django.utils import timezone

from accounts.models import Subscription, Tenant, User
from accounts.names import prepared_name
from accounts.services.subscriptions import write_subscription_key
from accounts.services.users import create_user
from fulfillment.core.errors import in_one_line
from fulfillment.core.plugins import DemoRun
from fulfillment.core.secrets import digests

# Production refuses to start on a database with demo users, because their passwords are public.
logger = logging.getLogger("fulfillment.operations.demo")

DEMO_PASSWORDS = {
    "operator": "paper-river-lantern",
    "user": "copper-meadow-kite",
    "outsider": "silver-harbor-tulip",
}
DEMO_DOMAIN = "demo.example"
# Checking a password takes 0.1 s, so a start checks at most this many.
MAX_CHECKED = 12


def demo_sign_ins_left() -> list[str]:
    """Active accounts with a demo password, as `name@domain`. Raises django.db.Error."""
    people = Q()
    for name in DEMO_PASSWORDS:
        named_so = Q(tenant__domain__iexact=DEMO_DOMAIN) | Q(email__iexact=f"{name}@{DEMO_DOMAIN}")
        people |= Q(username__iexact=name) & (named_so | Q(is_operator=True))
    candidates = User.objects.filter(people, is_active=True).select_related("tenant").order_by("created")
    return [
        f"{user.username}@{user.tenant.domain}"
        for user in candidates[:MAX_CHECKED]
        # Not `user.check_password`, which would upgrade an old hash.
        if check_password(DEMO_PASSWORDS[user.username.lower()], user.password)
    ]


def demo_refusal(sign_ins: list[str]) -> str:
    first = sign_ins[0]
    return (
        f"This database holds sign-ins of the demo, whose passwords are public: {', '.join(sign_ins)}. Use another "
        f"database or, to keep this one, give each a new password (manage.py changepassword {first.partition('@')[0]}) "
        f"or erase it (manage.py erase_user {first})."
    )


def refuse_demo_sign_ins() -> None:
    """Runs at the start of web and worker, and before a deploy changes anything. Raises ImproperlyConfigured.

    A database that is away stops no start: the service waits for it.
    """
    if settings.DEVELOPMENT:
        return
    try:
        sign_ins = demo_sign_ins_left()
    except Error as error:
        logger.warning(
            "It is not known whether the database holds sign-ins of the demo: %s", in_one_line(error)
        )
        return
    finally:
        if not connection.in_atomic_block:
            connection.close()
    if sign_ins:
        raise ImproperlyConfigured(demo_refusal(sign_ins))


@dataclass(frozen=True)
class DemoPerson:
    username: str
    password: str
    first_name: str
    last_name: str
    is_operator: bool = False

    @property
    def subscription_key(self) -> str:
        return f"sfs_demo_{self.username}_primary"


OPERATOR = DemoPerson("operator", DEMO_PASSWORDS["operator"], "Olivia", "Park", is_operator=True)
USER = DemoPerson("user", DEMO_PASSWORDS["user"], "Uma", "Lindqvist")
OUTSIDER = DemoPerson("outsider", DEMO_PASSWORDS["outsider"], "Oscar", "Reyes")


def load_demo(run: DemoRun) -> None:
    run.people = ensure_people()


reset_demo = load_demo


def ensure_people() -> dict[str, User]:
    tenant, _ = Tenant.objects.get_or_create(
        domain=settings.DEFAULT_TENANT_DOMAIN, defaults={"name": "Demo organization"}
    )
    return {person.username: _ensure_person(person, tenant) for person in (OPERATOR, USER, OUTSIDER)}


def _ensure_person(person: DemoPerson, tenant: Tenant) -> User:
    user = User.objects.filter(tenant=tenant, prepared_name=prepared_name(person.username)).first()
    if user is None:
        user = create_user(
            tenant=tenant,
            username=person.username,
            first_name=person.first_name,
            last_name=person.last_name,
            email=f"{person.username}@demo.example",
            password=person.password,
            is_operator=person.is_operator,
            email_is_confirmed=True,
        )
    elif (
        not user.is_active
        or user.email_confirmed is None
        or user.is_operator != person.is_operator
        or not user.check_password(person.password)
    ):
        user.is_active, user.is_operator = True, person.is_operator
        user.email_confirmed = user.email_confirmed or timezone.now()
        user.set_password(person.password)
        user.save()
    set_subscription_key(user.subscription, person.subscription_key)
    return user


def set_subscription_key(subscription: Subscription, value: str) -> None:
    if not subscription.keys.filter(slot="primary", digest__in=digests(value)).exists():
        write_subscription_key(subscription=subscription, slot="primary", value=value)
