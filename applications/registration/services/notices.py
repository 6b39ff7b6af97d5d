"""Notifications of the owners of an application."""

import math
import threading
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.mail import send_text
from accounts.models import AssociationRequest, AssociationState, NotificationKind, User
from accounts.permissions import WRITE_GRANTS, Permission
from accounts.services.notifications import Words, notify
from applications.registration.models import Application, ApplicationKey
from applications.registration.selectors.owners import owner_ids

MAIL_TASK = "applications.send_mail"
DAYS_BEFORE_END = (1, 7, 30)
QUOTA_SHARE = 0.8

_near: set[tuple[str, UUID, int]] = set()
_lock = threading.Lock()


def send_mail_to_owners(*, application_id: str, subject: str, text: str) -> None:
    """Sends what release 0.1.0 queued. One mail for each, so that recipients do not see one another."""
    application = Application.objects.filter(pk=application_id).first()
    for address in owner_addresses(application) if application else ():
        send_text(subject, text, address)


def owner_addresses(application: Application) -> list[str]:
    """Confirmed ones only: an account may have been created with another person's address."""
    people = User.objects.filter(
        Q(pk=application.user_id)
        | Q(roles__application=application, roles__store__isnull=True, roles__grant__in=WRITE_GRANTS),
        is_active=True,
        email_confirmed__isnull=False,
    ).exclude(email="")
    return sorted(set(people.values_list("email", flat=True)))


def notify_owners(
    *,
    application: Application,
    kind: NotificationKind,
    key: str,
    title: Words,
    text: Words,
    path: str = "",
    also: Iterable[UUID | None] = (),
) -> None:
    people = {*owner_ids(application), application.user_id, *also} - {None}
    notify(
        user_ids=sorted(people),
        kind=kind,
        key=key,
        title=title,
        text=text,
        path=path or application.get_absolute_url(),
    )


def notify_of_decision(*, request: AssociationRequest) -> None:
    is_approved = request.state == AssociationState.APPROVED
    application = request.application

    def title() -> str:
        subject = request.store.company_name if request.store else _("an owner's place")
        message = (
            _("%(name)s: the request for %(subject)s was approved")
            if is_approved
            else _("%(name)s: the request for %(subject)s was declined")
        )
        return message % {"name": application.name, "subject": subject}

    def text() -> str:
        labels = [str(Permission(grant).label) for grant in request.grants] if is_approved else []
        granted = _("Granted: %(permissions)s.") % {"permissions": "; ".join(labels)} if labels else ""
        return f"{granted}\n{request.note}".strip()

    notify_owners(
        application=application,
        kind=NotificationKind.REQUEST_DECIDED,
        key=f"request:{request.pk}",
        title=title,
        text=text,
        path=f"{application.get_absolute_url()}/stores" if request.store else "/applications",
        also=[request.requested_by_id, request.user_id],
    )


def notify_of_ending_keys(*, now: datetime) -> int:
    """Once for each of 30, 7 and 1 days before the end; not where another key is valid for longer."""
    longer = ApplicationKey.objects.filter(
        application=OuterRef("application"), end_date__gt=now + timedelta(days=max(DAYS_BEFORE_END))
    )
    ending = ApplicationKey.objects.filter(
        ~Exists(longer),
        start_date__lte=now,
        end_date__gt=now,
        end_date__lte=now + timedelta(days=max(DAYS_BEFORE_END)),
        application__is_enabled=True,
    )
    count = 0
    for key in ending.select_related("application").order_by("end_date").iterator(chunk_size=500):
        _notify_of_ending(key, key.end_date - now)
        count += 1
    return count


def _notify_of_ending(key: ApplicationKey, remaining: timedelta) -> None:
    mark = next(days for days in DAYS_BEFORE_END if remaining <= timedelta(days=days))
    days, name = math.ceil(remaining / timedelta(days=1)), key.application.name
    notify_owners(
        application=key.application,
        kind=NotificationKind.KEY_ENDING,
        key=f"key:{key.pk}:{key.end_date:%Y%m%d}:{mark}",
        title=lambda: (
            ngettext(
                "A key of %(name)s expires in %(days)s day",
                "A key of %(name)s expires in %(days)s days",
                days,
            )
            % {"name": name, "days": days}
        ),
        text=lambda: (
            _(
                "It is valid until %(moment)s UTC. Add a new key and switch to it before then; both work in the "
                "meantime."
            )
            % {"moment": date_format(key.end_date, "DATETIME_FORMAT")}
        ),
        path=f"{key.application.get_absolute_url()}/keys",
    )


def note_quota(*, application_id: UUID | None, user_id: UUID | None, used: int, quota: int, day: int) -> None:
    """Remembers a subscription that is near its limit; touches nothing but memory."""
    owner = ("user", user_id) if user_id else ("application", application_id)
    if used < quota * QUOTA_SHARE or owner[1] is None:
        return
    with _lock:
        if len(_near) < 10_000:
            _near.add((owner[0], owner[1], day))


def flush_quotas() -> int:
    """Notifies the owners of the noted subscriptions, once a day each."""
    with _lock:
        quotas = set(_near)
        _near.clear()
    for kind, number, day in quotas:
        _notify_of_quota(kind, number, day)
    return len(quotas)


def _notify_of_quota(kind: str, number: UUID, day: int) -> None:
    about: dict[str, Any] = {
        "kind": NotificationKind.QUOTA_NEAR,
        "key": f"quota:{number}:{day}",
        "text": lambda: _(
            "Requests above it get 429 until the minute is over. Spread out your calls, or ask the operator for a "
            "higher limit."
        ),
    }
    if kind == "user":
        notify(
            user_ids=[number],
            title=lambda: _("Your calls used 80% of a minute's rate limit"),
            path="/profile/keys",
            **about,
        )
    elif application := Application.objects.filter(pk=number).first():
        notify_owners(
            application=application,
            title=lambda: _("%(name)s used 80%% of a minute's rate limit") % {"name": application.name},
            path=f"{application.get_absolute_url()}/requests",
            **about,
        )
