from django.utils import timezone

from accounts.models import EmailChange, User
from fulfillment.core.errors import NotFound
from fulfillment.core.secrets import digests


def pending_email_change(user: User) -> EmailChange | None:
    change = EmailChange.objects.filter(user=user, expires__gt=timezone.now()).first()
    return change if change and change.password_digest in digests(user.password) else None


def email_change_of(token: str, *, lock: bool = False) -> EmailChange:
    """The change that this token confirms; raises NotFound when it was used, cancelled, replaced or is too old."""
    changes = EmailChange.objects.select_related("user__tenant").filter(
        digest__in=digests(token), expires__gt=timezone.now(), user__is_active=True
    )
    change = (changes.select_for_update(of=("self", "user")) if lock else changes).first()
    if change is None or change.password_digest not in digests(change.user.password):
        raise NotFound("This link no longer works.", code="link_expired")
    return change
