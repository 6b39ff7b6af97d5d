"""What is refused before anything else looks at it, and what every answer carries."""

from collections import Counter
from io import BytesIO

import pytest
import requests
from django.test import Client
from django.urls import get_resolver

from delivery.datasets.services.demo import load_demo_population
from fulfillment.core.http.addresses import PROGRAM_PREFIXES
from tests.support.api.fuzz_requests import hostile_cases, send
from tests.support.cases import cases
from tests.support.scenario import build_world, confirm_password
from tests.support.servers.live_server import serving


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_hostile_requests_are_answered_and_break_nothing(tmp_path):
    load_demo_population()
    world = build_world()
    world.application.subscription.requests_per_minute = 1_000_000
    world.application.subscription.save()
    client = world.as_application()
    credentials = client.credentials
    limits = dict.fromkeys(("ADDRESS_REQUESTS_PER_MINUTE", "ADDRESS_PAGES_PER_MINUTE"), "1000000")
    with serving(tmp_path, **limits) as served:
        answers = [(send(served.url, case), case) for case in hostile_cases(cases(250, 10_000), credentials)]
        style = requests.get(f"{served.url}/static/portal.css", timeout=10)
        log = served.log.read_text()

    assert [(status, case) for status, case in answers if status >= 500] == []
    assert [case for status, case in answers if status == 0] == []
    assert "Traceback" not in log
    assert (style.status_code, style.headers["X-Content-Type-Options"]) == (200, "nosniff")
    assert {200, 400, 401, 403, 404, 405} <= set(Counter(status for status, _ in answers))


@pytest.mark.parametrize(
    "target",
    [
        "/a%00b",
        "/a%0d%0ab",
        "/%1b",
        "/%7f",
        "/x?a=%00",
        "/x?a=%1B",
        "/x?%7f=",
        "/api/v1/store/%0a",
        "/static/%00",
    ],
)
def test_control_characters_in_addresses_are_refused(client, db, target):
    response = client.get(target)

    assert (response.status_code, response.json()["Code"]) == (400, "invalid_request")


def test_addresses_have_an_end(client, db):
    assert client.get("/" + "a" * 3000).status_code == 414
    assert client.get("/guide?" + "a" * 20_000).status_code == 414


def test_body_of_unknown_length_is_refused_and_not_mistaken_for_an_empty_one(client, db):
    response = client.generic("POST", "/api/v1/user", b"", headers={"Transfer-Encoding": "chunked"})

    assert (response.status_code, response.json()["Code"]) == (411, "length_required")


def upload(client, path, size):
    """What was answered, and whether anything of the body was read."""
    body = BytesIO(b"--X\r\n")
    response = client.generic(
        "POST",
        path,
        content_type="multipart/form-data; boundary=X",
        **{"wsgi.input": body, "CONTENT_LENGTH": str(size)},
    )
    return response.status_code, body.tell() > 0


@pytest.mark.parametrize("path", ["/accounts/login/", "/accounts/signup/", "/admin/login/", "/nothing"])
def test_anonymous_forms_cannot_fill_the_disk(client, db, path):
    assert upload(client, path, 1_048_577) == (413, False)


def test_only_staff_send_large_files_and_only_to_the_console(world):
    user, operator = Client(), Client()
    user.force_login(world.outsider)
    operator.force_login(world.operator)
    large = 100 * 1024 * 1024

    assert upload(user, "/profile", large) == (413, False)
    assert upload(user, "/admin/delivery/dataset/", large) == (413, False)
    assert upload(operator, "/profile", large) == (413, False)
    assert upload(operator, "/admin/delivery/dataset/", large)[0] != 413


def test_huge_key_is_refused_without_a_query(world, django_assert_num_queries):
    client = world.as_user(world.user)

    response = client.call("GET", "/store", headers={"Ocp-Apim-Subscription-Key": "x" * 5000})

    assert (response.status_code, response.json()["Code"]) == (401, "subscription_key_invalid")


def answers(world, client):
    api = world.as_user(world.user)
    signed_in = Client()
    signed_in.force_login(world.operator)
    yield from (api.call("GET", path) for path in ("/store", "/nothing", "/store/none"))
    yield api.call("GET", "/store", headers={"Authorization": ""})
    yield from (
        client.get(path) for path in ("/", "/nothing", "/%00", "/profile", "/accounts/login/", "/healthz")
    )
    yield client.get("/oauth/token")
    yield client.get("/.well-known/oauth-authorization-server")
    yield from (signed_in.get(path) for path in ("/admin/", "/admin/nothing/", "/profile"))


def test_every_answer_carries_the_security_headers(world, client):
    seen = set()
    for response in answers(world, client):
        seen.add(response.status_code)
        assert response["X-Content-Type-Options"] == "nosniff", response
        assert response["X-Frame-Options"] == "DENY"
        assert response["Referrer-Policy"] == "same-origin"
        assert response["Cross-Origin-Opener-Policy"] == "same-origin"
        policy = response["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-" not in policy
    assert seen == {200, 302, 400, 401, 404, 405}


def test_no_page_may_run_or_style_what_is_written_into_it(world, settings):
    settings.PUBLIC_URL = "http://testserver"
    own = f"/applications/{world.application.pk}"
    portal = ["/", "/guide", "/profile", "/profile/keys", "/profile/two-factor/set-up", "/applications/new"]
    portal += [own, *(f"{own}/{part}" for part in ("keys", "icon", "try", "webhooks"))]
    console = [
        "/admin/",
        "/admin/stores/order/",
        "/admin/stores/product/add/",
        "/admin/delivery/importrun/add/",
    ]
    signed_in = Client()
    signed_in.force_login(world.operator)
    confirm_password(signed_in)

    answers = {path: signed_in.get(path) for path in [*portal, *console, "/api/v1/docs"]}

    assert {
        path: response.status_code for path, response in answers.items() if response.status_code != 200
    } == {}
    lax = {path for path, response in answers.items() if "unsafe-" in response["Content-Security-Policy"]}
    assert lax == set()


@pytest.mark.parametrize("path", ["/guide", "/api/v1/store", "/admin/", "/static/none.css"])
def test_redirect_to_https_carries_them_too(client, settings, path):
    settings.SECURE_SSL_REDIRECT = True

    response = client.get(path)

    assert (response.status_code, response["Location"]) == (301, f"https://testserver{path}")
    assert "default-src 'none'" in response["Content-Security-Policy"]
    assert response["X-Frame-Options"] == "DENY"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Referrer-Policy"] == "same-origin"
    assert response.has_header("Permissions-Policy") == (not path.startswith("/api/"))


def test_cookies_are_for_this_site_only_and_hidden_from_scripts(world, client):
    client.post("/accounts/login/", {"username": "user", "password": "a long pass phrase"})

    for name in ("sessionid", "csrftoken"):
        cookie = client.cookies[name]
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")
        assert not cookie["domain"]


def views(patterns=None, prefix=""):
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        path = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from views(pattern.url_patterns, path)
        else:
            yield path, pattern.callback


def test_no_form_of_the_browser_goes_without_its_token(world):
    """Only what programs call is exempt: it takes no cookie."""
    exempt = [path for path, view in views() if getattr(view, "csrf_exempt", False)]
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(world.user)
    forms = ("/accounts/login/", "/profile", "/profile/email", "/applications/new", "/applications/join")

    assert [path for path in exempt if not f"/{path}".startswith(PROGRAM_PREFIXES)] == []
    for path in forms:
        assert browser.post(path, {"csrfmiddlewaretoken": "wapiti"}).status_code == 403, path
