"""What is read from a request of the token endpoint, before any account is looked up."""

import base64

import pytest
from oauthlib.common import Request
from oauthlib.oauth2.rfc6749 import errors

from applications.oauth.credentials import ClientCredentials, read_credentials


def sent(body: str = "", **headers: str) -> Request:
    return Request("https://print.example/oauth/token", "POST", body, headers)


def basic(text: str) -> str:
    return f"Basic {base64.b64encode(text.encode()).decode()}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("client_id=studio&client_secret=s3", ClientCredentials("studio", "s3")),
        ("client_id=studio", ClientCredentials("studio", "")),
        ("client_secret=s3", ClientCredentials("", "s3")),
        ("", ClientCredentials("", "")),
    ],
)
def test_form_is_read_as_it_is(body, expected):
    assert read_credentials(sent(body)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("studio:s3", ClientCredentials("studio", "s3")),
        ("studio:a:b", ClientCredentials("studio", "a:b")),
        ("stu%3Adio:a+b%25", ClientCredentials("stu:dio", "a b%")),
        ("studio:", ClientCredentials("studio", "")),
    ],
)
def test_basic_halves_are_form_encoded_and_part_at_the_first_colon(text, expected):
    assert read_credentials(sent(Authorization=basic(text))) == expected
    assert read_credentials(sent("client_id=" + expected.client_id, Authorization=basic(text))) == expected


@pytest.mark.parametrize(
    "header",
    [basic("studio"), "Basic", "Basic !!!!", "Basic c3R1ZGlvOnM", "Bearer c3R1ZGlvOnMz", "Basic /////w=="],
)
def test_other_header_is_no_client(header):
    request = sent(Authorization=header)

    with pytest.raises(errors.InvalidClientError) as refused:
        read_credentials(request)

    assert refused.value.description == "The Authorization header must contain Basic credentials."
    assert refused.value.uri is None
    assert refused.value.status_code == 401


@pytest.mark.parametrize(
    ("body", "description"),
    [
        (
            "client_id=studio&client_secret=s3",
            "The client credentials were sent twice: use either the Authorization header or the form.",
        ),
        ("client_id=hub", "client_id names another client than the Authorization header."),
    ],
)
def test_two_ways_at_once_are_refused(body, description):
    with pytest.raises(errors.InvalidRequestError) as refused:
        read_credentials(sent(body, Authorization=basic("studio:s3")))

    assert refused.value.description == description
    assert refused.value.client_id == body.split("&")[0].removeprefix("client_id=")
