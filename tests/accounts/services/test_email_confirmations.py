"""An address is an account's own once its mailbox has answered; until then it gets next to no mail."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.core import mail
from django.db import connection
from django.utils import timezone

from accounts.models import RateWindow, User
from accounts.selectors.emails import find_user_by_confirmed_email
from accounts.services.email_changes import confirm_email_change, request_email_change
from accounts.services.mailed_links import (
    CONFIRMATION_TASK,
    RESET_TASK,
    confirm_address,
    confirmation_token,
    request_confirmation,
    request_reset_link,
    send_reset_links,
)
from accounts.services.users import create_user
from accounts.throttles import count_visitor_mail, normalize_mailbox
from applications.registration.services.notices import owner_addresses
from fulfillment.core.errors import Conflict, NotFound
from tests.support.caches import clear_caches
from tests.support.scenario import PASSWORD
from tests.support.servers.queued_jobs import work_off


def make_account(world, name="newcomer", email="new@print.example", **values) -> User:
    person = {"first_name": "New", "last_name": "Comer", "password": PASSWORD}
    return create_user(tenant=world.tenant, username=name, email=email, **person, **values)


def confirmed(user: User) -> bool:
    user.refresh_from_db()
    return user.email_confirmed is not None


def test_new_account_is_sent_a_link_that_confirms_its_address(world, settings):
    settings.PUBLIC_URL = "https://print.example"
    user = make_account(world)

    assert work_off(CONFIRMATION_TASK) == 1
    [message] = mail.outbox
    token = re.search(r"https://print\.example/accounts/email/confirm/(\S+)/", message.body)[1]
    assert message.to == ["new@print.example"]
    assert not confirmed(user)
    confirm_address(token=token)
    assert confirmed(user)


def test_link_works_again_for_the_same_address_and_for_no_other(world):
    user = make_account(world)
    token = confirmation_token(user)
    confirm_address(token=token)
    assert confirm_address(token=token) == user

    User.objects.filter(pk=user.pk).update(email="other@print.example", email_confirmed=None)

    with pytest.raises(NotFound):
        confirm_address(token=token)
    assert not confirmed(user)


def test_link_of_another_purpose_altered_or_too_old_confirms_nothing(world):
    user = make_account(world)
    token = confirmation_token(user)
    for wrong in (token[:-1] + ("a" if token[-1] != "a" else "b"), "x", "x:y:z", ""):
        with pytest.raises(NotFound):
            confirm_address(token=wrong)

    with time_machine.travel(timezone.now() + timedelta(days=8)), pytest.raises(NotFound):
        confirm_address(token=token)
    User.objects.filter(pk=user.pk).update(is_active=False)
    with pytest.raises(NotFound):
        confirm_address(token=token)
    assert not confirmed(user)


def test_visitors_cause_three_mails_an_hour_and_ten_a_day_to_one_address(world):
    allowed = []
    for _ in range(5):
        allowed.append([count_visitor_mail(email="victim@x.example") for _ in range(5)].count(None))
        RateWindow.objects.filter(bucket__startswith="mail-of-hour:").update(started="2026-01-01T00:00:00Z")
        clear_caches()

    assert allowed == [3, 3, 3, 1, 0]
    assert count_visitor_mail(email="other@x.example") is None


def test_spellings_that_find_one_user_share_one_count(db):
    """Every letter that PostgreSQL's `lower` turns into another and that this Python knows."""
    letters = [chr(code) for code in range(1, 0x30000) if chr(code).isprintable()]
    with connection.cursor() as cursor:
        cursor.execute("SELECT letter, lower(letter) FROM unnest(%s::text[]) letter", [letters])
        pairs = [pair for pair in cursor.fetchall() if pair[0] != pair[1]]

    assert len(pairs) > 1000
    assert [pair for pair in pairs if normalize_mailbox(pair[0]) != normalize_mailbox(pair[1])] == []


def test_tags_of_a_mailbox_share_its_count(db):
    allowed = [
        not count_visitor_mail(email=f"victim{tag}@x.example") for tag in ("", "+1", "+2", "+3", "+a+b")
    ]

    assert allowed == [True, True, True, False, False]
    assert count_visitor_mail(email="+@x.example") is None


def test_sign_ups_resets_and_changes_of_one_address_share_one_count(world):
    for number in range(2):
        address = "victim@x.example" if number % 2 else "Victim@X.example"
        user = make_account(world, f"newcomer{number}", address)

    request_reset_link(email="VICTIM@x.example")
    request_reset_link(email="victim@x.example")
    request_confirmation(user=user)

    assert (work_off(CONFIRMATION_TASK), work_off(RESET_TASK)) == (2, 1)
    with pytest.raises(Conflict):
        request_email_change(user=world.user, email="victim@x.example")


def test_unconfirmed_address_gets_no_links_for_new_passwords_and_no_news(world):
    User.objects.update(email="shared@x.example", email_confirmed=None)

    send_reset_links(email="shared@x.example")

    assert mail.outbox == []
    assert owner_addresses(world.application) == []


def test_one_mail_lists_the_accounts_of_an_address_with_a_link_each(world):
    User.objects.filter(username__in=["user", "outsider"]).update(email="shared@x.example")
    for number in range(60):
        make_account(world, f"newcomer{number}", "shared@x.example")

    send_reset_links(email="Shared@X.Example")

    [message] = mail.outbox
    assert (message.to, message.subject) == (
        ["shared@x.example"],
        "Choose a new password for Store Fulfillment",
    )
    assert len(set(re.findall(r"/accounts/password-reset/\S+/\S+/", message.body))) == 2
    assert [
        name in message.body for name in ("user@print.example", "outsider@print.example", "newcomer")
    ] == [
        True,
        True,
        False,
    ]


def test_two_spellings_that_were_confirmed_are_two_mailboxes(world):
    User.objects.filter(username="user").update(email="shared@x.example")
    User.objects.filter(username="outsider").update(email="Shared@x.example")

    send_reset_links(email="shared@x.example")

    assert sorted(message.to[0] for message in mail.outbox) == ["Shared@x.example", "shared@x.example"]
    assert all(message.body.count("/accounts/password-reset/") == 1 for message in mail.outbox)


def test_changed_address_is_confirmed_by_its_own_link_and_an_unconfirmed_one_is_not_notified(world):
    user = make_account(world)
    mail.outbox.clear()

    request_email_change(user=user, email="own@print.example")
    token = re.search(r"/accounts/email/(\S+)/", mail.outbox[0].body)[1]
    confirm_email_change(token=token)

    assert confirmed(user)
    assert [message.to for message in mail.outbox] == [["own@print.example"]]


def test_confirmed_address_names_a_user_only_where_it_is_one_users_alone(world):
    assert find_user_by_confirmed_email("USER@print.example") == world.user
    User.objects.filter(username="outsider").update(email="user@print.example", email_confirmed=None)
    assert find_user_by_confirmed_email("user@print.example") == world.user
    User.objects.filter(username="outsider").update(email_confirmed=world.user.created)
    assert find_user_by_confirmed_email("user@print.example") is None
    User.objects.filter(username="outsider").update(is_active=False)
    assert find_user_by_confirmed_email("user@print.example") == world.user
    User.objects.filter(username="user").update(email_confirmed=None)
    assert find_user_by_confirmed_email("user@print.example") is None
