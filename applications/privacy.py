"""Personal data of this app, for `export_user_data` and `erase_user`."""

from accounts.models import User
from applications.oauth.services import hand_over_applications
from applications.oauth.services import personal_data as authorizations
from applications.registration.services.personal_data import personal_data as registrations
from fulfillment.core.audit.personal_data import ErasureOptions, PersonalData


def personal_data() -> list[PersonalData]:
    return [*registrations(), *authorizations()]


def begin_erasure(user: User, options: ErasureOptions) -> None:
    hand_over_applications(user=user, disable=options.disable_applications)
