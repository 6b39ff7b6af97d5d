"""Personal data in the console's log and in the audit trail."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pghistory.models
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import BooleanField, ExpressionWrapper, Model, Q

from accounts.models import AssociationRequest, Role, Subscription, User
from fulfillment.core.api.serializers import timestamp
from fulfillment.core.audit.erasure import ERASED
from fulfillment.core.audit.events import event_model
from fulfillment.core.audit.personal_data import Record

Changes = event_model(User)


def console_log(user: User) -> Iterator[Record]:
    """Entries about the user in full, and the user's actions without the names of others.

    Entries of other records that only mention the user concern others and are not exported.
    """
    about = _about(user)
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
    known, about = known_as(user), _about(user)
    emails = _any_of({one.email for one in known})
    # As Django's log writes it: JSON in ASCII.
    holders = _any_of({json.dumps(one.username)[1:-1] for one in known})
    mentions = {
        "object_repr": Q(object_repr__iregex=_whole(emails)),
        "change_message": Q(change_message__iregex=_whole(emails))
        | Q(change_message__regex=rf'"object": "[[:alnum:].]+ for ({holders})"'),
    }
    for column, mentioned in mentions.items():
        LogEntry.objects.filter(about | mentioned).update(**{column: ERASED})


def trail(user: User) -> Iterator[Record]:
    """Changes of the user's records, and the client addresses from which the user changed something."""
    for model in apps.get_models():
        if issubclass(model, pghistory.models.Event) and (named := _links(model)):
            yield from _events(model, Q(*((name, user) for name in named), _connector=Q.OR))
    acts = pghistory.models.Context.objects.filter(metadata__user=str(user.pk))
    for act in acts.order_by("created_at").iterator():
        yield {"Timestamp": timestamp(act.created_at), "Address": act.metadata.get("url", "")}


def names_pattern(user: User) -> str:
    """A pattern for PostgreSQL of all names and addresses that the person has had here.

    A first name alone would be found in every text.
    """
    known = known_as(user)
    both = (f"{one.first_name} {one.last_name}" for one in known if one.first_name and one.last_name)
    return _whole(_any_of({*both, *(one.username for one in known), *(one.email for one in known)}))


def known_as(user: User) -> list[Any]:
    """The user as now, and as after each change."""
    return [user, *Changes.objects.filter(pgh_obj_id=user.pk)]


def emails_of(user: User) -> list[str]:
    """Every address the person ever had, in lower case; never an unconfirmed one, which may be another person's."""
    return sorted({one.email.lower() for one in known_as(user) if one.email and one.email != ERASED})


def emails_pattern(user: User) -> str:
    """A regular expression of PostgreSQL for these addresses in a text, but not as the end of longer ones."""
    listed = "|".join(re.escape(email) for email in emails_of(user))
    return rf"(^|[^[:alnum:]._%+-])({listed})($|[^[:alnum:].-]|\.($|[^[:alnum:]]))"


def _any_of(words: set[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words - {""}))


def _whole(listed: str) -> str:
    return rf"(^|[^[:alnum:]])({listed})($|[^[:alnum:]])"


def _about(user: User) -> Q:
    """Of the person's account, roles, subscription and association requests, of then and now."""
    condition = Q(content_type=ContentType.objects.get_for_model(User), object_id=str(user.pk))
    kinds: tuple[Any, ...] = (Role, Subscription, AssociationRequest)
    for model in kinds:
        keys = {
            str(key)
            for key in model.pgh_event_model.objects.filter(user=user).values_list("pgh_obj_id", flat=True)
        }
        condition |= Q(content_type=ContentType.objects.get_for_model(model), object_id__in=keys)
    return condition


def _links(model: type[Model]) -> list[str]:
    return [field.name for field in model._meta.fields if field.related_model is User]


def _events(model: Any, condition: Q) -> Iterator[Record]:
    for event in model.objects.filter(condition).order_by("pgh_id").iterator():
        yield {
            "Timestamp": timestamp(event.pgh_created_at),
            "Kind": event.pgh_label,
            "Record": model.pgh_tracked_model._meta.label,
            "ID": str(event.pgh_obj_id),
        }
