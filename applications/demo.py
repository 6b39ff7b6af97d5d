"""The application of the demo, and the tokens of its people."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings

from accounts.callers import Caller
from accounts.demo import OPERATOR, OUTSIDER, USER, DemoPerson, set_subscription_key
from accounts.models import User
from accounts.permissions import Permission
from applications.oauth.services import issue_access_token
from applications.registration.models import Application, ApplicationKey
from applications.registration.services.applications import (
    create_application,
    ensure_api_console,
    ensure_command_line,
)
from applications.registration.services.keys import MAX_KEYS, add_key
from fulfillment.core.plugins import DemoRun
from fulfillment.core.secrets import digests

TOKEN_LIFETIME = timedelta(hours=24)
EVERYDAY_SCOPES = tuple(name for name in Permission.values if name != Permission.OPERATOR)
APPLICATION_ID = "demo-application"
APPLICATION_KEY = "sfk_demo_application_key"
APPLICATION_SUBSCRIPTION_KEY = "sfs_demo_application_primary"
REPLY_URL = "http://127.0.0.1:9099/callback"


def load_demo(run: DemoRun) -> None:
    # A development machine runs no `prepare`.
    ensure_command_line()
    if not Application.objects.filter(client_id=APPLICATION_ID).exists():
        reset_demo(run)


def reset_demo(run: DemoRun) -> None:
    run.application = ensure_application(run.people[USER.username])


def demo_record(run: DemoRun) -> dict[str, Any]:
    console = ensure_api_console()
    return {
        "oauth": {
            "metadata_url": f"{settings.PUBLIC_URL}/.well-known/oauth-authorization-server",
            "authorize_url": f"{settings.PUBLIC_URL}/oauth/authorize",
            "token_url": f"{settings.PUBLIC_URL}/oauth/token",
            "revoke_url": f"{settings.PUBLIC_URL}/oauth/revoke",
        },
        **{
            role: _person_record(person, run.people[person.username], console)
            for role, person in (("operator", OPERATOR), ("user", USER), ("outsider", OUTSIDER))
        },
        "application": _application_record(run.application),
    }


def issue_demo_token(user: User) -> str:
    """A token for manual calls, through the first-party application of the API reference."""
    return _issue_token(user, ensure_api_console(), EVERYDAY_SCOPES)


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
    Application.objects.filter(pk=application.pk).update(
        is_enabled=True, is_blocked=False, redirect_uris=REPLY_URL
    )
    _ensure_key(application)
    set_subscription_key(application.subscription, APPLICATION_SUBSCRIPTION_KEY)
    application.refresh_from_db()
    return application


def _ensure_key(application: Application) -> None:
    if application.keys.filter(digest__in=digests(APPLICATION_KEY)).exists():
        return
    for surplus in application.keys.order_by("created")[: max(0, application.keys.count() + 1 - MAX_KEYS)]:
        surplus.delete()
    add_key(application=application, value=APPLICATION_KEY)


def _person_record(person: DemoPerson, user: User, console: Application) -> dict[str, str]:
    scopes: Sequence[str] = Permission.values if person.is_operator else EVERYDAY_SCOPES
    return {
        "id": str(user.pk),
        "username": person.username,
        "password": person.password,
        "subscription_key": person.subscription_key,
        "access_token": _issue_token(user, console, scopes),
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
        "access_token": _issue_token(None, application, EVERYDAY_SCOPES),
    }


def _issue_token(user: User | None, application: Application, scopes: Sequence[str]) -> str:
    return issue_access_token(user=user, application=application, scopes=scopes, lifetime=TOKEN_LIFETIME)
