"""Users are notified once, where they choose; mail goes to confirmed addresses after the commit."""

from datetime import timedelta

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.callers import Caller
from accounts.models import AssociationRequest, Notification, NotificationKind
from accounts.selectors.notifications import get_page_header, list_preferences
from accounts.services.associations import approve_association
from accounts.services.mailed_links import RESET_TASK
from accounts.services.notifications import LAST, mail_notification, mark_read, notify, set_preferences
from applications.metrics import flush_usage
from applications.registration.services.keys import add_key
from applications.registration.services.notices import notify_of_ending_keys
from applications.registration.services.owners import invite_owner
from applications.webhooks.services.webhooks import create_webhook, disable_webhook
from fulfillment.core.db.prepared import fetch_row
from fulfillment.operations.privacy import erase_user
from tests.factories.accounts import UserFactory
from tests.support.caches import clear_caches

SAID = {"kind": NotificationKind.KEY_ENDING, "title": "A key\nends", "text": "Soon.", "path": "/applications"}


def titles(user):
    return list(Notification.objects.filter(user=user).order_by("pk").values_list("title", flat=True))


def test_same_notification_is_shown_and_mailed_once(world):
    for _ in range(2):
        notify(user_ids=[world.user.pk, world.outsider.pk], key="a", **SAID)

    assert titles(world.user) == titles(world.outsider) == ["A key ends"]
    jobs = ProcrastinateJob.objects.filter(task_name="accounts.send_notification")
    assert jobs.count() == 2
    for job in jobs:
        mail_notification(**job.args)
    assert sorted(to for letter in mail.outbox for to in letter.to) == [
        world.outsider.email,
        world.user.email,
    ]
    assert "/notifications/preferences" in mail.outbox[0].body


def test_many_people_take_as_many_queries_as_one(world):
    """Orders of a store wait while its approvers are notified."""
    people = UserFactory.create_batch(12)
    counts = []
    for key, chosen in (("one", people[:1]), ("many", people)):
        with CaptureQueriesContext(connection) as queries:
            notify(user_ids=[person.pk for person in chosen], key=key, **SAID)
        counts.append(len(queries))

    assert counts[1] == counts[0]


def test_notifications_are_mailed_after_all_other_jobs(world):
    """One account's event may notify many people; nobody's link to a new password waits for that."""
    notify(user_ids=[world.user.pk], key="a", **SAID)
    app.configure_task(RESET_TASK).defer(email=world.user.email)

    assert fetch_row("SELECT task_name FROM procrastinate_fetch_job_v2(NULL, NULL)") == (RESET_TASK,)


def test_preferences_choose_bell_mail_both_or_none(world):
    kinds = iter(NotificationKind)
    chosen = [
        (next(kinds), bell, by_mail) for bell, by_mail in ((True, False), (False, True), (False, False))
    ]
    set_preferences(user=world.user, preferences=chosen)
    for kind, *_ in chosen:
        notify(user_ids=[world.user.pk], key=kind, **(SAID | {"kind": kind}))

    assert get_page_header(world.user).unread == 1
    assert ProcrastinateJob.objects.filter(task_name="accounts.send_notification").count() == 1
    assert len(titles(world.user)) == 2
    assert [(row.in_bell, row.by_mail) for row in list_preferences(world.user)][:3] == [
        preference[1:] for preference in chosen
    ]


def test_nothing_is_mailed_to_an_address_that_is_not_confirmed(world):
    notify(user_ids=[world.user.pk], key="a", **SAID)
    world.user.email_confirmed = None
    world.user.save()

    mail_notification(user_id=str(world.user.pk), key="a")

    assert mail.outbox == []


def test_owners_are_notified_of_a_decision(world):
    request = AssociationRequest.objects.create(
        application=world.application, store=world.unassociated, requested_by=world.user
    )
    approve_association(caller=Caller.on_pages(world.operator), request_id=request.pk, note="Welcome")

    assert titles(world.user) == ["Mail Studio: the request for Unassociated Print was approved"]
    assert Notification.objects.get().text.splitlines() == [
        "Granted: Read stores, their products and your own roles; Read the orders you submitted; "
        "Submit orders and cancel your own.",
        "Welcome",
    ]


