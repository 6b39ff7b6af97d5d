"""The way of a request from the web server to its view: what is passed by, kept and counted."""

import io

import pytest
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpResponse
from django.test import Client
from django.utils.module_loading import import_string

from fulfillment.site.middleware import SecurityHeaders
from tests.support.servers.web_handler import web_handler

OTHER_HOOKS = ("process_exception", "process_template_response")
_seen: list[str] = []


class Remembering:
    """Middleware that notes the paths it sees."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        _seen.append(request.path)
        return self.get_response(request)

    def process_view(self, request, *view):
        _seen.append(f"view {request.path}")


@pytest.fixture
def handler():
    with web_handler() as handler:
        yield handler


def send(handler, path, **headers):
    """The status line, the headers and the body."""
    answered = []
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": path,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "REMOTE_ADDR": "198.51.100.7",
        "wsgi.input": io.BytesIO(),
        "wsgi.url_scheme": "http",
        **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()},
    }
    response = handler(environ, lambda status, headers: answered.extend((status, headers)))
    body = b"".join(response)
    getattr(response, "close", bool)()
    return answered[0], answered[1], body


def test_requests_of_programs_pass_the_middleware_of_pages_by(settings, db):
    settings.PAGE_MIDDLEWARE = [*settings.PAGE_MIDDLEWARE, f"{__name__}.Remembering"]
    _seen.clear()
    client = Client()

    for path in ("/healthz", "/api/v1/store", "/oauth/token", "/api/v1/docs", "/accounts/login/"):
        client.get(path)

    assert _seen == ["/api/v1/docs", "view /api/v1/docs", "/accounts/login/", "view /accounts/login/"]


def test_page_middleware_calls_every_hook_of_its_middleware(settings):
    kinds = [import_string(name) for name in settings.PAGE_MIDDLEWARE]

    assert settings.MIDDLEWARE[-1] == "fulfillment.site.middleware.PageMiddleware"
    assert [hook for kind in kinds for hook in OTHER_HOOKS if hasattr(kind, hook)] == []


@pytest.mark.parametrize(("kind", "name"), [(WSGIHandler, "__call__"), (BaseHandler, "get_response")])
def test_tools_that_replace_a_method_of_djangos_handler_see_requests(handler, db, monkeypatch, kind, name):
    """As Sentry does."""
    calls, replaced = [], getattr(kind, name)

    def replacement(self, *arguments):
        calls.append(name)
        return replaced(self, *arguments)

    monkeypatch.setattr(kind, name, replacement)

    assert send(handler, "/healthz")[0] == "200 OK"
    assert calls == [name]


def test_cookies_and_headers_of_pages_reach_the_browser(handler, db):
    status, headers, _ = send(handler, "/accounts/login/", Host="127.0.0.1:8000")

    assert status == "200 OK"
    assert [name for name, _ in headers].count("Set-Cookie") == 1
    assert dict(headers)["Content-Length"].isdigit()


@pytest.mark.django_db(transaction=True)
def test_refused_session_is_refused_before_all_middleware(handler, world, settings):
    settings.PAGES_PER_MINUTE = 1
    cookies = []
    for user in (world.user, world.outsider):
        browser = Client()
        browser.force_login(user)
        cookies.append(f"csrftoken=x; sessionid={browser.cookies['sessionid'].value}")

    def answer(path, cookie=cookies[0]):
        return send(handler, path, Host="127.0.0.1:8000", Cookie=cookie)

    statuses = [answer("/applications")[0] for _ in range(2)]
    status, headers, page = answer("/mailings")

    assert [*statuses, status] == ["200 OK", "429 Too Many Requests", "429 Too Many Requests"]
    assert "X-Request-ID" not in dict(headers)
    assert 1 <= int(dict(headers)["Retry-After"]) <= 60
    assert "default-src 'none'" in dict(headers)["Content-Security-Policy"]
    assert b"Rate limit is exceeded. Try again in" in page
    for path in ("/healthz", "/api/v1/docs", "/static/brand/mark.svg"):
        assert answer(path)[0] == "200 OK"
    assert answer(f"/logos/{'0' * 64}.png")[0] == "404 Not Found"
    assert answer("/applications", cookies[1])[0] == "200 OK"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_browsers_are_bound_to_https_only_where_it_was_used(settings, rf, scheme):
    settings.SECURE_HSTS_SECONDS = 3600
    headers = SecurityHeaders(lambda request: HttpResponse())(rf.get("/", secure=scheme == "https")).headers

    assert headers.get("Strict-Transport-Security") == ("max-age=3600" if scheme == "https" else None)
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_view_sets_its_own_policy_first(rf):
    own = {"Content-Security-Policy": "default-src 'self'", "x-frame-options": "SAMEORIGIN"}
    headers = SecurityHeaders(lambda request: HttpResponse(headers=own))(rf.get("/")).headers

    assert headers["Content-Security-Policy"] == "default-src 'self'"
    assert headers["X-Frame-Options"] == "SAMEORIGIN"
    assert headers["Content-Type"] == "text/html; charset=utf-8"


def test_foreign_hosts_are_refused_beside_known_ones(handler, settings, db):
    settings.ALLOWED_HOSTS = ["shop.example", ".wide.example"]
    path = "/api/v1/nothing"

    statuses = [
        send(handler, path, Host=host)[0][:3]
        for host in ("shop.example", "shop.example:8000", "evil.example", "shop.example", "evil.example")
    ]

    assert statuses == ["404", "404", "400", "404", "400"]


def test_a_foreign_host_is_refused_with_the_security_headers(client, settings):
    settings.SECURE_SSL_REDIRECT = True

    response = client.get("/", headers={"host": "evil.example"})

    assert response.status_code == 400
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
