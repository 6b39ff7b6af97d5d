from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from accounts.callers import Caller
from accounts.models import AssociationRequest, Role
from applications.registration.models import Application
from applications.registration.services.applications import create_application
from fulfillment.core.secrets import decrypt
from tests.support.scenario import sign_in


def picture(side: int = 215) -> SimpleUploadedFile:
    out = BytesIO()
    Image.new("RGB", (side, side), "#225588").save(out, "PNG")
    return SimpleUploadedFile("icon.png", out.getvalue(), "image/png")


def test_application_is_registered_with_a_key(world, browser):
    response = browser.post("/applications/new", {"name": "Press Kit", "with_key": "on"})

    application = Application.objects.get(name="Press Kit")
    assert response["Location"] == f"/applications/{application.pk}"
    assert (application.keys.count(), application.client_type, application.user) == (
        1,
        "confidential",
        world.user,
    )
    assert "Press Kit created." in browser.get(response["Location"]).content.decode()


def test_without_a_key_it_is_a_public_client(world, browser):
    browser.post("/applications/new", {"name": "Phone"})

    application = Application.objects.get(name="Phone")
    assert (application.keys.count(), application.client_type) == (0, "public")


def test_refusals_stand_at_their_fields_and_keep_what_was_typed(world, browser):
    values = {"name": "Bad", "reply_urls": "http://far.example/cb", "application_url": "javascript:alert(1)"}

    response = browser.post(f"/applications/{world.application.pk}/settings", values)

    assert set(response.context["form"].errors) == {"reply_urls", "application_url"}
    assert response.context["form"].errors["application_url"] == ["Enter a valid URL."]
    assert "must use https" in response.context["form"].errors["reply_urls"][0]
    assert "http://far.example/cb" in response.content.decode()
    assert not Application.objects.filter(name="Bad").exists()


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("name", "\u200b\u2060"),
        ("name", "\u202egnitnirP"),
        ("name", "Bell\x07"),
        ("support_phone", "1\u2066"),
        ("description", "a\x1bb"),
    ],
)
def test_text_that_hides_something_is_refused_in_portal_and_console(world, browser, client, field, text):
    values = {"name": "Seen", field: text}
    settings_page = f"/applications/{world.application.pk}/settings"
    assert set(browser.post(settings_page, values).context["form"].errors) == {field}
    sign_in(client, world.operator)
    tables = {f"{name}-{count}_FORMS": "0" for name in ("keys", "roles") for count in ("TOTAL", "INITIAL")}

    page = client.post("/admin/applications/application/add/", {**values, **tables})

    assert set(page.context["adminform"].form.errors) == {field}
    assert not Application.objects.filter(name__in=["Seen", text]).exists()
    browser.post(settings_page, {"name": "Seen", "description": "Two\r\nlines, \u05e9\u05dc\u05d5\u05dd."})
    assert Application.objects.filter(name="Seen").exists()


def test_redirect_uris_are_one_a_line(world, browser):
    values = {"name": "Mail Studio", "reply_urls": "https://a.example/cb\r\n\r\n https://b.example/cb "}

    browser.post(f"/applications/{world.application.pk}/settings", values)

    world.application.refresh_from_db()
    assert world.application.reply_urls == ["https://a.example/cb", "https://b.example/cb"]


def test_settings_change_the_application(world, browser):
    address = f"/applications/{world.application.pk}/settings"
    assert "https://mailstudio.example/callback" in browser.get(address).content.decode()

    browser.post(address, {"name": "Mail Studio 2", "support_email": "help@mailstudio.example"})

    world.application.refresh_from_db()
    assert (world.application.name, world.application.is_enabled) == ("Mail Studio 2", False)
    assert (world.application.reply_urls, world.application.support_email) == ([], "help@mailstudio.example")


def test_form_opened_before_another_change_does_not_write_over_it(world, browser):
    address = f"/applications/{world.application.pk}/settings"
    opened = browser.get(address).context["form"].loaded_version
    Application.objects.filter(pk=world.application.pk).update(description="Of somebody else")
    values = {"name": "Mine", "description": "", "reply_urls": "", "is_enabled": "on"}

    refused = browser.post(address, {**values, "loaded_version": opened})
    wrong = browser.post(address, {**values, "name": "", "loaded_version": opened})
    known = refused.context["form"].loaded_version

    assert "Another user changed this record after you opened it" in refused.content.decode()
    assert 'value="Mine"' in refused.content.decode()
    assert Application.objects.get(pk=world.application.pk).description == "Of somebody else"
    assert known != opened
    assert f'name="loaded_version" value="{known}"' in wrong.content.decode()
    assert browser.post(address, {**values, "loaded_version": known}).status_code == 302
    assert Application.objects.get(pk=world.application.pk).name == "Mine"


def test_refused_change_shows_the_stored_name_above_the_form(world, browser):
    response = browser.post(
        f"/applications/{world.application.pk}/settings", {"name": "Renamed", "reply_urls": "nonsense"}
    )

    page = response.content.decode()
    assert "<h1>Mail Studio</h1>" in page
    assert 'value="Renamed"' in page


PARTS = ["", "/settings", "/keys", "/icon", "/stores", "/owners", "/webhooks", "/try"]


