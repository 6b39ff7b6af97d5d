"""`sendtestemail` says what became of the mail."""

import pytest
from django.core.management import CommandError, call_command

from tests.support.servers.ports import free_port


def test_mail_server_that_does_not_answer_is_named(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()

    with pytest.raises(
        CommandError, match=f"127.0.0.1:{settings.EMAIL_PORT}, did not take the mail: .*refused"
    ):
        call_command("sendtestemail", "olivia@print.example")


def test_mail_that_was_taken_is_confirmed(capsys, mailoutbox):
    call_command("sendtestemail", "olivia@print.example")

    assert [mail.to for mail in mailoutbox] == [["olivia@print.example"]]
    assert "took the mail" in capsys.readouterr().out
