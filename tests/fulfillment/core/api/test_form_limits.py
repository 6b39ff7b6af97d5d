"""What a form may cost of who is not signed in, of clients of the authorization server, and of who is."""

import pytest
from django.test import Client

from accounts import rate_limits
from accounts.rate_limits import RateLimitStatus
from fulfillment.core.api.parsing import (
    FEW_FIELDS,
    PRINT_FILE_BYTES,
    SIGNED_IN_BYTES,
    SIGNED_IN_FORM,
    SMALL_FORM,
    URL_ENCODED,
)
from tests.factories.orders import make_product
from tests.support.costs import calls

MULTIPART = "multipart/form-data; boundary=x"
PART = b"--x\r\nContent-Disposition:form-data;name=a\r\n\r\n\r\n"
ANONYMOUS = [
    "/accounts/login/",
    "/accounts/signup/",
    "/accounts/password-reset/",
    "/oauth/authorize",
    "/admin/login/",
]
CLIENTS = ["/oauth/token", "/oauth/revoke"]
HOSTILE = {
    "encoded": (b"a=" + b"%41" * 340_000, URL_ENCODED),
    "encoded, as much as is read": (b"a=" + b"%41" * (SMALL_FORM // 3 - 1), URL_ENCODED),
    "fields": (b"a&" * 500_000, URL_ENCODED),
    "as many fields as fit": (b"a&" * (SMALL_FORM // 2), URL_ENCODED),
    "parts": (PART * 20_000, MULTIPART),
    "as many parts as fit": (PART * (SMALL_FORM // len(PART)), MULTIPART),
    "no boundary": (PART * 600, "multipart/form-data"),
    "JSON": (b"[" * SMALL_FORM, "application/json"),
}


def send(client, path, body, content_type, **extra):
    return client.generic("POST", path, body, content_type=content_type, **extra)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("path", ANONYMOUS + CLIENTS)
def test_hostile_anonymous_form_costs_no_more_than_a_page(db, client, path, name):
    status = send(client, path, *HOSTILE[name]).status_code

    assert status < 500
    # The form is shown again; a field that was parsed would cost several calls.
    assert calls(lambda: send(client, path, *HOSTILE[name])) < 50_000


@pytest.mark.parametrize("path", ANONYMOUS)
def test_anonymous_forms_have_few_fields(db, client, path):
    fields = b"&".join([b"a=b"] * (FEW_FIELDS + 1))

    for body, kind in ((fields, URL_ENCODED), (PART * (FEW_FIELDS + 1), MULTIPART)):
        response = send(client, path, body, kind)
        assert (response.status_code, response.json()["Code"]) == (400, "too_many_fields")
    assert send(client, path, b"a=" + b"b" * SMALL_FORM, URL_ENCODED).status_code == 413


@pytest.mark.parametrize("path", CLIENTS)
def test_clients_forms_are_short_and_refused_in_the_form_of_oauth(db, client, path):
    long = send(client, path, b"grant_type=" + b"b" * SMALL_FORM, URL_ENCODED)
    many = send(client, path, b"&".join([b"a=b"] * (FEW_FIELDS + 1)), URL_ENCODED)

    assert (long.status_code, long.json()["error"]) == (413, "invalid_request")
    assert (many.status_code, many.json()["error"]) == (400, "invalid_request")


def test_who_is_signed_in_sends_longer_forms(world):
    person, operator = Client(), Client()
    person.force_login(world.outsider)
    operator.force_login(world.operator)
    long, longer = b"a=" + b"b" * SMALL_FORM, b"a=" + b"b" * SIGNED_IN_FORM
    many = b"&".join([b"_selected_action=1"] * 1000)

    assert send(person, "/profile", long, URL_ENCODED).status_code == 200
    assert send(person, "/profile", longer, URL_ENCODED).status_code == 413
    assert send(operator, "/admin/stores/order/", longer, URL_ENCODED).status_code != 413
    assert send(operator, "/admin/stores/order/", many, URL_ENCODED).status_code not in {400, 413}


def test_large_forms_are_taken_by_pages_that_need_them_a_few_times_a_minute(world, settings):
    """A form with files may write 32 MB to the disk: it is refused before it is parsed."""
    settings.UPLOADS_PER_MINUTE = 2
    person, other = Client(), Client()
    person.force_login(world.user)
    other.force_login(world.outsider)
    part = b"--x\r\nContent-Disposition:form-data;name=f;filename=f\r\n\r\n"
    large = part + b"b" * SIGNED_IN_FORM + b"\r\n--x--\r\n"
    icon = f"/applications/{world.application.pk}/icon"

    assert send(person, "/profile", large, MULTIPART).status_code == 413
    answers = [send(person, icon, large, MULTIPART) for _ in range(3)]
    assert [response.status_code for response in answers] == [200, 200, 429]
    assert 0 < int(answers[2]["Retry-After"]) <= 60
    assert calls(lambda: send(person, icon, large, MULTIPART)) < 10_000
    assert send(person, icon, b"--x--", MULTIPART).status_code == 200
    assert send(other, "/catalog/demo/none", large, MULTIPART).status_code == 404


def test_print_ready_pdf_is_taken_by_the_page_that_checks_it_alone(world):
    make_product(world.demo, "card")
    person = Client()
    person.force_login(world.user)
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="f.pdf"\r\n\r\n'
    pdf = part + b"%PDF-" + bytes(SIGNED_IN_BYTES) + b"\r\n--x--\r\n"
    artwork = "/catalog/demo/card/artwork/asset"

    assert "The PDF is damaged." in send(person, artwork, pdf, MULTIPART).content.decode()
    assert (
        send(person, artwork, pdf + bytes(PRINT_FILE_BYTES - SIGNED_IN_BYTES), MULTIPART).status_code == 413
    )
    icon = f"/applications/{world.application.pk}/icon"
    assert send(person, icon, pdf, MULTIPART).status_code == 413


def test_flood_from_one_address_is_refused_before_its_form_is_parsed(db, client, settings):
    bucket = f"{rate_limits.TOKEN_FAILURES}:198.51.100.7"
    rate_limits.remember_refusal(
        bucket, RateLimitStatus(rate_limits.TOKEN_FAILURES, quota=1, used=1000, resets_in=60)
    )
    body = b"grant_type=client_credentials&scope=" + b"%41" * 10_000

    def flood():
        return send(client, "/oauth/token", body, URL_ENCODED, REMOTE_ADDR="198.51.100.7")

    assert flood().status_code == 429
    assert calls(flood) < 2000
