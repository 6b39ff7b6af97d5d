import pytest
from django.core import mail

from accounts.mail import colours, send_text


def test_mail_is_plain_text_and_a_page_in_the_colours_of_the_service(settings):
    settings.PUBLIC_URL = "https://print.example"
    text = "Hello <b>you</b>, see https://evil.example\n\nhttps://print.example/here\n\nhttps://print.example.evil.example"

    send_text("Two\nlines", text, "maya@example.com")

    letter = mail.outbox[0]
    page, kind = letter.alternatives[0]
    assert (letter.subject, letter.body, kind) == ("Two lines", f"{text}\n", "text/html")
    assert page.count("<a href=") == 1
    assert '<a href="https://print.example/here"' in page
    assert "&lt;b&gt;you" in page
    light, dark = colours()
    assert light["accent"] in page
    assert dark["raised"] in page


@pytest.mark.parametrize("scheme", [0, 1])
def test_colours_of_mails_are_those_of_the_pages(scheme):
    assert {"ink", "soft", "accent", "raised", "sunken", "line"} <= colours()[scheme].keys()
