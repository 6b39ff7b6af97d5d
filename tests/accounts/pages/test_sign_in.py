import pytest
from django.test import Client
from django.utils.encoding import iri_to_uri

from accounts.models import User
from tests.support.browser.portal_sign_in import NEW, sign_in, without_tokens
from tests.support.name_examples import REFUSED
from tests.support.scenario import PASSWORD

REFUSAL = "do not match an account"


@pytest.mark.parametrize("name", ["user", "USER", "user@print.example", "User@Print.Example"])
def test_sign_in_takes_the_name_with_or_without_domain(world, client, name):
    response = sign_in(client, name)

    assert (response.status_code, response["Location"]) == (302, "/")
    assert client.session["_auth_user_id"] == str(world.user.pk)


def test_unknown_user_wrong_password_and_inactive_user_read_the_same(world, client):
    world.outsider.is_active = False
    world.outsider.save()

    pages = [
        sign_in(client, name, password).content.decode().replace(f'value="{name}"', "")
        for name, password in (("nobody", PASSWORD), ("user", "wrong"), ("outsider", PASSWORD))
    ]

    assert all(REFUSAL in page for page in pages)
    assert len({without_tokens(page) for page in pages}) == 1


def test_refused_sign_in_keeps_the_name_and_forgets_the_password(world, client):
    page = sign_in(client, "user@print.example", "mistyped-secret").content.decode()

    assert 'value="user@print.example"' in page
    assert "mistyped-secret" not in page


def test_sign_in_continues_to_next_on_this_site_only(world, client):
    assert sign_in(client, "user", next="/applications")["Location"] == "/applications"
    assert sign_in(Client(), "user", next="https://evil.example/")["Location"] == "/"
    assert sign_in(Client(), "user", next="//evil.example/")["Location"] == "/"


@pytest.mark.parametrize("target", ["default", "id", "?page=2", "a b"])
def test_redirect_targets_are_urls_and_no_view_names(world, client, settings, target):
    settings.SIGN_UP_ENABLED = True

    assert sign_in(client, "user", next=target)["Location"] == iri_to_uri(target)
    assert client.get("/accounts/signup/", {"next": target})["Location"] == iri_to_uri(target)


def test_sign_in_for_an_application_continues_without_a_form_redirect(world, client):
    response = sign_in(client, "user", next="/oauth/authorize?client_id=a&state=b")

    assert response.status_code == 200
    assert 'content="0;url=/oauth/authorize?client_id=a&amp;state=b"' in response.content.decode()


def test_name_longer_than_a_username_may_carry_its_domain(world, client):
    page = client.get("/accounts/login/").content.decode()

    assert 'maxlength="404"' in page


def test_sign_out_needs_a_post(world, browser):
    assert browser.get("/accounts/logout/").status_code == 405
    assert browser.post("/accounts/logout/")["Location"] == "/"
    assert "_auth_user_id" not in browser.session


def test_forms_are_protected_against_foreign_sites(world):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(world.operator)

    for address in (
        "/admin/logout/",
        "/admin/stores/order/",
        "/admin/procrastinate/procrastinatejob/",
        f"/applications/{world.application.pk}/keys",
        "/accounts/password-change/",
        "/profile/email",
        "/accounts/login/",
        "/accounts/logout/",
        "/accounts/signup/",
        "/applications/new",
        "/profile",
        "/profile/keys",
    ):
        assert strict.post(address, {}).status_code == 403, address


def test_sign_up_makes_the_user_and_signs_in(world, client, settings):
    settings.DEFAULT_TENANT_DOMAIN = "print.example"

    response = client.post("/accounts/signup/", NEW)

    user = User.objects.get(username="nora")
    assert response["Location"] == "/"
    assert (user.tenant, user.check_password(NEW["password"])) == (world.tenant, True)
    assert user.subscription.keys.count() == 2
    assert client.session["_auth_user_id"] == str(user.pk)


def test_sign_up_makes_its_tenant_when_the_service_is_new(world, client, settings):
    settings.DEFAULT_TENANT_DOMAIN = "fresh.example"

    client.post("/accounts/signup/", NEW)

    assert User.objects.get(username="nora").tenant.domain == "fresh.example"


def test_refused_sign_up_says_where_and_keeps_what_was_typed(world, client, settings):
    settings.DEFAULT_TENANT_DOMAIN = "print.example"

    response = client.post("/accounts/signup/", {**NEW, "username": "USER", "password": "12345"})
    errors = response.context["form"].errors
    assert set(errors) == {"username", "password"}
    assert 'value="nora@print.example"' in response.content.decode()

    response = client.post("/accounts/signup/", {**NEW, "username": "USER"})
    assert "already exists" in response.context["form"].errors["username"][0]


@pytest.mark.parametrize("name", [name for name in REFUSED if name and "\0" not in name], ids=ascii)
def test_sign_up_with_a_name_that_resembles_another_is_refused(world, client, name):
    response = client.post("/accounts/signup/", {**NEW, "username": name})

    assert set(response.context["form"].errors) == {"username"}
    assert User.objects.count() == 3


def test_sign_up_reveals_a_taken_name_but_no_taken_address(world, client):
    """The promise of docs/access.md: names are no secret, who has which e-mail address is one."""
    reported = [
        client.post("/accounts/signup/", {**NEW, "username": "user", "email": f"{name}@print.example"})
        for name in ("user", "nobody")
    ]

    assert reported[0].context["form"].errors == reported[1].context["form"].errors
    assert set(reported[0].context["form"].errors) == {"username"}
    assert client.post("/accounts/signup/", {**NEW, "email": "user@print.example"}).status_code == 302


def test_sign_up_can_be_closed(world, client, settings):
    settings.SIGN_UP_ENABLED = False

    response = client.post("/accounts/signup/", NEW)

    assert response.status_code == 403
    assert "Sign-up is closed" in response.content.decode()
    assert not User.objects.filter(username="nora").exists()
    assert "Create an account" not in client.get("/accounts/login/").content.decode()


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("America/Denver", "America/Denver"), ("Mars/Olympus", "UTC"), ("../etc", "UTC"), ("", "UTC")],
)
def test_new_account_has_the_time_zone_of_its_browser(world, client, sent, kept):
    client.post("/accounts/signup/", {**NEW, "time_zone": sent})

    assert User.objects.get(username="nora").time_zone == kept
    assert f"Times are in {kept}." in client.get("/profile").content.decode()


@pytest.mark.parametrize(("stored", "kept"), [("UTC", "America/Denver"), ("Asia/Tokyo", "Asia/Tokyo")])
def test_first_sign_in_takes_the_time_zone_of_the_browser_once(world, client, stored, kept):
    world.user.time_zone = stored
    world.user.save()
    sign_in(client, "user", time_zone="America/Denver")
    client.post("/accounts/logout/")
    sign_in(client, "user", time_zone="Europe/Berlin")

    world.user.refresh_from_db()
    assert world.user.time_zone == kept
