"""Pages that only development mode has."""

import re

import pytest
from django.core.mail import get_connection
from django.core.mail.message import EmailMultiAlternatives

pytestmark = pytest.mark.django_db
PAGE = "/dev/mail"


@pytest.fixture
def folder(settings, tmp_path):
    settings.EMAIL_FILE_PATH = tmp_path
    return tmp_path


def send(*mails: tuple[str, str]) -> None:
    connection = get_connection("django.core.mail.backends.filebased.EmailBackend")
    messages = [EmailMultiAlternatives(subject, body, to=["nora@far.example"]) for subject, body in mails]
    for message in messages:
        message.attach_alternative("<p>The same.</p>", "text/html")
    connection.send_messages(messages)


def test_mails_are_listed_with_the_newest_first_and_their_links(client, folder):
    assert "No mail yet" in client.get(PAGE).content.decode()
    send(
        ("First", "Hello"), ("Straße <b>", "Open\nhttp://127.0.0.1:8000/accounts/email/confirm/abc:d_e-f/\n")
    )

    page = client.get(PAGE).content.decode()

    assert re.findall(r"<h2>(.*?)</h2>", page) == ["Straße &lt;b&gt;", "First"]
    assert 'href="http://127.0.0.1:8000/accounts/email/confirm/abc:d_e-f/"' in page
    assert "nora@far.example" in page
    assert "The same." not in page


def test_production_has_no_such_page(client, folder, settings):
    settings.DEVELOPMENT = False

    assert client.get(PAGE).status_code == 404


def test_components_of_the_console_are_shown_in_development_alone(world, client, settings):
    client.force_login(world.operator)
    address = "/admin/components/"
    page = client.get(address).content.decode()

    assert all(name in page for name in ("console-danger", "console-table", "console-empty", "form-problems"))
    settings.DEVELOPMENT = False
    assert client.get(address).status_code == 404
