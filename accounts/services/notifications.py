"""Notifications of users: in the portal, by mail, or both, by preference.

A notification is written in the transaction of its cause; its mail is sent by the worker after the commit.
"""

from collections.abc import Callable, Collection, Iterable
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from procrastinate.contrib.django import app
from procrastinate.types import JSONDict

from accounts.mail import send_text
from accounts.models import Notification, NotificationKind, NotificationPreference, User
from accounts.throttles import count_notification_mail
from fulfillment.core.audit.personal_data import ERASED

NOTIFICATION_TASK = "accounts.send_notification"
# After all other jobs: one event may notify hundreds of people.
NOTIFICATION_PRIORITY = -1
RETENTION = timedelta(days=90)
LAST = gettext_lazy("For an hour, further notifications of this kind appear only in the portal.")
# Called in the language of each person, of the installation without a chosen one.
Words = str | Callable[[], str]


@transaction.atomic
def notify(
    *, user_ids: Collection[UUID], kind: NotificationKind, key: str, title: Words, text: Words, path: str
) -> int:
    """Notifies each of these users once for each `key`; returns how many."""
    preferences = {
        row.user_id: row for row in NotificationPreference.objects.filter(user__in=user_ids, kind=kind)
    }
    unwanted = {user for user, row in preferences.items() if not (row.in_bell or row.by_mail)}
    recipients = [user_id for user_id in dict.fromkeys(user_ids) if user_id not in unwanted]
    notified_before = Notification.objects.filter(user__in=recipients, key=key).values_list("user", flat=True)
    now, rows = timezone.now(), []
    people = User.objects.filter(pk__in=set(recipients) - set(notified_before)).values_list("pk", "language")
    for user_id, language in people:
        preference = preferences.get(user_id)
        with translation.override(language or settings.DEFAULT_LANGUAGE):
            row = Notification(
                user_id=user_id,
                kind=kind,
                key=key,
                title=" ".join(resolve_text(title).split())[:200],
                text=resolve_text(text)[:1000],
                path=path,
                in_bell=preference is None or preference.in_bell,
                created=now,
            )
        rows.append((row, preference is None or preference.by_mail))
    Notification.objects.bulk_create([row for row, _by_mail in rows], ignore_conflicts=True)
    mails: list[JSONDict] = [{"user_id": str(row.user_id), "key": key} for row, by_mail in rows if by_mail]
    # In one statement: what is locked stays locked for it, such as the store of an order.
    if mails:
        app.configure_task(NOTIFICATION_TASK, priority=NOTIFICATION_PRIORITY).batch_defer(*mails)
    return len(rows)


def resolve_text(words: Words) -> str:
    return words if isinstance(words, str) else words()


def erase_texts(*, keys: Collection[str]) -> None:
    """Erases the texts of everyone's notifications with these keys; that there was one stays."""
    Notification.objects.filter(key__in=keys).exclude(text="").update(text=ERASED)


def mail_notification(*, user_id: str, key: str) -> None:
    """Mails only to a confirmed address: an account may have been created with another person's address.

    Beyond the hourly limit a notification is in the portal only, so that many failures do not send many mails.
    """
    row = Notification.objects.filter(user=UUID(user_id), key=key).select_related("user").first()
    if row is None or not row.user.is_active or row.user.email_confirmed is None or not row.user.email:
        return
    standing = count_notification_mail(user_id=user_id, kind=row.kind)
    if standing.is_exceeded:
        Notification.objects.filter(pk=row.pk, in_bell=False).update(in_bell=True)
        return
    link = f"{settings.PUBLIC_URL}{row.path}"
    preferences = f"{settings.PUBLIC_URL}/notifications/preferences"
    with translation.override(row.user.language or settings.DEFAULT_LANGUAGE):
        last = f"\n\n{LAST}" if not standing.remaining else ""
        choose = _("Choose your notifications: %(address)s") % {"address": preferences}
    text = f"{row.text}\n\n{link}{last}\n\n{choose}\n"
    send_text(row.title, text, row.user.email, language=row.user.language or settings.DEFAULT_LANGUAGE)


def mark_read(*, user: User, notification_ids: Iterable[int] | None = None) -> int:
    """Marks these notifications, or all unread ones."""
    unread = Notification.objects.filter(user=user, read__isnull=True)
    if notification_ids is not None:
        unread = unread.filter(pk__in=list(notification_ids))
    return unread.update(read=timezone.now())


@transaction.atomic
def set_preferences(*, user: User, preferences: Iterable[tuple[NotificationKind, bool, bool]]) -> None:
    """Each has kind, bell and mail."""
    rows = [
        NotificationPreference(user=user, kind=kind, in_bell=in_bell, by_mail=by_mail)
        for kind, in_bell, by_mail in preferences
    ]
    NotificationPreference.objects.filter(user=user).delete()
    NotificationPreference.objects.bulk_create(rows)
