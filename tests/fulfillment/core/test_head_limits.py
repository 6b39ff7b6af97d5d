"""What the head of a request may cost and how long it may be, before anything looks at what it says."""

import io
from ipaddress import ip_network

import pytest
from django.http import HttpResponse
from django.urls import reverse

from accounts import rate_limits
from fulfillment.core.http.head_limits import (
    MAX_HEAD_LENGTH,
    MAX_HEADER_LENGTH,
    MAX_HEADERS,
    MAX_LENGTHS,
    MAX_PARAMETERS,
    MAX_PARTS,
)
from fulfillment.site.proxies import client_address
from tests.support.costs import calls
from tests.support.scenario import ApiClient
from tests.support.servers.web_handler import web_handler

# The longest header the web server lets pass.
LINE = 390_000


def environ(**variables):
    return {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": "/api/v1/store",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "REMOTE_ADDR": "198.51.100.7",
        "wsgi.input": io.BytesIO(),
        "wsgi.url_scheme": "http",
        **variables,
    }


@pytest.fixture(scope="module")
def handler():
    with web_handler() as handler:
        yield handler


@pytest.fixture(autouse=True)
def proxy_that_is_believed(settings):
    """Proxy headers of untrusted peers are dropped unread."""
    settings.TRUSTED_PROXIES = (ip_network("198.51.100.0/24"),)


def answer(handler, **variables):
    """The status and the body that the whole service answers with, from the first line of Python on."""
    seen = []
    response = handler(environ(**variables), lambda status, headers, *rest: seen.append(status))
    body = b"".join(response)
    response.close()
    return int(seen[0][:3]), body.decode(errors="replace")


