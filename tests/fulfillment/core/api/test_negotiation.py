import pytest
from django.http import HttpRequest
from django.test import RequestFactory

from fulfillment.core.api.responses import JSONRenderer, Negotiation, json_bytes
from fulfillment.core.http.head_limits import MAX_LENGTHS
from tests.support.costs import calls


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("", 200),
        ("*/*", 200),
        ("application/*", 200),
        ("application/json;q=0.1, text/html;q=0.9", 200),
        ("text/html, */*;q=0.1", 200),
        ("application/problem+json", 200),
        ("application/json;q=0", 406),
        ("text/html", 406),
        ("application/json;q=odd", 406),
        ("text/*", 406),
        (";;;,,", 406),
        ("[a-z]*", 406),
        ("app*/json", 406),
        ("application/j?on", 406),
        ("*/json", 406),
        ("*", 406),
        ("application/json;q=0, */*", 406),
        ("application/*;q=0, */*", 406),
        ("APPLICATION/JSON;Q=1", 200),
        ("text/html, application/json ; charset=utf-8 ; q=0.001", 200),
        ("application/json;q=7", 406),
    ],
)
def test_accept_header_is_honoured(world, accept, status):
    response = world.as_user(world.user).call("GET", "/application", headers={"Accept": accept})

    assert response.status_code == status


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/xml", "application/xml"),
        ("text/xml", "text/xml"),
        ("application/xml;q=0.1, */*", "application/json"),
        ("application/json;q=0.2, text/xml;q=0.7", "text/xml"),
        ("text/xml, application/json", "text/xml"),
        ("text/*, */*;q=0.9", "text/xml"),
        ("application/json;q=0, */*", "application/xml"),
    ],
)
def test_most_wanted_format_is_answered(world, accept, kind):
    path = f"/store/associated/user/{world.user.pk}"

    response = world.as_user(world.user).call("GET", path, headers={"Accept": accept})

    assert response["Content-Type"].split(";")[0] == kind


def test_accept_header_of_the_longest_kind_costs_a_few_calls_for_each_part():
    accept = ",".join(f"*a*{number:02}" + "*b" * 20 for number in range(20))
    request = RequestFactory().get("/", headers={"Accept": accept})

    assert len(accept) < MAX_LENGTHS["HTTP_ACCEPT"]
    assert calls(lambda: Negotiation().select_renderer(request, [JSONRenderer()])) < 500


def test_refusal_of_the_format_comes_after_the_credentials(db, client):
    assert client.get("/api/v1/application", headers={"Accept": "text/html"}).status_code == 401


def test_options_answers_the_methods_only(world):
    response = world.as_user(world.user).call("OPTIONS", "/application")

    assert response.status_code == 200
    assert {"GET", "POST"} <= set(response["Allow"].replace(" ", "").split(","))
    assert response.json() == {}


@pytest.mark.parametrize(
    ("header", "packed"),
    [
        ("gzip", True),
        ("br, gzip;q=0.5", True),
        ("GZIP", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, br", False),
        ("br", False),
        ("", False),
    ],
)
def test_gzip_is_sent_to_who_takes_it(header, packed):
    request = HttpRequest()
    request.META["HTTP_ACCEPT_ENCODING"] = header

    response = json_bytes(request, b" " * 5000, etag='W/"x"')

    assert ("Content-Encoding" in response) is packed
    assert response["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("name", ["a\nb", "a\x1bb", "\u202eabc", "a\u2066b", "\x7f", "a\u2028b"])
def test_invisible_characters_are_refused_in_names(world, name):
    response = world.as_user(world.user).call("POST", "/application", {"Name": name})

    assert response.json()["Errors"][0]["Code"] in {"control_character", "blank"}


def test_several_lines_are_taken_where_they_belong(world):
    body = {"Name": "A", "Description": "One\nTwo\tThree"}

    assert (
        world.as_user(world.user).call("POST", "/application", body).json()["Description"]
        == "One\nTwo\tThree"
    )


def test_key_that_begins_too_late_is_refused(world):
    body = {"Name": "A", "Keys": [{"StartDate": "9999-12-31T23:59:59Z"}]}

    response = world.as_user(world.user).call("POST", "/application", body)

    assert (response.status_code, response.json()["Code"]) == (400, "start_too_late")
