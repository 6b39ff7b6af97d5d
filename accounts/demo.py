"""The users of the demo: an operator, a user with an application, and one without any role."""

from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from accounts.demo_sign_ins import DEMO_PASSWORDS
from accounts.models import Subscription, Tenant, User
from accounts.names import prepared_name
from accounts.services.subscriptions import write_subscription_key
from accounts.services.users import create_user
from fulfillment.core.plugins import DemoRun
from fulfillment.core.secrets import digests


@dataclass(frozen=True)
class Person:
    username: str
    password: str
    first_name: str
    last_name: str
    is_operator: bool = False

    @property
    def subscription_key(self) -> str:
        return f"sfs_demo_{self.username}_primary"


OPERATOR = Person("operator", DEMO_PASSWORDS["operator"], "Olivia", "Park", is_operator=True)
USER = Person("user", DEMO_PASSWORDS["user"], "Uma", "Lindqvist")
OUTSIDER = Person("outsider", DEMO_PASSWORDS["outsider"], "Oscar", "Reyes")


def load_demo(run: DemoRun) -> None:
    run.people = ensure_people()


reset_demo = load_demo


def ensure_people() -> dict[str, User]:
    tenant, _ = Tenant.objects.get_or_create(
        domain=settings.DEFAULT_TENANT_DOMAIN, defaults={"name": "Demo organization"}
    )
    return {person.username: _ensure_person(person, tenant) for person in (OPERATOR, USER, OUTSIDER)}


def _ensure_person(person: Person, tenant: Tenant) -> User:
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
    if (
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
