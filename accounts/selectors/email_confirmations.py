from datetime import timedelta

from django.core import signing

from accounts.models import User
from fulfillment.core.errors import NotFound

SALT = "accounts.email-confirmation"
LIFETIME = timedelta(days=7)


def user_of_confirmation(token: str, *, lock: bool = False) -> User:
    """The user whose present address this link confirms; raises NotFound for any other link."""
    users = User.objects.select_related("tenant").filter(is_active=True)
    if lock:
        users = users.select_for_update(of=("self",))
    try:
        user_id, email = signing.loads(token, salt=SALT, max_age=LIFETIME)
        return users.get(pk=user_id, email=email)
    except (signing.BadSignature, User.DoesNotExist) as error:
        raise NotFound("This link no longer works.", code="link_expired") from error
