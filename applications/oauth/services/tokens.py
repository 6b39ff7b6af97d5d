from collections.abc import Iterable
from datetime import timedelta

from django.utils import timezone
from oauth2_provider.models import AccessToken, set_token_value

from accounts.models import User
from applications.oauth.tokens import generate_access_token
from applications.registration.models import Application


def issue_access_token(
    *, user: User | None, application: Application, scopes: Iterable[str], lifetime: timedelta
) -> str:
    """Issues a token without a sign-in, for the demo and tests; without a user it is the application's own."""
    value = generate_access_token(None)
    token = AccessToken(
        user=user, application=application, scope=" ".join(scopes), expires=timezone.now() + lifetime
    )
    set_token_value(token, value)
    token.save()
    return value
