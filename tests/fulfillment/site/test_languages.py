"""Pages and mails in the person's language; the API in English."""

import errno
import re

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import translation

from accounts.callers import Caller
from accounts.models import Notification, NotificationKind, User
from accounts.services.mailed_links import CONFIRMATION_TASK, send_reset_links
from accounts.services.notifications import mail_notification, notify
from applications.registration.services.owners import invite_owner
from fulfillment.core.files.storage import StorageUnavailable
from fulfillment.core.http.refusal_page import refusal_page
from printing.bounded import busy, killed
from tests.support.browser.pseudo import FILLED
from tests.support.scenario import PASSWORD
from tests.support.servers.queued_jobs import work_off
from tests.tools import catalogs
from tests.tools.catalogs import (
    DOMAINS,
    LANGUAGES,
    catalog_of,
    compiled,
    is_translated,
    messages,
    path_of,
    scripts,
)

GERMAN = {"Accept-Language": "de-DE,de;q=0.9,en;q=0.8"}


def test_page_is_in_the_browsers_language(client, world):
    page = client.get("/accounts/login/", headers=GERMAN)

    assert '<html lang="de">' in page.content.decode()
    assert "Passwort vergessen?" in page.content.decode()
    assert "Accept-Language" in page.headers["Vary"]
    assert (
        '<html lang="en">'
        in client.get("/accounts/login/", headers={"Accept-Language": "fr"}).content.decode()
    )


def test_person_chooses_another_language_than_the_browsers(world, browser):
    values = {"first_name": "Una", "last_name": "L", "phone": "", "time_zone": "UTC", "language": "es"}

    content = browser.post("/profile", values, follow=True, headers=GERMAN).content.decode()

    assert '<html lang="es">' in content
    assert "Perfil guardado." in content
    world.user.refresh_from_db()
    assert world.user.language == "es"


def test_mistakes_in_a_form_are_in_the_language_of_the_page(world, browser):
    values = {"first_name": "\u202eUna", "last_name": "L", "phone": "", "time_zone": "Mars/Olympus"}

    content = browser.post("/profile", values, headers=GERMAN).content.decode()

    assert "Bitte eine gültige Auswahl treffen." in content


def test_problems_of_the_api_and_its_reference_stay_english(client, world):
    client.get("/accounts/login/", headers=GERMAN)
    problem = client.get("/api/v1/store", headers=GERMAN).json()
    reference = client.get("/api/v1/docs", headers=GERMAN).content.decode()

    assert problem["detail"].isascii()
    assert "Access denied" in problem["detail"]
    assert '<html lang="en">' in reference
    assert translation.get_language() == "en"


def test_mails_are_in_the_language_of_each_person(world):
    world.user.language = "de"
    world.user.save()

    send_reset_links(email=world.user.email)

    assert mail.outbox[0].subject == "Wählen Sie ein neues Passwort für Store Fulfillment"
    assert "Guten Tag," in mail.outbox[0].body


@pytest.mark.parametrize(
    ("refusal", "german"),
    [
        (StorageUnavailable(), "Der Dateispeicher antwortet gerade nicht. Nichts wurde gespeichert."),
        (StorageUnavailable(OSError(errno.ENOSPC, "")), "Für Dateien ist kein Platz mehr."),
        (busy(), "Alle Renderer sind beschäftigt. Versuchen Sie es in einigen Sekunden noch einmal."),
        (killed("was killed by the system (SIGKILL)"), "wurde vom System beendet (SIGKILL)."),
    ],
)
def test_refusal_without_room_or_renderers_is_in_the_language_of_the_page(refusal, german):
    with translation.override("de"):
        page = refusal_page(refusal).content.decode()

    assert german in page
    assert refusal.message not in page


def test_notifications_are_in_the_language_of_each_person(world):
    world.user.language = "de"
    world.user.save()
    with translation.override("es"):
        notify(
            user_ids=[world.user.pk, world.outsider.pk],
            kind=NotificationKind.KEY_ENDING,
            key="a",
            title=lambda: translation.gettext("No notifications"),
            text="",
            path="/",
        )

    titles = dict(Notification.objects.values_list("user", "title"))
    assert titles == {world.user.pk: "Keine Benachrichtigungen", world.outsider.pk: "No notifications"}
    mail_notification(user_id=str(world.user.pk), key="a")
    assert "Wählen Sie Ihre Benachrichtigungen" in mail.outbox[0].body


def test_people_without_a_language_get_that_of_the_installation(world, client, settings):
    settings.DEFAULT_LANGUAGE = "de"

    notify(
        user_ids=[world.user.pk],
        kind=NotificationKind.KEY_ENDING,
        key="a",
        title=lambda: translation.gettext("No notifications"),
        text="",
        path="/",
    )
    page = client.get("/accounts/login/", headers={"Accept-Language": "fr"}).content.decode()

    assert Notification.objects.get().title == "Keine Benachrichtigungen"
    assert '<html lang="de">' in page


def test_mail_caused_by_the_api_is_in_the_language_of_the_installation(world, settings):
    settings.DEFAULT_LANGUAGE = "de"
    person = {"FirstName": "New", "LastName": "Comer", "Email": "new@print.example", "Username": "new.comer"}

    made = world.as_user(world.user).call("POST", "/user", {**person, "Password": PASSWORD})

    assert made.status_code == 200, made.content
    work_off(CONFIRMATION_TASK)
    assert "Guten Tag," in mail.outbox[0].body
    assert '<html lang="de">' in mail.outbox[0].alternatives[0][0]


