from django.db.models import Value
from django.db.models.functions import Lower

from accounts.models import User


def user_of_confirmed_email(address: str) -> User | None:
    """The active user who confirmed this address; None if several users did, because it identifies none of them."""
    users = User.objects.alias(lower=Lower("email")).filter(
        lower=Lower(Value(address)), email_confirmed__isnull=False, is_active=True
    )
    found = list(users.select_related("tenant")[:2])
    return found[0] if len(found) == 1 else None


def is_address_of_another(address: str, *, than: User) -> bool:
    """Whether another user confirmed the address and this one did not; several accounts may share a mailbox."""
    own = than.email_confirmed is not None and than.email.lower() == address.lower()
    users = User.objects.alias(lower=Lower("email")).filter(
        lower=Lower(Value(address)), email_confirmed__isnull=False
    )
    return not own and users.exclude(pk=than.pk).exists()
