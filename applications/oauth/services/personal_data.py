from collections.abc import Iterator

from oauth2_provider.models import AccessToken

from accounts.models import User
from applications.oauth.services.authorizations import end_everything_of_user
from fulfillment.core.api.serializers import timestamp
from fulfillment.core.audit.personal_data import PersonalData, Record


def personal_data() -> list[PersonalData]:
    return [PersonalData("authorizations", _authorizations, lambda user: end_everything_of_user(user=user))]


def _authorizations(user: User) -> Iterator[Record]:
    for token in AccessToken.objects.filter(user=user).order_by("created"):
        yield {
            "ApplicationID": str(token.application_id),
            "Scope": token.scope,
            "Created": timestamp(token.created),
            "Expires": timestamp(token.expires),
        }
