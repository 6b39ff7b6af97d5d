"""The secrets of an application. Every change locks the application first, so that two never cross."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from applications.registration.models import Application, ApplicationKey
from fulfillment.core.errors import Conflict, Fault, Invalid, NotFound, raise_faults
from fulfillment.core.secrets import digest, encrypt, generate_secret

MAX_KEYS = 10
LIFETIME = timedelta(days=365)


@transaction.atomic
def add_key(
    *,
    application: Application,
    start_date: datetime | None = None,
    end_date: datetime | None = None,
    pointer: str = "",
    value: str | None = None,
) -> ApplicationKey:
    """A new key, by default valid from now for a year; the application becomes a confidential client."""
    lock_application(application)
    _make_room(application, pointer)
    start = start_date or timezone.now()
    key = _new_key(application, start, end_date or _default_end(start, pointer), pointer, value)
    if application.client_type != Application.CLIENT_CONFIDENTIAL:
        application.client_type = Application.CLIENT_CONFIDENTIAL
        application.save(update_fields=["client_type", "updated"])
    return key


@transaction.atomic
def change_key_dates(
    *,
    application: Application,
    key_id: Any,
    start_date: datetime | None = None,
    end_date: datetime | None = None,
    pointer: str = "",
) -> ApplicationKey:
    """None keeps a date."""
    lock_application(application)
    key = get_key(application, key_id)
    key.start_date, key.end_date = start_date or key.start_date, end_date or key.end_date
    _check_dates(key.start_date, key.end_date, pointer)
    key.save(update_fields=["start_date", "end_date"])
    return key


@transaction.atomic
def regenerate_key(*, application: Application, key_id: Any) -> ApplicationKey:
    """Replaces the key by a new one with the same dates; at commit the old secret is dead.

    A key that has ended cannot be brought back to life this way (409).
    """
    lock_application(application)
    old = get_key(application, key_id)
    if old.end_date <= timezone.now():
        raise Conflict(_("The key has ended; add a new key instead."), code="key_ended")
    start, end = old.start_date, old.end_date
    old.delete()
    return _new_key(application, start, end, "")


@transaction.atomic
def end_key(*, application: Application, key_id: Any) -> ApplicationKey:
    """Ends a key now. A future key gets no earlier start, and an ended one keeps its end."""
    lock_application(application)
    key = get_key(application, key_id)
    now = timezone.now()
    if key.start_date >= now:
        raise Conflict(_("The key is not valid yet. Change its dates instead."), code="key_not_begun")
    if key.end_date > now:
        key.end_date = now
        key.save(update_fields=["end_date"])
    return key


def _make_room(application: Application, pointer: str) -> None:
    """Deletes the key that ended first where there are as many as may be: to replace a key takes no place for ever."""
    if application.keys.count() < MAX_KEYS:
        return
    if ended := application.keys.filter(end_date__lte=timezone.now()).order_by("end_date").first():
        ended.delete()
        return
    raise Invalid.at(
        pointer,
        "too_many_keys",
        _("An application has at most %(max_keys)s keys.") % {"max_keys": MAX_KEYS},
    )


def get_key(application: Application, key_id: Any) -> ApplicationKey:
    try:
        return application.keys.get(pk=UUID(str(key_id)))
    except (ValueError, ApplicationKey.DoesNotExist) as error:
        raise NotFound(_("The application has no key with this ID."), code="key_not_found") from error


def lock_application(application: Application) -> None:
    Application.objects.select_for_update(of=("self",)).only("pk").get(pk=application.pk)


def _default_end(start: datetime, pointer: str) -> datetime:
    try:
        return start + LIFETIME
    except OverflowError as error:
        raise Invalid.at(
            f"{pointer}/StartDate", "start_too_late", _("StartDate is too late for a key.")
        ) from error


def _new_key(
    application: Application, start: datetime, end: datetime, pointer: str, value: str | None = None
) -> ApplicationKey:
    _check_dates(start, end, pointer)
    secret = value or generate_secret("sfk_")
    return ApplicationKey.objects.create(
        application=application,
        start_date=start,
        end_date=end,
        digest=digest(secret),
        ciphertext=encrypt(secret),
    )


def date_faults(start: datetime | None, end: datetime | None, pointer: str) -> list[Fault]:
    if start is None or end is None or start < end:
        return []
    return [Fault(f"{pointer}/EndDate", "end_before_start", _("EndDate must be after StartDate."))]


def _check_dates(start: datetime, end: datetime, pointer: str) -> None:
    raise_faults(date_faults(start, end, pointer))
