"""Personal data of this app, for `export_user_data` and `erase_user`."""

from accounts.models import User
from accounts.selectors.users import find_user
from accounts.services.personal_data import personal_data
from fulfillment.core.audit.personal_data import ErasureOptions
from fulfillment.core.errors import Conflict

__all__ = ["begin_erasure", "find_user", "personal_data"]


def begin_erasure(user: User, options: ErasureOptions) -> None:
    others = User.objects.filter(is_operator=True, is_active=True).exclude(pk=user.pk)
    if user.is_operator and not others.exists():
        raise Conflict("This is the last operator; make another one first.", code="last_operator")
