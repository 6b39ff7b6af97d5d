from collections.abc import Iterator

from django.db.models import Q
from oauth2_provider.models import AccessToken

from accounts.callers import Caller
from accounts.models import Role, User
from applications.oauth.services.authorizations import end_everything_of_user, end_tokens_of_application
from applications.registration.models import Application
from applications.registration.services.owners import remove_person
from fulfillment.core.api.serializers import timestamp
from fulfillment.core.audit.personal_data import PersonalData, Record
from fulfillment.core.errors import Conflict

# The number of applications that a refusal lists.
SHOWN = 5


def personal_data() -> list[PersonalData]:
    return [PersonalData("authorizations", _authorizations, lambda user: end_everything_of_user(user=user))]


def hand_over_applications(*, user: User, disable: bool) -> None:
    """Passes each application to another owner; disables one without. Raises Conflict for that, unless `disable`."""
    roles = Role.objects.filter(user=user, application__isnull=False, store__isnull=True)
    owned = Application.objects.filter(Q(user=user) | Q(pk__in=roles.values("application")))
    alone = []
    for application in owned.order_by("pk"):
        others = Role.objects.filter(application=application, store__isnull=True, user__is_active=True)
        if others.exclude(user=user).exists():
            remove_person(caller=Caller(user_id=user.pk), application=application, user_id=user.pk)
        else:
            alone.append(application)
    if alone and not disable:
        raise Conflict(_last_owner_of(alone), code="last_owner")
    for application in alone:
        if application.is_enabled:
            application.is_enabled = False
            application.save(update_fields=["is_enabled", "updated"])
            end_tokens_of_application(application=application)


def _last_owner_of(applications: list[Application]) -> str:
    named = ", ".join(f"{one.name} ({one.pk})" for one in applications[:SHOWN])
    more = f" and {len(applications) - SHOWN} more" if len(applications) > SHOWN else ""
    return f"This is the last owner of {named}{more}; invite another owner first."


def _authorizations(user: User) -> Iterator[Record]:
    for token in AccessToken.objects.filter(user=user).order_by("created"):
        yield {
            "ApplicationID": str(token.application_id),
            "Scope": token.scope,
            "Created": timestamp(token.created),
            "Expires": timestamp(token.expires),
        }
