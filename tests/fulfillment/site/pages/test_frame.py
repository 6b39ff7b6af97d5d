"""What all pages share: the start page, errors, the security policy, the words of the consent page."""

import gzip
import re

import pytest
from django.db import OperationalError
from django.test import Client

from accounts.models import Role
from accounts.permissions import Permission
from applications.registration.models import Application

CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_start_page_differs_by_visitor(world, client, signed_in):
    anonymous = client.get("/").content.decode()
    newcomer = signed_in(world.outsider)
    Role.objects.filter(user=world.outsider).delete()
    Application.objects.filter(pk=world.other_application.pk).update(user=None)

    assert "Every print shop behind one API" in anonymous
    assert "Mail Studio" in signed_in(world.user).get("/").content.decode()
    assert "Create your application" in newcomer.get("/").content.decode()


def test_bar_leads_operators_and_staff_of_stores_to_the_console(world, client, signed_in):
    def has_link(browser: Client) -> bool:
        return 'href="/admin/"' in browser.get("/").content.decode()

    assert not has_link(client)
    assert not has_link(signed_in(world.outsider))
    assert has_link(signed_in(world.operator))
    Role.objects.create(user=world.outsider, grant="Order.All.Read", store=world.associated)
    assert has_link(signed_in(world.outsider))


def test_guide_speaks_three_languages(client, db):
    page = client.get("/guide").content.decode()

    for language in ("curl", "python", "javascript"):
        assert page.count(f'data-in="{language}"') == 4


def test_pages_carry_no_inline_script_or_style(world, signed_in):
    operator = signed_in(world.operator)
    addresses = ["/", "/guide", "/profile", "/applications", f"/applications/{world.application.pk}/icon"]
    for page in (operator.get(address).content.decode() for address in addresses):
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page)


def test_consent_page_names_applicant_and_permissions(world, browser):
    response = browser.get(
        "/oauth/authorize",
        {
            "response_type": "code",
            "client_id": world.application.client_id,
            "redirect_uri": "https://mailstudio.example/callback",
            "scope": "Store.Self.Read Order.Self.Write",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "xyz",
        },
    )

    page = response.content.decode()
    assert "Mail Studio requests access" in page
    assert "Signed in as user@print.example" in page
    assert str(Permission.STORE_SELF_READ.label) in page
    assert str(Permission.ORDER_ALL_READ.label) not in page
    assert "https://mailstudio.example/callback" in page
    assert 'name="state" value="xyz"' in page


def test_unanswerable_authorization_request_is_explained(world, browser):
    response = browser.get("/oauth/authorize", {"client_id": "nobody", "response_type": "code"})

    assert response.status_code == 400
    assert "request cannot be processed" in response.content.decode()


def test_pages_are_compressed_with_lengths_that_reveal_nothing(client, db):
    plain = client.get("/guide").content
    compressed = [client.get("/guide", headers={"Accept-Encoding": "gzip"}) for _ in range(8)]

    assert {gzip.decompress(response.content) for response in compressed} == {plain}
    assert {response["Content-Encoding"] for response in compressed} == {"gzip"}
    assert len({len(response.content) for response in compressed}) > 1
    assert max(len(response.content) for response in compressed) < len(plain) / 2


def test_errors_are_pages_and_problems_below_the_api(world, client, browser):
    page = browser.get("/nothing-here")
    assert (page.status_code, page["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "Page not found" in page.content.decode()
    assert "urlpatterns" not in page.content.decode()
    assert client.get("/api/v1/nothing-here")["Content-Type"] == "application/problem+json"


def test_foreign_application_says_how_to_ask(world, signed_in):
    page = signed_in(world.outsider).get(f"/applications/{world.application.pk}").content.decode()

    assert "no relationship with this application" in page


@pytest.mark.parametrize(("error", "status"), [(OperationalError("gone"), 503), (RuntimeError("bug"), 500)])
def test_lost_database_is_distinguished_from_a_bug(world, monkeypatch, error, status):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr("applications.registration.pages.home.applications_for", fail)
    client = Client(raise_request_exception=False)
    client.force_login(world.user)

    response = client.get("/")

    assert response.status_code == status
    assert response.headers.get("Retry-After") == ("5" if status == 503 else None)
    page = response.content.decode()
    assert "gone" not in page
    assert (response.headers["X-Request-ID"] in page) == (status == 500)


def test_error_pages_need_no_database(client, monkeypatch):
    def fail(*args, **kwargs):
        raise OperationalError("gone")

    monkeypatch.setattr("django.db.backends.base.base.BaseDatabaseWrapper.cursor", fail)
    client = Client(raise_request_exception=False)
    client.cookies["sessionid"] = "x" * 32

    assert client.get("/").status_code == 503
