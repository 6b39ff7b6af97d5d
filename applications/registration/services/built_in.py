from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from applications.registration.models import Application

CONSOLE_ID = "api-console"
CONSOLE_RETURN = "/api/v1/docs/oauth2-redirect"


@transaction.atomic
def ensure_api_console() -> Application:
    """The reference's own sign-in: a first-party public client that returns to this service only."""
    console, _ = Application.objects.update_or_create(
        client_id=CONSOLE_ID,
        defaults={
            "name": "API console",
            "description": "The interactive reference of this service.",
            "application_url": settings.PUBLIC_URL,
            "client_secret": "",
            "hash_client_secret": False,
            "client_type": Application.CLIENT_PUBLIC,
            "authorization_grant_type": Application.GRANT_AUTHORIZATION_CODE,
            "is_first_party": True,
            "redirect_uris": " ".join(f"{origin}{CONSOLE_RETURN}" for origin in _own_origins()),
        },
    )
    return console


def _own_origins() -> list[str]:
    """The public address; in development also its other loopback name."""
    origins = [settings.PUBLIC_URL]
    parts = urlsplit(settings.PUBLIC_URL)
    twins = {"127.0.0.1": "localhost", "localhost": "127.0.0.1"}
    if settings.DEVELOPMENT and parts.hostname in twins:
        origins.append(
            parts._replace(netloc=parts.netloc.replace(parts.hostname, twins[parts.hostname])).geturl()
        )
    return origins
