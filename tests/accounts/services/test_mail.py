import smtplib
import socket
import threading
import time
from contextlib import contextmanager

import pytest
from django.core import mail

from accounts import mail as mails
from accounts.mail import colors, send_text

REPLIES = ("220 ready", "250 welcome", "250 sender", "250 recipient", "354 go on", "250 taken", "221 bye")


def test_mail_is_plain_text_and_a_page_in_the_colors_of_the_service(settings):
    settings.PUBLIC_URL = "https://print.example"
    text = "Hello <b>you</b>, see https://evil.example\n\nhttps://print.example/here\n\nhttps://print.example.evil.example"

    send_text("Two\nlines", text, "maya@example.com")

    letter = mail.outbox[0]
    page, kind = letter.alternatives[0]
    assert (letter.subject, letter.body, kind) == ("Two lines", f"{text}\n", "text/html")
    assert page.count("<a href=") == 1
    assert '<a href="https://print.example/here"' in page
    assert "&lt;b&gt;you" in page
    light, dark = colors()
    assert light["accent"] in page
    assert dark["raised"] in page


@pytest.mark.parametrize("scheme", [0, 1])
def test_colors_of_mails_are_those_of_the_pages(scheme):
    assert {"ink", "soft", "accent", "raised", "sunken", "line"} <= colors()[scheme].keys()


@contextmanager
def relay(settings, *, dripping=-1):
    """A mail server; its reply of that number has a new line every few milliseconds, for at most three seconds."""
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_converse, args=(listener, received, dripping), daemon=True)
        thread.start()
        settings.EMAIL_BACKEND = "accounts.mail.SmtpBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = listener.getsockname()
        yield received
        thread.join(5)


def _converse(listener, received, dripping):
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as lines:
        for number, reply in enumerate(REPLIES):
            until = time.monotonic() + 3
            while number == dripping and time.monotonic() < until:
                try:
                    connection.sendall(f"{reply[:3]}-wait\r\n".encode())
                except OSError:
                    return
                time.sleep(0.01)
            connection.sendall(f"{reply}\r\n".encode())
            is_letter = reply.startswith("354")
            while line := lines.readline():
                received.append(line)
                if not is_letter or line == b".\r\n":
                    break


def test_mail_is_sent_within_the_time_limit(settings):
    with relay(settings) as received:
        send_text("Hello", "You", "maya@example.com")

    assert b"Subject: Hello\r\n" in received


@pytest.mark.parametrize("dripping", [0, 1, 5])
def test_mail_server_that_never_ends_a_reply_is_left(settings, monkeypatch, dripping):
    monkeypatch.setattr(mails, "TIME_LIMIT", 0.2)
    began = time.monotonic()

    with relay(settings, dripping=dripping), pytest.raises(smtplib.SMTPServerDisconnected):
        send_text("Hello", "You", "maya@example.com")

    assert time.monotonic() - began < 2