HOSTILE = {
    "Accept": {"HTTP_ACCEPT": ",".join(f"*a*{number}*b*" for number in range(LINE // 12))},
    "Accept of one part": {"HTTP_ACCEPT": "*a" * (LINE // 2)},
    "Accept-Encoding": {"HTTP_ACCEPT_ENCODING": "gzip;q=0" + " ;" * (LINE // 2)},
    "Accept-Language": {"HTTP_ACCEPT_LANGUAGE": "a-b;q=1," * (LINE // 8)},
    "Authorization": {"HTTP_AUTHORIZATION": "Bearer" + " " * LINE},
    "Cookie": {"HTTP_COOKIE": "a=b;" * (LINE // 4)},
    "If-None-Match": {"HTTP_IF_NONE_MATCH": '"a",' * (LINE // 4)},
    "If-Match": {"HTTP_IF_MATCH": '"a",' * (LINE // 4)},
    "Idempotency-Key": {"HTTP_IDEMPOTENCY_KEY": "a" * LINE},
    "Range": {"HTTP_RANGE": "bytes=" + "1-2," * (LINE // 4)},
    "X-Forwarded-For": {"HTTP_X_FORWARDED_FOR": "1.1.1.1," * (LINE // 8)},
    "Content-Type": {"CONTENT_TYPE": "application/json" + ";" * LINE},
    "Content-Type of quotes": {"CONTENT_TYPE": 'a;b="' + '\\";' * (LINE // 3)},
    "path": {"PATH_INFO": "/" + "\xff" * 60_000},
    "query": {"QUERY_STRING": "a&" * 30_000},
    "traceparent": {"HTTP_TRACEPARENT": "00-" * (LINE // 3)},
    "something unread": {"HTTP_X_ANYTHING": "a" * LINE},
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("path", ["/api/v1/store", "/accounts/login/", "/admin/", "/static/portal.css"])
def test_hostile_head_is_refused_unread(db, handler, name, path):
    said = {"PATH_INFO": path} | HOSTILE[name]

    status, body = answer(handler, **said)

    assert status in {414, 431}, body
    assert calls(lambda: answer(handler, **said)) < 1000


def test_forwarded_addresses_of_a_proxy_are_read_from_their_end():
    assert calls(lambda: client_address("10.1.1.1", "," * LINE, ())) < 50


@pytest.mark.parametrize(
    ("name", "longest"),
    [*MAX_LENGTHS.items(), ("HTTP_COOKIE", MAX_HEADER_LENGTH), ("HTTP_X_ANYTHING", MAX_HEADER_LENGTH)],
)
def test_header_is_read_up_to_its_limit(db, handler, name, longest):
    filler = "1" if name == "CONTENT_LENGTH" else "a"

    status, body = answer(handler, **{name: filler * (longest + 1)})

    shown = name.removeprefix("HTTP_").replace("_", "-").title()
    assert (status, f"The header {shown} has more than {longest:,} characters" in body) == (431, True)
    assert answer(handler, **{name: filler * min(longest, 64)})[0] != 431


@pytest.mark.parametrize("separator", [",", ";"])
def test_header_is_read_up_to_its_number_of_parts(db, handler, separator):
    status, body = answer(handler, HTTP_COOKIE=separator.join(["a"] * (MAX_PARTS + 1)))

    assert (status, f"more than {MAX_PARTS} parts" in body) == (431, True)
    assert answer(handler, HTTP_COOKIE=separator.join(["a"] * MAX_PARTS))[0] != 431


def test_headers_are_read_up_to_their_size_and_number_together(db, handler):
    large = {f"HTTP_X_{number}": "a" * 5000 for number in range(4)}
    many = {f"HTTP_X_{number}": "a" for number in range(MAX_HEADERS + 1)}

    assert f"at most {MAX_HEAD_LENGTH:,} are read" in answer(handler, **large)[1]
    assert f"at most {MAX_HEADERS} are read" in answer(handler, **many)[1]


def test_query_is_read_up_to_its_number_of_parameters(db, handler):
    status, body = answer(handler, QUERY_STRING="a=b&" * MAX_PARAMETERS)

    assert (status, '"too_many_parameters"' in body) == (400, True)
    assert answer(handler, QUERY_STRING="&".join(["a=b"] * MAX_PARAMETERS))[0] == 401


def test_browsers_usual_head_is_read(db, client):
    usual = {
        "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
        "Accept-Language": "de-AT,de;q=0.9,en-GB;q=0.8,en;q=0.7,fr;q=0.6,it;q=0.5,sl;q=0.4,hr;q=0.3",
        "Accept-Encoding": "gzip, deflate, br, zstd",
        "Cookie": "; ".join(f"name{number}={'v' * 60}" for number in range(60)),
        "Referer": "http://testserver/" + "a" * 4000,
        "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0",
    }

    assert client.get(reverse("login"), headers=usual).status_code == 200


def exhaust(settings):
    settings.ADDRESS_REQUESTS_PER_MINUTE = 1
    for _ in range(2):
        ApiClient().call("GET", "/store", REMOTE_ADDR="198.51.100.7")
    assert rate_limits.cached_rejection("address:198.51.100.7")


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"HTTP_AUTHORIZATION": "Bearer nonsense"},
        {"HTTP_AUTHORIZATION": "Bearer " + "x" * LINE},
        {"HTTP_AUTHORIZATION": "Bearer nonsense", **HOSTILE["Accept"]},
        {"HTTP_AUTHORIZATION": "Bearer nonsense", "HTTP_ACCEPT": "*a*b" * 240},
        {"HTTP_AUTHORIZATION": "Bearer nonsense", **HOSTILE["Content-Type"]},
        {"HTTP_AUTHORIZATION": "Bearer nonsense", "REQUEST_METHOD": "POST", "CONTENT_LENGTH": "900000"},
    ],
    ids=["bare", "token", "long token", "accept", "short accept", "content type", "body"],
)
def test_address_over_its_limit_is_refused_unread(db, handler, settings, said):
    exhaust(settings)
    body = io.BytesIO(b"[" * 900_000)

    assert answer(handler, **said, **{"wsgi.input": body})[0] == 429
    assert body.tell() == 0
    assert calls(lambda: answer(handler, **said)) < 1000


def test_address_over_its_limit_leaves_valid_tokens_working(world, settings):
    client = world.as_application()
    exhaust(settings)

    assert client.call("GET", "/store", REMOTE_ADDR="198.51.100.7").status_code == 200
    anonymous = ApiClient("sfa_unknown", client.key)
    assert anonymous.call("GET", "/store", REMOTE_ADDR="198.51.100.7").status_code == 429


def test_cached_refusal_with_a_wrong_token_runs_one_query(world, settings, django_assert_max_num_queries):
    exhaust(settings)

    with django_assert_max_num_queries(1):
        ApiClient("sfa_unknown").call("GET", "/store", REMOTE_ADDR="198.51.100.7")


ODD_PARAMETERS = [
    "a*=x; a*0=y",
    "charset*=nowhere''x",
    *("charset=zlib", "charset=idna", "charset=undefined", ' charset = "unicode_escape"', "Charset=utf-7"),
]


@pytest.mark.parametrize("parameters", ODD_PARAMETERS)
@pytest.mark.parametrize("path", ["/accounts/login/", "/api/v1/docs", "/healthz", "/api/v1/store"])
def test_parameters_of_a_content_type_fail_no_request(db, handler, parameters, path):
    status, body = answer(
        handler,
        PATH_INFO=path,
        QUERY_STRING="next=%c3%a4%5cx00%5cud800+AAA-",
        CONTENT_TYPE=f"text/plain;{parameters}",
    )

    assert status in {200, 400, 401}, body


@pytest.mark.parametrize("parameters", ODD_PARAMETERS)
def test_parameters_of_an_accept_header_fail_no_request(db, handler, parameters):
    assert answer(handler, PATH_INFO="/api/v1/docs", HTTP_ACCEPT=f"text/html; {parameters}")[0] == 200


def test_charset_of_a_content_type_carries_nothing_past_the_checks_of_the_address(db, handler, monkeypatch):
    values = {
        "PATH_INFO": "/accounts/password-reset/",
        "QUERY_STRING": "s=%5cx00",
        "CONTENT_TYPE": "a/b; charset=unicode_escape",
    }
    seen = []
    monkeypatch.setattr(
        handler, "get_response", lambda request: seen.append(request.GET["s"]) or HttpResponse()
    )

    answer(handler, **values)

    assert seen == ["\\x00"]


PARTS = ["name*=x; name*0=y", "name*0=y; name*=x", "name=a; filename*=x; filename*0=y"]


def form_of(head):
    body = f"--b\r\nContent-Disposition: form-data; {head}\r\n\r\nx\r\n--b--\r\n".encode()
    return body, "multipart/form-data; boundary=b"


@pytest.mark.parametrize("head", PARTS)
def test_head_of_a_part_fails_no_page(db, client, head):
    body, kind = form_of(head)

    assert client.generic("POST", "/accounts/login/", body, content_type=kind).status_code == 400


@pytest.mark.parametrize("head", PARTS)
@pytest.mark.parametrize("path", ["/store/associated/asset", "/application/{application}/icon"])
def test_head_of_a_part_fails_no_upload(world, path, head):
    body, kind = form_of(head)
    address = "/api/v1" + path.format(application=world.application.pk)

    response = world.as_operator().generic("POST", address, body, content_type=kind)

    assert (response.status_code, response.json()["detail"][:23]) == (400, "The head of a part of t")
