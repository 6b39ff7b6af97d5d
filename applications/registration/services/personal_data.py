"""What owners left in applications, invitations and logs: its export, its erasure, and how long it stays."""

from collections.abc import Iterator
from datetime import timedelta

import pgtrigger
from django.conf import settings
from django.db.models import Q, QuerySet
from django.db.models.functions import Lower
from django.utils import timezone

from accounts.models import Role, User
from accounts.services.personal_data import user_emails, user_versions
from applications.registration.models import Application, DailyUsage, LoggedRequest, OwnerInvitation
from fulfillment.core.audit.events import event_model
from fulfillment.core.audit.personal_data import ERASED, PersonalData
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows
from fulfillment.core.text import JsonObject, timestamp

# Applications without another owner.
SHOWN = 5
# An invitation contains an e-mail address.
INVITATION_RETENTION = timedelta(days=30)
USAGE_RETENTION = timedelta(days=400)


def personal_data() -> list[PersonalData]:
    return [
        PersonalData("applications", _read_applications, _erase_contacts),
        PersonalData("owner_invitations", _read_invitations, _erase_invitations),
        PersonalData("logged_requests", _read_requests, _erase_requests),
    ]


def _read_applications(user: User) -> Iterator[JsonObject]:
    for application in Application.objects.filter(user=user).order_by("created"):
        yield {
            "ID": str(application.pk),
            "Name": application.name,
            "Description": application.description,
            "ApplicationURL": application.application_url,
            "SupportURL": application.support_url,
            "SupportPhone": application.support_phone,
            "SupportEmail": application.support_email,
            "Created": timestamp(application.created),
        }


def _erase_contacts(user: User) -> None:
    """Erases support contacts that equal a current or former address or phone number of the user.

    Unconfirmed addresses and phone numbers count only in applications that the user owns or owned.
    """
    versions = user_versions(user)
    claimed = Q(lower_email__in=[person.email.lower() for person in versions if person.email])
    phones = [person.phone for person in versions if person.phone]
    own = event_model(Role).objects.filter(user=user, application__isnull=False).values("application")
    events = event_model(Application)
    for column, condition in (
        ("support_email", Q(lower_email__in=user_emails(user)) | (claimed & Q(id__in=own))),
        ("support_phone", Q(support_phone__in=phones, id__in=own)),
    ):
        for application in Application.objects.annotate(lower_email=Lower("support_email")).filter(condition):
            setattr(application, column, "")
            application.save(update_fields=[column, "updated"])
        with pgtrigger.ignore("applications.ApplicationEvent:append_only"):
            naming = events.objects.annotate(lower_email=Lower("support_email")).filter(condition)
            naming.update(**{column: ERASED})


def _read_invitations(user: User) -> Iterator[JsonObject]:
    emails = user_emails(user)
    of_user = Q(lower_email__in=emails) | Q(invited_by=user) | Q(decided_by=user)
    invitations = OwnerInvitation.objects.annotate(lower_email=Lower("email")).filter(of_user)
    for invitation in invitations.order_by("sent"):
        yield {
            "ApplicationID": str(invitation.application_id),
            "Email": invitation.email if invitation.email.lower() in emails else None,
            "State": invitation.state,
            "Sent": timestamp(invitation.sent),
        }


def _erase_invitations(user: User) -> None:
    """Deletes invitations to current and former addresses; runs before the user's address is erased."""
    of_user = Q(lower_email__in=user_emails(user))
    OwnerInvitation.objects.annotate(lower_email=Lower("email")).filter(of_user).delete()
    events = event_model(OwnerInvitation)
    with pgtrigger.ignore("applications.OwnerInvitationEvent:append_only"):
        events.objects.annotate(lower_email=Lower("email")).filter(of_user).update(email=ERASED)


def _read_requests(user: User) -> Iterator[JsonObject]:
    """Calls that applications made on behalf of the user."""
    for call in LoggedRequest.objects.filter(user=user).order_by("time").iterator(chunk_size=2000):
        yield {
            "ApplicationID": str(call.application_id),
            "Time": timestamp(call.time),
            "Method": call.method,
            "Path": call.path,
            "Status": call.status,
            "UserAgent": call.headers.get("request", {}).get("User-Agent"),
        }


def _erase_requests(user: User) -> None:
    LoggedRequest.objects.filter(user=user).delete()


def retention_rules() -> list[RetentionRule]:
    return [
        rule_for_rows(
            "owner invitations",
            lambda: OwnerInvitation.objects.filter(expires__lte=timezone.now() - INVITATION_RETENTION),
        ),
        RetentionRule("usage counts", lambda: _old_usage().count(), _remove_usage),
        RetentionRule("logged requests", lambda: _old_requests().count(), _remove_requests),
    ]


def _old_usage() -> QuerySet[DailyUsage]:
    return DailyUsage.objects.filter(day__lt=(timezone.now() - USAGE_RETENTION).date())


def _remove_usage(batch: int) -> Iterator[int]:
    """Deletes day by day; a day has at most one row for each application."""
    for day in _old_usage().order_by("day").values_list("day", flat=True).distinct():
        yield DailyUsage.objects.filter(day=day).delete()[0]


def _old_requests() -> QuerySet[LoggedRequest]:
    return LoggedRequest.objects.filter(time__lt=timezone.now() - timedelta(days=settings.REQUEST_LOG_DAYS))


def _remove_requests(batch: int) -> Iterator[int]:
    """Removes requests in the order in which they were written, so that no index of times is needed.

    A batch without an old one ends it. Processes write some seconds apart at most.
    """
    while True:
        oldest = LoggedRequest.objects.order_by("pk").values_list("pk", flat=True)[:batch]
        removed = _old_requests().filter(pk__in=list(oldest)).delete()[0]
        if not removed:
            return
        yield removed
