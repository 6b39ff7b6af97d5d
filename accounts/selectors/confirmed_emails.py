from django.db.models import Value
from django.db.models.functions import Lower

from accounts.models import User


def user_of_confirmed_email(address: str) -> User | None:
    """The one active user who confirmed this address; None where several did, for then it names no one of them."""
    users = User.objects.alias(lower=Lower("email")).filter(
        lower=Lower(Value(address)), email_confirmed__isnull=False, is_active=True
    )
    found = list(users.select_related("tenant")[:2])
    return found[0] if len(found) == 1 else None
