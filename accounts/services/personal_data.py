"""Personal data of this app: exported for a user and erased, also in the log of the console and the audit trail."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pghistory.models
import pgtrigger
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.db.models import BooleanField, ExpressionWrapper, Model, Q, QuerySet

from accounts.models import (
    AssociationRequest,
    Authenticator,
    EmailChange,
    IdempotentResponse,
    Notification,
    NotificationPreference,
    Role,
    Subscription,
    User,
)
from accounts.services.idempotency import delete_responses_about
from fulfillment.core.audit.events import event_model
from fulfillment.core.audit.personal_data import ERASED, PersonalData
from fulfillment.core.text import JsonObject, timestamp

Changes = event_model(User)
PERSONAL_FIELDS = ("username", "first_name", "last_name", "email", "phone")
JOBS_ABOUT = """
DELETE FROM procrastinate_jobs WHERE status <> 'doing' AND EXISTS (
  SELECT FROM jsonb_path_query(args, 'strict $.**') AS value
  WHERE jsonb_typeof(value) = 'string' AND value #>> '{}' ~* %s)
"""


def console_log(user: User) -> Iterator[JsonObject]:
    """Entries about the user in full, and the user's actions without the names of others.

    Entries of other records that only mention the user concern others and are not exported.
    """
    about = _select_log_entries(user)
    entries = LogEntry.objects.filter(about | Q(user=user)).select_related("content_type")
    marked = entries.annotate(is_about=ExpressionWrapper(about, BooleanField()))
    for entry in marked.order_by("action_time").iterator():
        yield {
            "Timestamp": timestamp(entry.action_time),
            "Action": entry.get_action_flag_display(),
            "Kind": entry.content_type.model if entry.content_type else "",
            "ID": entry.object_id,
            "Object": entry.object_repr if entry.is_about else None,
            "Change": entry.get_change_message() if entry.is_about else None,
            "ByThisPerson": entry.user_id == user.pk,
        }


def erase_console_log(user: User) -> None:
    """Erases entries about the user, and entries with an e-mail address of the user or a role of that name.

    A name alone is no criterion: for a user named "changed" it would erase the whole log.
    """
    about, emails = _select_log_entries(user), set(user_emails(user))
    # As Django's log writes it: JSON in ASCII.
    holders = _any_of({json.dumps(person.username)[1:-1] for person in user_versions(user)})
    # As a role and a member of a cost center are called, and as a role was called before.
    called = rf'(({holders})(: | in )|[[:alnum:].]+ for ({holders})")'
    of_role = Q(change_message__regex=rf'"object": "{called}')
    for column, condition in {"object_repr": about, "change_message": about | of_role}.items():
        if emails:
            condition |= Q(**{f"{column}__iregex": _match_whole_words(_any_of(emails))})
        LogEntry.objects.filter(condition).update(**{column: ERASED})


def audit_trail(user: User) -> Iterator[JsonObject]:
    """Changes of the user's records, and the client addresses from which the user changed something."""
    for model in apps.get_models():
        if issubclass(model, pghistory.models.Event) and (user_fields := _find_user_fields(model)):
            yield from _read_events(model, Q(*((name, user) for name in user_fields), _connector=Q.OR))
    acts = pghistory.models.Context.objects.filter(metadata__user=str(user.pk))
    for act in acts.order_by("created_at").iterator():
        yield {"Timestamp": timestamp(act.created_at), "Address": act.metadata.get("url", "")}


def names_pattern(user: User) -> str:
    """A pattern for PostgreSQL of all names and addresses that the person has had here.

    A first name alone would be found in every text.
    """
    versions = user_versions(user)
    both = (
        f"{person.first_name} {person.last_name}"
        for person in versions
        if person.first_name and person.last_name
    )
    return _match_whole_words(
        _any_of({*both, *(person.username for person in versions), *(person.email for person in versions)})
    )


def user_versions(user: User) -> list[Any]:
    """The user as now, and as after each change."""
    return [user, *Changes.objects.filter(pgh_obj_id=user.pk)]


def user_emails(user: User) -> list[str]:
    """Every address the person ever had, in lower case; never an unconfirmed one, which may be another person's."""
    confirmed = (person for person in user_versions(user) if person.email_confirmed is not None)
    return sorted({person.email.lower() for person in confirmed if person.email and person.email != ERASED})


def emails_pattern(emails: Sequence[str]) -> str:
    """A regular expression of PostgreSQL for these addresses in a text, but not as the end of longer ones."""
    listed = "|".join(re.escape(email) for email in emails)
    return rf"(^|[^[:alnum:]._%+-])({listed})($|[^[:alnum:].-]|\.($|[^[:alnum:]]))"


def _any_of(words: set[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words - {""}))


def _match_whole_words(listed: str) -> str:
    return rf"(^|[^[:alnum:]])({listed})($|[^[:alnum:]])"


def _select_log_entries(user: User) -> Q:
    """Selects log entries on the person's account, roles, subscription and association requests, past and present."""
    condition = Q(content_type=ContentType.objects.get_for_model(User), object_id=str(user.pk))
    kinds: tuple[Any, ...] = (Role, Subscription, AssociationRequest)
    for model in kinds:
        keys = {
            str(key)
            for key in model.pgh_event_model.objects.filter(user=user).values_list("pgh_obj_id", flat=True)
        }
        condition |= Q(content_type=ContentType.objects.get_for_model(model), object_id__in=keys)
    return condition


def _find_user_fields(model: type[Model]) -> list[str]:
    return [field.name for field in model._meta.fields if field.related_model is User]


def _read_events(model: Any, condition: Q) -> Iterator[JsonObject]:
    for event in model.objects.filter(condition).order_by("pgh_id").iterator():
        yield {
            "Timestamp": timestamp(event.pgh_created_at),
            "Kind": event.pgh_label,
            "Record": model.pgh_tracked_model._meta.label,
            "ID": str(event.pgh_obj_id),
        }


def personal_data() -> list[PersonalData]:
    return [
        PersonalData("roles", _read_roles, lambda user: Role.objects.filter(user=user).delete()),
        PersonalData(
            "subscription", _read_subscription, lambda user: Subscription.objects.filter(user=user).delete()
        ),
        PersonalData("association_requests", _read_requests, _erase_requests),
        PersonalData("email_changes", _read_email_changes),
        PersonalData("kept_responses", _read_stored_responses),
        PersonalData("notifications", _read_notifications, _erase_notifications),
        PersonalData("console_log", console_log),
        PersonalData("trail", audit_trail),
        # Last, because the other steps search for the names that it erases.
        PersonalData("profile", _read_profile, _erase_profile),
        PersonalData("profile_changes", _read_changes, _erase_changes),
    ]


def _read_profile(user: User) -> Iterator[JsonObject]:
    yield {
        "ID": str(user.pk),
        "Tenant": user.tenant.domain,
        "Username": user.username,
        "FirstName": user.first_name,
        "LastName": user.last_name,
        "Email": user.email,
        "EmailConfirmed": timestamp(user.email_confirmed) if user.email_confirmed else None,
        "MadeByUserID": str(user.counted_on_id) if user.counted_on_id else None,
        "Phone": user.phone,
        "TimeZone": user.time_zone,
        "Language": user.language,
        "IsOperator": user.is_operator,
        "IsActive": user.is_active,
        "TwoStepSignInSince": timestamp(user.two_factor_since) if user.two_factor_since else None,
        "Created": timestamp(user.created),
        "LastSignIn": timestamp(user.last_login) if user.last_login else None,
    }


def _erase_profile(user: User) -> None:
    """Keeps the row, because orders and decisions refer to it, without personal data or access."""
    erase_console_log(user)
    _erase_jobs(user)
    user.username = f"erased-{user.pk.hex}"
    user.email = f"{user.username}@erased.invalid"
    user.first_name = user.last_name = user.phone = ""
    user.time_zone, user.language, user.last_login = "UTC", "", None
    user.email_confirmed = user.counted_on = None
    user.is_active = user.is_operator = False
    user.set_unusable_password()
    user.save()
    Authenticator.objects.filter(user=user).delete()
    EmailChange.objects.filter(user=user).delete()
    IdempotentResponse.objects.filter(user=user).delete()
    # Another user may have created the account by the API.
    delete_responses_about(record_id=str(user.pk), created=user.created)


def _erase_jobs(user: User) -> None:
    """Deletes jobs with a current or former address of the user in an argument or in the text of a mail."""
    if not (emails := user_emails(user)):
        return
    with connection.cursor() as cursor:
        cursor.execute(JOBS_ABOUT, [emails_pattern(emails)])


def _read_changes(user: User) -> Iterator[JsonObject]:
    for change in Changes.objects.filter(pgh_obj_id=user.pk).order_by("pgh_id"):
        yield {
            "Timestamp": timestamp(change.pgh_created_at),
            "Kind": change.pgh_label,
            **{name: getattr(change, name) for name in PERSONAL_FIELDS},
        }


def _erase_changes(user: User) -> None:
    """Erases texts in the audit trail; that and when something changed stays."""
    with pgtrigger.ignore("accounts.UserEvent:append_only"):
        Changes.objects.filter(pgh_obj_id=user.pk).update(**dict.fromkeys(PERSONAL_FIELDS, ERASED))


def _read_roles(user: User) -> Iterator[JsonObject]:
    for role in Role.objects.filter(user=user).order_by("pk"):
        yield {
            "Grant": role.grant,
            "ApplicationID": str(role.application_id) if role.application_id else None,
            "Store": role.store_id,
            "Created": timestamp(role.created),
        }


def _read_subscription(user: User) -> Iterator[JsonObject]:
    for subscription in Subscription.objects.filter(user=user):
        yield {
            "RequestsPerMinute": subscription.requests_per_minute,
            "Created": timestamp(subscription.created),
            "KeysRegenerated": [timestamp(key.regenerated) for key in subscription.keys.order_by("slot")],
        }


def _read_requests(user: User) -> Iterator[JsonObject]:
    of_user = Q(requested_by=user) | Q(user=user)
    for request in AssociationRequest.objects.filter(of_user | Q(decided_by=user)).order_by("created"):
        yield {
            "ID": str(request.pk),
            "ApplicationID": str(request.application_id),
            "State": request.state,
            # The message of a request that this user only decided belongs to its author.
            "Message": request.message if user.pk in {request.requested_by_id, request.user_id} else None,
            "Note": request.note,
            "Created": timestamp(request.created),
            "DecidedByThisPerson": request.decided_by_id == user.pk,
        }


def _erase_requests(user: User) -> None:
    """Erases messages of the user's requests, and notes of decisions that name the user."""
    requests = AssociationRequest.objects.filter(Q(requested_by=user) | Q(user=user))
    _erase_words("message", AssociationRequest.objects.filter(requested_by=user))
    _erase_words("note", requests)
    decided = AssociationRequest.objects.filter(decided_by=user, note__iregex=names_pattern(user))
    _erase_words("note", decided)


def _erase_words(column: str, requests: QuerySet[AssociationRequest]) -> None:
    keys = list(requests.exclude(**{column: ""}).values_list("pk", flat=True))
    AssociationRequest.objects.filter(pk__in=keys).update(**{column: ERASED})
    events = event_model(AssociationRequest)
    with pgtrigger.ignore("accounts.AssociationRequestEvent:append_only"):
        events.objects.filter(pgh_obj_id__in=keys).exclude(**{column: ""}).update(**{column: ERASED})


def _read_email_changes(user: User) -> Iterator[JsonObject]:
    for change in EmailChange.objects.filter(user=user):
        yield {
            "Email": change.email,
            "Requested": timestamp(change.requested),
            "Expires": timestamp(change.expires),
        }


def _read_stored_responses(user: User) -> Iterator[JsonObject]:
    """Stored for a day for repeated requests; their content is in the exported records."""
    for response in IdempotentResponse.objects.filter(user=user).order_by("created"):
        yield {"Status": response.status, "Created": timestamp(response.created)}


def _read_notifications(user: User) -> Iterator[JsonObject]:
    for notification in Notification.objects.filter(user=user).order_by("pk").iterator(chunk_size=500):
        yield {
            "Kind": notification.kind,
            "Title": notification.title,
            "Text": notification.text,
            "Created": timestamp(notification.created),
        }


def _erase_notifications(user: User) -> None:
    Notification.objects.filter(user=user).delete()
    NotificationPreference.objects.filter(user=user).delete()
