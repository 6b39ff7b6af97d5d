from datetime import timedelta

from django.core import signing
from django.db.models import Value
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import EmailChange, User
from fulfillment.core.errors import NotFound
from fulfillment.core.secrets import digests

CONFIRMATION_SALT = "accounts.email-confirmation"
CONFIRMATION_LIFETIME = timedelta(days=7)


def find_user_by_confirmed_email(address: str) -> User | None:
    """The active user who confirmed this address; None if several users did, because it identifies none of them."""
    users = User.objects.alias(lower=Lower("email")).filter(
        lower=Lower(Value(address)), email_confirmed__isnull=False, is_active=True
    )
    matches = list(users.select_related("tenant")[:2])
    return matches[0] if len(matches) == 1 else None


def is_confirmed_by_another(address: str, *, than: User) -> bool:
    """Whether another user confirmed the address and this one did not; several accounts may share a mailbox."""
    own = than.email_confirmed is not None and than.email.lower() == address.lower()
    users = User.objects.alias(lower=Lower("email")).filter(
        lower=Lower(Value(address)), email_confirmed__isnull=False
    )
    return not own and users.exclude(pk=than.pk).exists()


def pending_email_change(user: User) -> EmailChange | None:
    change = EmailChange.objects.filter(user=user, expires__gt=timezone.now()).first()
    return change if change and change.password_digest in digests(user.password) else None


def get_email_change(token: str, *, lock: bool = False) -> EmailChange:
    """The change that this token confirms; raises NotFound when it was used, cancelled, replaced or is too old."""
    changes = EmailChange.objects.select_related("user__tenant").filter(
        digest__in=digests(token), expires__gt=timezone.now(), user__is_active=True
    )
    change = (changes.select_for_update(of=("self", "user")) if lock else changes).first()
    if change is None or change.password_digest not in digests(change.user.password):
        raise NotFound(_("This link no longer works."), code="link_expired")
    return change


def get_user_by_confirmation(token: str, *, lock: bool = False) -> User:
    """The user whose present address this link confirms; raises NotFound for any other link."""
    users = User.objects.select_related("tenant").filter(is_active=True)
    if lock:
        users = users.select_for_update(of=("self",))
    try:
        user_id, email = signing.loads(token, salt=CONFIRMATION_SALT, max_age=CONFIRMATION_LIFETIME)
        return users.get(pk=user_id, email=email)
    except (signing.BadSignature, User.DoesNotExist) as error:
        raise NotFound(_("This link no longer works."), code="link_expired") from error