def test_invitation_is_in_the_language_of_the_invited_person_else_of_the_inviter(world):
    User.objects.filter(pk=world.outsider.pk).update(language="es")
    User.objects.filter(pk=world.user.pk).update(language="de")

    for email in (world.outsider.email, "unknown@print.example"):
        invite_owner(caller=Caller.on_pages(world.user), application=world.application, email=email)

    spanish, german = (message.alternatives[0][0] for message in mail.outbox)
    assert '<html lang="es">' in spanish
    assert '<html lang="de">' in german


@pytest.mark.parametrize(
    ("path", "name", "content", "german"),
    [
        ("stores/font", "a.ttf", b"none", "Erlaubt sind nur TrueType- und OpenType-Dateien."),
        ("stores/outputprofile", "a.icc", b"none", "Die Datei ist kein ICC-Profil."),
        (
            "delivery/importrun",
            "a.zip",
            b"PK\3\4 cut off",
            "Die .zip-Datei ist beschädigt oder abgeschnitten",
        ),
        ("delivery/importrun", "a.csv", b"\xff\xfeZ\0", "Die Datei ist UTF-16."),
    ],
)
def test_refused_file_is_explained_in_the_language_of_the_page(world, client, path, name, content, german):
    client.force_login(world.operator)

    page = client.post(
        f"/admin/{path}/add/", {"file": SimpleUploadedFile(name, content)}, follow=True, headers=GERMAN
    )

    assert german in page.content.decode()


def test_inputs_for_files_are_in_the_language_of_the_page(world, client):
    client.force_login(world.operator)

    page = client.get("/admin/stores/font/add/", headers=GERMAN).content.decode()

    assert "Datei zum Hochladen wählen" in page
    assert "Choose file" not in page


@pytest.mark.parametrize("domain", DOMAINS)
def test_catalogs_hold_every_message_of_the_sources(domain):
    wanted = {(message.context, message.id) for message in messages(domain) if message.id}
    for language in LANGUAGES:
        catalog = catalog_of(language, domain)
        translated = {
            (message.context, message.id) for message in catalog if message.id and is_translated(message)
        }
        # `make messages` brings it up to date.
        assert wanted - translated == set()
        assert translated - wanted == set()


def test_every_message_of_the_scripts_is_found():
    held = {message.id[0] if message.pluralizable else message.id for message in messages("djangojs")}

    written = {text for _, script in scripts() for text in re.findall(r'gettext\(\s*"([^"]+)"', script)}
    assert written - held == set()


def test_sentences_of_the_scripts_are_messages():
    marked = r'//.*|gettext\(\s*"[^"]*"(?:,\s*"[^"]*")?'
    rest = {path: re.sub(marked, "", script) for path, script in scripts() if "reference" not in path}

    unmarked = {
        path: re.findall(r'["`][A-Z][a-z ][^"`\n]* [^"`\n]*["`]', script) for path, script in rest.items()
    }
    assert {path: found for path, found in unmarked.items() if found} == {}


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_keep_what_is_filled_in(language, domain):
    for message in catalog_of(language, domain):
        if not message.id or not message.string:
            continue
        said = message.string if isinstance(message.string, tuple) else (message.string,)
        wanted = message.id if isinstance(message.id, tuple) else (message.id,)
        assert sorted(FILLED.findall(said[-1])) == sorted(FILLED.findall(wanted[-1])), message.id


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_compiled_catalog_is_that_of_its_text(language, domain):
    assert path_of(language, domain, ".mo").read_bytes() == compiled(catalog_of(language, domain))


def test_new_language_begins_with_empty_catalogs(monkeypatch, tmp_path):
    monkeypatch.setattr(catalogs, "LOCALE", tmp_path)
    catalog = messages("djangojs")
    try:
        without = catalogs.update("fr", "djangojs", catalog)
    finally:
        catalog_of.cache_clear()

    assert without == len(catalog) > 0
    assert (tmp_path / "fr/LC_MESSAGES/djangojs.po").read_text().count('msgid "') > len(catalog)
    assert (tmp_path / "fr/LC_MESSAGES/djangojs.mo").exists()


def test_console_names_what_it_shows_in_the_readers_language(shop, client):
    client.force_login(shop.world.operator)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    order = shop.place(store="associated").json()["OrderID"]

    start = client.get("/admin/").content.decode()
    listed = client.get("/admin/stores/order/").content.decode()
    content = client.get(f"/admin/stores/order/{order}/change/").content.decode()
    stores = client.get("/admin/stores/store/").content.decode()

    assert ">Eingegangen</a>" in start
    assert {"Alle", "Zu erledigen", "Verspätet"} <= set(re.findall(r'<a href="\?[^>]*>([^<]+) <b>', listed))
    assert ">Empfänger</th>" in listed
    assert ">Annehmen</button>" in content
    assert "Firmenname" in stores
    for english in ("Received", "In production", "Newest first", "Recipient", "Mark as delivered"):
        for page in (start, listed, content):
            assert english not in page