@pytest.mark.parametrize(("left", "days"), [(29.5, 30), (6.5, 7), (0.5, 1)])
def test_owners_are_notified_of_a_key_once_for_each_mark(world, left, days):
    now = timezone.now()
    world.application.keys.all().delete()
    add_key(
        application=world.application,
        start_date=now - timedelta(days=90),
        end_date=now + timedelta(days=left),
    )
    for _ in range(2):
        notify_of_ending_keys(now=now)

    assert titles(world.user) == [f"A key of Mail Studio expires in {days} day{'s' if days > 1 else ''}"]


def test_no_one_is_notified_of_a_key_that_another_one_outlives(world):
    now = timezone.now()
    for end in (5, 300):
        add_key(
            application=world.application,
            start_date=now - timedelta(days=9),
            end_date=now + timedelta(days=end),
        )

    assert notify_of_ending_keys(now=now) == 0


def test_owners_are_notified_of_a_disabled_webhook_and_of_an_invitation(world):
    webhook, _ = create_webhook(application=world.application, values={"URL": "https://93.184.216.34/in"})
    disable_webhook(webhook=webhook, reason="The endpoint responded with 410 Gone.")
    disable_webhook(webhook=webhook, reason="again")
    invite_owner(
        caller=Caller.on_pages(world.operator), application=world.application, email="new@far.example"
    )

    assert titles(world.user) == [
        "A webhook of Mail Studio was disabled",
        "A new owner is invited to Mail Studio",
    ]
    assert not Notification.objects.filter(text__contains="far.example").exists()
    assert titles(world.operator) == ["A new owner is invited to Mail Studio"]


def test_person_who_invites_is_notified_each_time(world, time_machine):
    """A stolen session that invites an owner is noticed by its own user."""
    time_machine.move_to("2026-05-04T12:00:00Z", tick=False)
    for _ in range(2):
        invite_owner(
            caller=Caller.on_pages(world.user), application=world.application, email="new@far.example"
        )
        time_machine.shift(61)

    assert titles(world.user) == ["A new owner is invited to Mail Studio"] * 2


def test_owners_are_notified_of_a_rate_limit_used_to_80_percent_once_a_day(world):
    clear_caches()
    world.application.subscription.requests_per_minute = 10
    world.application.subscription.save()
    client = world.as_application()
    for _ in range(7):
        client.call("GET", "/store")
    flush_usage()
    assert titles(world.user) == []
    for _ in range(5):
        client.call("GET", "/store")
        flush_usage()

    assert titles(world.user) == ["Mail Studio used 80% of a minute's rate limit"]


def test_reading_and_erasing_are_of_the_person_alone(world):
    notify(user_ids=[world.user.pk, world.outsider.pk], key="a", **SAID)
    set_preferences(user=world.user, preferences=[(NotificationKind.KEY_ENDING, True, False)])
    assert mark_read(user=world.user) == 1
    assert (get_page_header(world.user).unread, get_page_header(world.outsider).unread) == (0, 1)
    world.application.delete()

    erase_user(user=world.user)

    assert set(Notification.objects.values_list("user", flat=True)) == {world.outsider.pk}
    assert not world.user.notification_preferences.exists()


def test_mails_of_one_kind_are_limited_in_an_hour_and_the_rest_is_in_the_portal(world, settings):
    settings.NOTIFICATION_MAILS_PER_HOUR = 2
    set_preferences(user=world.user, preferences=[(NotificationKind.KEY_ENDING, False, True)])
    for number in range(4):
        notify(user_ids=[world.user.pk], key=str(number), **SAID)
        mail_notification(user_id=str(world.user.pk), key=str(number))
    notify(user_ids=[world.user.pk], key="other", **(SAID | {"kind": NotificationKind.QUOTA_NEAR}))
    mail_notification(user_id=str(world.user.pk), key="other")

    in_portal = Notification.objects.filter(user=world.user, in_bell=True).order_by("pk")
    assert list(in_portal.values_list("key", flat=True)) == ["2", "3", "other"]
    assert [str(LAST) in letter.body for letter in mail.outbox] == [False, True, False]