@pytest.mark.parametrize("part", PARTS)
def test_outsiders_are_refused_on_every_page(world, signed_in, part):
    address = f"/applications/{world.application.pk}{part}"

    response = signed_in(world.outsider).get(address)

    assert response.status_code == 403
    assert "Mail Studio" not in response.content.decode()
    assert signed_in(world.outsider).post(address, {"name": "Mine"}).status_code in {403, 405}
    assert signed_in(world.operator).get(address).status_code == 200


@pytest.mark.parametrize("part", PARTS)
def test_unknown_applications_are_not_found(world, browser, part):
    assert browser.get(f"/applications/4f9e8a2c-0000-4000-8000-000000000000{part}").status_code == 404
    assert browser.get(f"/applications/nothing{part}").status_code == 404


def test_readers_see_and_change_nothing(world, signed_in):
    Role.objects.create(user=world.outsider, application=world.application, grant="Application.Self.Read")
    reader = signed_in(world.outsider)
    base = f"/applications/{world.application.pk}"

    for part in ("", "/keys", "/icon", "/stores", "/try"):
        page = reader.get(f"{base}{part}").content.decode()
        assert '<form method="post" action="/accounts/logout/">' in page
        assert '<form class="confirmed" method="post"' in page
        assert page.count('method="post"') == 2, part
    assert reader.get(f"{base}/settings").status_code == 403
    for part in ("/settings", "/keys", "/icon", "/stores"):
        assert reader.post(f"{base}{part}", {}).status_code == 403, part


def test_list_searches_and_pages_with_a_fixed_number_of_queries(
    world, signed_in, django_assert_max_num_queries
):
    caller = Caller.on_pages(world.user)
    for number in range(30):
        create_application(caller=caller, values={"Name": f"Batch {number:02}"})
    browser = signed_in(world.user)

    with django_assert_max_num_queries(7):
        first = browser.get("/applications").content.decode()
    assert "Page 1 of 2" in first
    assert "Other" not in first
    assert browser.get("/applications?q=atch+2").content.decode().count('class="rows-title"') == 10
    assert "Nothing matches" in browser.get("/applications?q=zebra").content.decode()
    assert browser.get("/applications?page=99").status_code == 200


def test_icon_is_uploaded_and_served_for_ever(world, browser, client):
    address = f"/applications/{world.application.pk}/icon"

    assert browser.post(address, {"icon": picture()})["Location"] == address

    world.application.refresh_from_db()
    served = client.get(f"/icons/{world.application.icon.sha256}.png")
    assert (served["Content-Type"], "immutable" in served["Cache-Control"]) == ("image/png", True)
    assert Image.open(BytesIO(served.content)).size == (215, 215)
    small = client.get(f"/icons/{world.application.icon.sha256}.png?size=94")
    assert Image.open(BytesIO(small.content)).size == (94, 94)
    assert client.get("/icons/0000.png").status_code == 404


def test_wrong_icon_is_refused_at_the_field(world, browser):
    response = browser.post(f"/applications/{world.application.pk}/icon", {"icon": picture(100)})

    assert "100 × 100" in response.context["form"].errors["icon"][0]
    assert browser.post(f"/applications/{world.application.pk}/icon", {}).context["form"].errors["icon"]


def test_try_it_fills_in_secrets_only_when_requested(world, browser, stolen):
    address = f"/applications/{world.application.pk}/try"
    secret = decrypt(world.application.keys.get().ciphertext)

    assert secret not in browser.get(address).content.decode()
    requested = stolen.get(f"{address}?fill").content.decode()
    filled = browser.get(f"{address}?fill").content.decode()

    assert secret not in requested

    assert secret in filled
    assert "YOUR_" not in filled
    assert "/store/associated/product" in filled


def test_people_ask_to_join_an_application_of_others(world, signed_in):
    newcomer = signed_in(world.outsider)

    for named in (world.application.client_id, str(world.application.pk)):
        newcomer.post("/applications/join", {"application": named, "message": "I work on it"})

    requested = AssociationRequest.objects.get()
    assert (requested.user, requested.application, requested.store) == (
        world.outsider,
        world.application,
        None,
    )
    assert "Mail Studio" in newcomer.get("/applications/join").content.decode()

    assert signed_in(world.user).post(f"/applications/join/{requested.pk}/withdraw").status_code == 403
    newcomer.post(f"/applications/join/{requested.pk}/withdraw")
    requested.refresh_from_db()
    assert requested.state == "Withdrawn"
    response = newcomer.post("/applications/join", {"application": "nothing"})
    assert "application" in response.context["form"].errors


@pytest.mark.parametrize("name", ["user", "operator"])
def test_every_page_takes_few_queries(world, signed_in, django_assert_max_num_queries, name):
    person = signed_in(getattr(world, name))
    base = f"/applications/{world.application.pk}"
    own = ["/", "/guide", "/applications", "/applications/new", "/applications/join"]
    profile = ["/profile", "/profile/keys", "/profile/roles", "/profile/authorizations"]

    for address in [*own, *profile, *(f"{base}{part}" for part in PARTS)]:
        with django_assert_max_num_queries(12):
            assert person.get(address).status_code == 200, address
