"""The demo of development mode: three stores, three people, one application, with known credentials."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.utils import timezone

from accounts.callers import Caller
from accounts.demo_sign_ins import DEMO_PASSWORDS
from accounts.models import Role, Subscription, Tenant, User
from accounts.names import prepared_name
from accounts.permissions import DEFAULT_STORE_GRANTS, Permission
from accounts.services.subscriptions import write_subscription_key
from accounts.services.users import create_user
from applications.oauth.services.tokens import issue_access_token
from applications.registration.models import Application, ApplicationKey
from applications.registration.services.applications import OWNER_GRANTS, create_application
from applications.registration.services.built_in import ensure_api_console
from applications.registration.services.keys import MAXIMUM_KEYS, add_key
from delivery.datasets.services.demo import DEMO_POSTAL_CODES, load_demo_population
from fulfillment.core.secrets import digests
from stores.catalog.models import Product, Store
from stores.demo import load_demo_catalog

TOKEN_LIFETIME = timedelta(hours=24)
ASSOCIATED, UNASSOCIATED, DEMO = "summit-print", "harbor-press", "demo"
STORE_STAFF_GRANTS = ("Store.All.Read", "Order.All.Read", "Order.All.Write")
EVERYDAY_SCOPES = tuple(name for name in Permission.values if name != Permission.OPERATOR)


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

APPLICATION_ID = "demo-application"
APPLICATION_KEY = "sfk_demo_application_key"
APPLICATION_SUBSCRIPTION_KEY = "sfs_demo_application_primary"
REPLY_URL = "http://127.0.0.1:9099/callback"


@dataclass(frozen=True)
class DemoCard:
    sign_ins: list[tuple[str, str, str]]
    curl: str


def demo_card() -> DemoCard:
    """What `up` prints: (role, username, password) and a line that works when pasted."""
    require_development()
    people = ensure_people()
    token = _token(people[USER.username], ensure_api_console(), EVERYDAY_SCOPES)
    return DemoCard(
        sign_ins=[("operator", OPERATOR.username, OPERATOR.password), ("user", USER.username, USER.password)],
        curl=(
            f"curl -H 'Authorization: Bearer {token}' "
            f"-H 'Ocp-Apim-Subscription-Key: {USER.subscription_key}' {settings.API_URL}/store/{ASSOCIATED}"
        ),
    )


@transaction.atomic
def reset_demo() -> dict[str, Any]:
    """Puts people, keys, roles and the application of the demo as documented; returns them with fresh tokens."""
    require_development()
    people = ensure_people()
    application = ensure_application(people[USER.username])
    _set_roles(people, application)
    console = ensure_api_console()
    return {
        "base_url": settings.API_URL,
        "oauth": {
            "metadata_url": f"{settings.PUBLIC_URL}/.well-known/oauth-authorization-server",
            "authorize_url": f"{settings.PUBLIC_URL}/oauth/authorize",
            "token_url": f"{settings.PUBLIC_URL}/oauth/token",
            "revoke_url": f"{settings.PUBLIC_URL}/oauth/revoke",
        },
        **{
            role: _person_record(person, people[person.username], console)
            for role, person in (("operator", OPERATOR), ("user", USER), ("outsider", OUTSIDER))
        },
        "application": _application_record(application),
        "stores": [
            {"id": ASSOCIATED, "role": "associated"},
            {"id": UNASSOCIATED, "role": "unassociated"},
            {"id": DEMO, "role": "demo"},
        ],
        "products": _product_records(),
        "postal_codes": list(DEMO_POSTAL_CODES),
    }


def load_demo() -> None:
    """Loads what is missing of the demo; what is there stays untouched."""
    require_development()
    load_demo_catalog()
    load_demo_population()
    people = ensure_people()
    if not Application.objects.filter(client_id=APPLICATION_ID).exists():
        _set_roles(people, ensure_application(people[USER.username]))


def require_development() -> None:
    if not settings.DEVELOPMENT:
        raise ImproperlyConfigured("The demo is for development mode; its passwords and keys are public.")


def ensure_people() -> dict[str, User]:
    tenant, _ = Tenant.objects.get_or_create(
        domain=settings.DEFAULT_TENANT_DOMAIN, defaults={"name": "Demo organisation"}
    )
    return {person.username: _ensure_person(person, tenant) for person in (OPERATOR, USER, OUTSIDER)}


def ensure_application(owner: User) -> Application:
    application = Application.objects.filter(client_id=APPLICATION_ID).first()
    if application is None:
        application = create_application(
            caller=Caller.on_pages(owner),
            values={
                "Name": "Demo application",
                "Description": "A third-party application, associated with one store.",
                "ReplyUrls": [REPLY_URL],
            },
            external_id=APPLICATION_ID,
        )
    Application.objects.filter(pk=application.pk).update(is_enabled=True, redirect_uris=REPLY_URL)
    _ensure_key(application)
    _set_subscription_key(application.subscription, APPLICATION_SUBSCRIPTION_KEY)
    application.refresh_from_db()
    return application


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
    _set_subscription_key(user.subscription, person.subscription_key)
    return user


def _set_subscription_key(subscription: Subscription, value: str) -> None:
    if not subscription.keys.filter(slot="primary", digest__in=digests(value)).exists():
        write_subscription_key(subscription=subscription, slot="primary", value=value)


def _ensure_key(application: Application) -> None:
    if application.keys.filter(digest__in=digests(APPLICATION_KEY)).exists():
        return
    for surplus in application.keys.order_by("created")[
        : max(0, application.keys.count() + 1 - MAXIMUM_KEYS)
    ]:
        surplus.delete()
    add_key(application=application, value=APPLICATION_KEY)


def _set_roles(people: dict[str, User], application: Application) -> None:
    store = Store.objects.get(external_id=ASSOCIATED)
    user = people[USER.username]
    wanted = [
        *(Role(user=user, store=store, grant=grant) for grant in STORE_STAFF_GRANTS),
        *(Role(user=user, application=application, grant=grant) for grant in OWNER_GRANTS),
        *(Role(application=application, store=store, grant=grant) for grant in DEFAULT_STORE_GRANTS),
    ]
    Role.objects.filter(user=people[OUTSIDER.username]).delete()
    Role.objects.filter(application=application, store__isnull=False).exclude(store=store).delete()
    Role.objects.bulk_create(wanted, ignore_conflicts=True)


def _person_record(person: Person, user: User, console: Application) -> dict[str, str]:
    scopes: Sequence[str] = Permission.values if person.is_operator else EVERYDAY_SCOPES
    return {
        "id": str(user.pk),
        "username": person.username,
        "password": person.password,
        "subscription_key": person.subscription_key,
        "access_token": _token(user, console, scopes),
    }


def _application_record(application: Application) -> dict[str, str]:
    key = ApplicationKey.objects.get(application=application, digest__in=digests(APPLICATION_KEY))
    return {
        "id": str(application.pk),
        "external_id": application.client_id,
        "key_id": str(key.pk),
        "key": APPLICATION_KEY,
        "reply_url": REPLY_URL,
        "subscription_key": APPLICATION_SUBSCRIPTION_KEY,
        "access_token": _token(None, application, EVERYDAY_SCOPES),
    }


def _product_records() -> list[dict[str, Any]]:
    products = Product.objects.filter(is_active=True, store__external_id__in=(ASSOCIATED, UNASSOCIATED, DEMO))
    rows = products.order_by("store", "position", "pk").values_list(
        "store__external_id", "external_id", "template_fields__field_name"
    )
    seen: dict[tuple[str, str], bool] = {}
    for store_id, product_id, field_name in rows:
        seen[store_id, product_id] = field_name is not None
    return [{"store_id": s, "id": p, "has_template": t} for (s, p), t in seen.items()]


def _token(user: User | None, application: Application, scopes: Sequence[str]) -> str:
    return issue_access_token(user=user, application=application, scopes=scopes, lifetime=TOKEN_LIFETIME)
