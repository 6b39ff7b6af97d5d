from django.conf import settings
from django.db import transaction

from applications.registration.models import Application
from fulfillment.core.db.changes import saved_if_changed

CONSOLE_ID = "api-console"


@transaction.atomic
def ensure_api_console() -> Application:
    """The application through which the API reference calls the API. It has no key and no redirect URI, so its tokens
    are issued by this service alone.
    """
    values = {
        "name": "API console",
        "description": "The interactive reference of this service.",
        "application_url": settings.PUBLIC_URL,
        "client_secret": "",
        "hash_client_secret": False,
        "client_type": Application.CLIENT_PUBLIC,
        "authorization_grant_type": Application.GRANT_AUTHORIZATION_CODE,
        "is_first_party": True,
        "redirect_uris": "",
    }
    applications = Application.objects.select_for_update()
    console, _ = applications.get_or_create(client_id=CONSOLE_ID, defaults=values)
    with saved_if_changed(console):
        for column, value in values.items():
            setattr(console, column, value)
    return console
