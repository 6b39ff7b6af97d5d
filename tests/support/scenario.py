"""A small world for API tests: people, applications and stores with every relationship the rules speak of."""

import json
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.test import Client

from accounts.callers import Caller
from accounts.models import Role, Subscription, Tenant, User
from accounts.pages.confirmation import SECONDS, SESSION_NAME, WAITING
from accounts.permissions import DEFAULT_STORE_GRANTS, Permission
from accounts.selectors.users import subscription_keys
from accounts.services.users import create_user
from applications.oauth.services import issue_access_token
from applications.registration.models import Application
from applications.registration.services.applications import create_application
from stores.catalog.models import Store
from stores.catalog.services.refresh import refresh_renderings

EVERY_SCOPE = tuple(Permission.values)
EVERYDAY_SCOPES = tuple(name for name in EVERY_SCOPE if name != Permission.OPERATOR)
PASSWORD = "a long pass phrase"


class ApiClient(Client):
    """Sends JSON below /api/v1 with the two credential headers it was given."""

    def __init__(self, token: str | None = None, key: str | None = None) -> None:
        headers = {}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if key is not None:
            headers["Ocp-Apim-Subscription-Key"] = key
        super().__init__(headers=headers, raise_request_exception=False)
        self.token, self.key, self.credentials = token, key, headers

    def call(self, method: str, path: str, body: Any = None, **extra: Any):
        content = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        if body is None and method != "GET":
            content = {"data": b"", "content_type": "application/json"}
        return self.generic(method, f"/api/v1{path}", **content, **extra)


@dataclass
class World:
    tenant: Tenant
    operator: User
    user: User
    outsider: User
    console: Application
    application: Application
    other_application: Application
    associated: Store
    unassociated: Store
    demo: Store
    keys: dict[Any, str] = field(default_factory=dict)

    def key_of(self, owner: User | Application) -> str:
        if owner.pk not in self.keys:
            self.keys[owner.pk] = subscription_keys(owner.subscription)["primary"]
        return self.keys[owner.pk]

    def as_user(
        self, user: User, scopes: tuple[str, ...] = EVERYDAY_SCOPES, application: Application | None = None
    ) -> ApiClient:
        token = issue_access_token(
            user=user, application=application or self.console, scopes=scopes, lifetime=timedelta(hours=1)
        )
        return ApiClient(token, self.key_of(user))

    def as_operator(self) -> ApiClient:
        return self.as_user(self.operator, EVERY_SCOPE)

    def as_application(
        self, application: Application | None = None, scopes: tuple[str, ...] = EVERYDAY_SCOPES
    ) -> ApiClient:
        application = application or self.application
        token = issue_access_token(
            user=None, application=application, scopes=scopes, lifetime=timedelta(hours=1)
        )
        return ApiClient(token, self.key_of(application))


def build_world() -> World:
    tenant = Tenant.objects.create(domain="print.example", name="Print")
    operator, user, outsider = (
        create_user(
            tenant=tenant,
            username=name,
            first_name=name.title(),
            last_name="Example",
            email=f"{name}@print.example",
            password=PASSWORD,
            is_operator=name == "operator",
            email_is_confirmed=True,
        )
        for name in ("operator", "user", "outsider")
    )
    console = _application(operator, "Own console", is_first_party=True)
    application = _application(user, "Mail Studio", "https://mailstudio.example/callback")
    other = _application(outsider, "Other", "https://other.example/callback")
    associated = Store.objects.create(external_id="associated", company_name="Associated Print")
    unassociated = Store.objects.create(external_id="unassociated", company_name="Unassociated Print")
    demo = Store.objects.create(external_id="demo", company_name="Demo Print", is_demo=True)
    refresh_renderings()
    roles = [
        *(
            Role(user=user, store=associated, grant=grant)
            for grant in ("Store.All.Read", "Order.All.Read", "Order.All.Write")
        ),
        *(Role(application=application, store=associated, grant=grant) for grant in DEFAULT_STORE_GRANTS),
    ]
    Role.objects.bulk_create(roles)
    return World(
        tenant, operator, user, outsider, console, application, other, associated, unassociated, demo
    )


def build_known_world() -> World:
    """A world with the subscription keys that its clients send."""
    world = build_world()
    for subscription in Subscription.objects.all():
        owner = subscription.user_id or subscription.application_id
        world.keys[owner] = subscription_keys(subscription)["primary"]
    return world


def confirm_password(client: Client, password: str = PASSWORD) -> Client:
    """Types the password of the session's user, who may do dangerous things for ten minutes."""
    assert client.post("/profile/keys?reveal", {WAITING: "", "password": password}).status_code == 302
    return client


def sign_in(client: Client, user: User, *how: str) -> Client:
    """A session of a person who typed the password a moment ago; `how` is "sign-in" where it was at one."""
    client.force_login(user)
    session = client.session
    session[SESSION_NAME] = [int(time.time()) + SECONDS, user.get_session_auth_hash(), *how]
    session.save()
    return client


def _application(owner: User, name: str, *reply_urls: str, is_first_party: bool = False) -> Application:
    application = create_application(
        caller=Caller.on_pages(owner), values={"Name": name, "Keys": [{}], "ReplyUrls": list(reply_urls)}
    )
    application.is_first_party = is_first_party
    application.save()
    return application
