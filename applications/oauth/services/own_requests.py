"""Credentials for one API request on behalf of a signed-in user; they never leave this process."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256

from oauth2_provider.models import AccessToken

from accounts.models import Subscription, User
from accounts.permissions import DEFAULT_SCOPES, Permission
from accounts.selectors.users import subscription_keys
from applications.oauth.services.tokens import issue_access_token
from applications.registration.models import Application
from applications.registration.services.built_in import ensure_api_console

LIFETIME = timedelta(minutes=2)


@contextmanager
def credentials_for_one_request(
    *, user: User, application: Application | None, scopes: Iterable[str]
) -> Iterator[dict[str, str]]:
    """The two headers, as the application on its own, or without one as the user through the reference itself.

    The token ends with the block; should the process die within it, two minutes later.
    """
    requested = {*DEFAULT_SCOPES, *scopes}
    if application is not None or not user.is_operator:
        requested.discard(Permission.OPERATOR)
    token = issue_access_token(
        user=None if application else user,
        application=application or ensure_api_console(),
        scopes=sorted(requested),
        lifetime=LIFETIME,
    )
    headers = {"Authorization": f"Bearer {token}"}
    owned = {"application": application} if application else {"user": user}
    if subscription := Subscription.objects.filter(**owned).first():
        headers["Ocp-Apim-Subscription-Key"] = subscription_keys(subscription).get("primary", "")
    try:
        yield headers
    finally:
        AccessToken.objects.filter(token_checksum=sha256(token.encode()).hexdigest()).delete()
