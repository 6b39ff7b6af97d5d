from django.conf import settings
from django.db import transaction

from applications.registration.models import Application

CONSOLE_ID = "api-console"


@transaction.atomic
def ensure_api_console() -> Application:
    """The application through which the API reference calls the API. It has no key and no redirect URI, so its tokens
    are issued by this service alone.
    """
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
            "redirect_uris": "",
        },
    )
    return console
