import re
import smtplib
from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.core import mail
from django.db import connection

from accounts.mail import MailUnavailable
from accounts.models import EmailChange, User
from accounts.selectors.emails import get_email_change, pending_email_change
from accounts.services.email_changes import cancel_email_change, confirm_email_change, request_email_change
from fulfillment.core.errors import Conflict, Invalid, NotFound
from tests.factories.accounts import UserFactory


@pytest.fixture
def user(db) -> User:
    return UserFactory(email="old@print.example")


def token_sent() -> str:
    return re.search(r"/accounts/email/(\S+)/", mail.outbox[-2].body)[1]


def ask(user: User, email: str = "new@print.example") -> str:
    request_email_change(user=user, email=email)
    return token_sent()


def test_new_address_gets_the_link_and_the_old_one_word_of_it(user):
    ask(user)

    assert [letter.to for letter in mail.outbox] == [["new@print.example"], ["old@print.example"]]
    assert "http://127.0.0.1:8000/accounts/email/sfe_" in mail.outbox[0].body
    assert "sfe_" not in mail.outbox[1].body
    user.refresh_from_db()
    assert user.email == "old@print.example"


def test_token_is_stored_as_a_digest_only(user):
    token = ask(user)

    assert token not in str(EmailChange.objects.values().get())


def test_confirming_changes_the_address_once_and_notifies_the_old_one(user):
    token = ask(user)

    confirm_email_change(token=token)

    user.refresh_from_db()
    assert user.email == "new@print.example"
    assert (mail.outbox[-1].to, "was changed" in mail.outbox[-1].subject) == (["old@print.example"], True)
    with pytest.raises(NotFound):
        confirm_email_change(token=token)


def test_link_is_valid_for_a_day(user, time_machine):
    time_machine.move_to("2026-05-04T10:00:00Z", tick=False)
    token = ask(user)

    time_machine.shift(timedelta(hours=23, minutes=59))
    assert get_email_change(token)
    assert pending_email_change(user)
    time_machine.shift(timedelta(minutes=1))
    with pytest.raises(NotFound):
        confirm_email_change(token=token)
    assert pending_email_change(user) is None


def test_new_password_ends_what_was_requested_with_the_old_one(user):
    token = ask(user)

    user.set_password("another long pass phrase")
    user.save()

    assert pending_email_change(user) is None
    with pytest.raises(NotFound):
        confirm_email_change(token=token)


def test_asking_again_replaces_the_first_link_after_a_minute(user, time_machine):
    time_machine.move_to("2026-05-04T10:00:00Z", tick=False)
    first = ask(user)

    with pytest.raises(Conflict):
        ask(user, "other@print.example")
    time_machine.shift(timedelta(minutes=1))
    second = ask(user, "other@print.example")

    with pytest.raises(NotFound):
        get_email_change(first)
    assert get_email_change(second).email == "other@print.example"


def test_cancelled_change_and_an_inactive_user_confirm_nothing(user):
    token = ask(user)
    User.objects.filter(pk=user.pk).update(is_active=False)
    with pytest.raises(NotFound):
        confirm_email_change(token=token)

    User.objects.filter(pk=user.pk).update(is_active=True)
    cancel_email_change(user=user)
    with pytest.raises(NotFound):
        confirm_email_change(token=token)


def test_cancelled_changes_count_among_the_mails_of_a_day(user, settings):
    settings.EMAIL_CHANGES_PER_USER = 2
    for number in range(2):
        request_email_change(user=user, email=f"{number}@far.example")
        cancel_email_change(user=user)

    with pytest.raises(Conflict, match="2 links to new addresses a day"):
        request_email_change(user=user, email="more@far.example")
    assert not EmailChange.objects.exists()


@pytest.mark.parametrize("address", ["OLD@print.example", "nonsense", "", "a@b.example\nBcc: c@d.example"])
def test_addresses_that_cannot_be_are_refused(user, address):
    with pytest.raises(Invalid) as refused:
        request_email_change(user=user, email=address)

    assert refused.value.faults[0].pointer == "/Email"
    assert mail.outbox == []


def test_without_a_mail_server_nothing_is_left_behind(user, monkeypatch):
    def fail(*args, **kwargs):
        raise smtplib.SMTPServerDisconnected("gone")

    monkeypatch.setattr("accounts.mail.send_mail", fail)

    with pytest.raises(MailUnavailable):
        request_email_change(user=user, email="new@print.example")
    assert not EmailChange.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_confirmations_at_once_count_once(user):
    token, outcomes, start = ask(user), [], Barrier(2)

    def confirm() -> None:
        start.wait()
        try:
            outcomes.append(confirm_email_change(token=token).email)
        except NotFound:
            outcomes.append("refused")
        connection.close()

    threads = [Thread(target=confirm) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["new@print.example", "refused"]
