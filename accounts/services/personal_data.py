import re
from collections.abc import Iterator
from typing import Any

import pgtrigger
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.db.models import Q
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.models import (
    AssociationRequest,
    Authenticator,
    EmailChange,
    IdempotentAnswer,
    Role,
    Subscription,
    User,
)
from accounts.services.passwords import RESET_TASK
from fulfillment.erasure import ERASED
from fulfillment.personal_data import PersonalData, Record
from fulfillment.serializers import timestamp

PERSONAL_FIELDS = ("username", "first_name", "last_name", "email", "phone")
Changes: Any = User.pgh_event_model  # type: ignore[attr-defined]


def personal_data() -> list[PersonalData]:
    return [
        PersonalData("profile", _profile, _erase_profile),
        PersonalData("profile_changes", _changes, _erase_changes),
        PersonalData("roles", _roles, lambda user: _delete(Role.objects.filter(user=user))),
        PersonalData(
            "subscription", _subscription, lambda user: _delete(Subscription.objects.filter(user=user))
        ),
        PersonalData("association_requests", _requests, _erase_requests),
    ]


def _profile(user: User) -> Iterator[Record]:
    yield {
        "ID": str(user.pk),
        "Tenant": user.tenant.domain,
        "Username": user.username,
        "FirstName": user.first_name,
        "LastName": user.last_name,
        "Email": user.email,
        "Phone": user.phone,
        "TimeZone": user.time_zone,
        "IsOperator": user.is_operator,
        "IsActive": user.is_active,
        "Created": timestamp(user.created),
        "LastSignIn": timestamp(user.last_login) if user.last_login else None,
    }


def _erase_profile(user: User) -> None:
    """The row stays: orders and decisions point at it. It names nobody and opens nothing."""
    _erase_log(user)
    _erase_jobs(user)
    user.username = f"erased-{user.pk.hex}"
    user.email = f"{user.username}@erased.invalid"
    user.first_name = user.last_name = user.phone = ""
    user.time_zone, user.last_login = "UTC", None
    user.is_active = user.is_operator = False
    user.set_unusable_password()
    user.save()
    Authenticator.objects.filter(user=user).delete()
    EmailChange.objects.filter(user=user).delete()
    IdempotentAnswer.objects.filter(user=user).delete()


def _erase_log(user: User) -> None:
    """Of the console, which names people as well where it tells of their roles and subscriptions."""
    about_user = Q(content_type=ContentType.objects.get_for_model(User), object_id=str(user.pk))
    names = "|".join(re.escape(name) for name in _names(user))
    named = rf"(^|[^[:alnum:]])({names})($|[^[:alnum:]])"
    LogEntry.objects.filter(about_user | Q(object_repr__regex=named)).update(object_repr=ERASED)
    LogEntry.objects.filter(about_user | Q(change_message__regex=named)).update(change_message=ERASED)


def _names(user: User) -> set[str]:
    """All by which the person was ever known here; a first name alone would be found in every text."""
    known = [user, *Changes.objects.filter(pgh_obj_id=user.pk)]
    both = (f"{one.first_name} {one.last_name}" for one in known if one.first_name and one.last_name)
    return {*both, *(one.username for one in known), *(one.email for one in known)} - {""}


def _erase_jobs(user: User) -> None:
    """Wishes for a new password that no worker took, or whose mail nobody took."""
    jobs = ProcrastinateJob.objects.filter(
        task_name=RESET_TASK, args__email__iregex=f"^{re.escape(user.email)}$"
    )
    keys = list(jobs.exclude(status="doing").values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_jobs WHERE id = ANY(%s)", [keys])


def _changes(user: User) -> Iterator[Record]:
    for change in Changes.objects.filter(pgh_obj_id=user.pk).order_by("pgh_id"):
        yield {
            "Timestamp": timestamp(change.pgh_created_at),
            "Kind": change.pgh_label,
            **{name: getattr(change, name) for name in PERSONAL_FIELDS},
        }


def _erase_changes(user: User) -> None:
    """The one hole in the trail: that something changed and when stays, the words go."""
    with pgtrigger.ignore("accounts.UserEvent:append_only"):
        Changes.objects.filter(pgh_obj_id=user.pk).update(**dict.fromkeys(PERSONAL_FIELDS, ERASED))


def _roles(user: User) -> Iterator[Record]:
    for role in Role.objects.filter(user=user).order_by("pk"):
        yield {
            "Grant": role.grant,
            "ApplicationID": str(role.application_id) if role.application_id else None,
            "Store": role.store_id,
            "Created": timestamp(role.created),
        }


def _subscription(user: User) -> Iterator[Record]:
    for subscription in Subscription.objects.filter(user=user):
        yield {
            "RequestsPerMinute": subscription.requests_per_minute,
            "Created": timestamp(subscription.created),
            "KeysRegenerated": [timestamp(key.regenerated) for key in subscription.keys.order_by("slot")],
        }


def _requests(user: User) -> Iterator[Record]:
    for request in AssociationRequest.objects.filter(Q(requested_by=user) | Q(user=user)).order_by("created"):
        yield {
            "ID": str(request.pk),
            "ApplicationID": str(request.application_id),
            "State": request.state,
            "Message": request.message,
            "Created": timestamp(request.created),
        }


def _erase_requests(user: User) -> None:
    requests = AssociationRequest.objects.filter(requested_by=user).exclude(message="")
    keys = list(requests.values_list("pk", flat=True))
    requests.update(message=ERASED)
    events: Any = AssociationRequest.pgh_event_model  # type: ignore[attr-defined]
    with pgtrigger.ignore("accounts.AssociationRequestEvent:append_only"):
        events.objects.filter(pgh_obj_id__in=keys).update(message=ERASED)


def _delete(rows: Any) -> None:
    rows.delete()
