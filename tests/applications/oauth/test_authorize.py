"""The authorization endpoint: sign-in, consent page and redirects."""

from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from django.test import Client
from oauth2_provider.models import AccessToken, Grant

from accounts.permissions import DEFAULT_SCOPES
from tests.factories.applications import ApplicationFactory
from tests.support.accounts.oauth_flows import CHALLENGE, Party, answer_of, browser_of

ISSUER = "http://127.0.0.1:8000"


def shows_error(response) -> bool:
    return response.status_code == 400 and "Location" not in response.headers


def test_visitor_signs_in_first_and_returns(public):
    response = public.ask(Client())
    assert response.status_code == 302
    parts = urlsplit(response["Location"])
    assert parts.path == "/accounts/login/"
    back = urlsplit(dict(parse_qsl(parts.query))["next"])
    assert back.path == "/oauth/authorize"
    assert dict(parse_qsl(back.query)) == public.request()


def test_session_that_ended_on_the_consent_page_goes_back_to_it(public):
    response = public.consent(Client())
    back = urlsplit(dict(parse_qsl(urlsplit(response["Location"]).query))["next"])
    assert dict(parse_qsl(back.query)) == public.request()
    assert not Grant.objects.exists()


def test_visitor_is_not_sent_to_an_application_by_an_error(public):
    response = public.ask(Client(), scope="nonsense")
    assert response["Location"].startswith("/accounts/login/")


def test_visitor_with_an_unknown_application_sees_the_error(db):
    assert shows_error(Client().get("/oauth/authorize?client_id=nobody&response_type=code"))


def test_consent_page_shows_applicant_and_permissions(public, user):
    response = public.ask(browser_of(user), scope="Store.Self.Read Order.Self.Write")
    assert response.status_code == 200
    assert response.context["application"] == public.application
    assert response.context["scopes"] == ["Store.Self.Read", "Order.Self.Write"]
    assert response.context["permissions"] == [
        ("Store.Self.Read", "Read stores, their products and your own roles"),
        ("Order.Self.Write", "Submit orders and cancel your own"),
    ]
    assert "requested no particular permissions" not in response.content.decode()
    assert "requested no particular permissions" in public.ask(browser_of(user)).content.decode()
    assert response.context["redirect_uri"] == "https://client.example/callback"
    assert response["Cache-Control"] == "no-store"


def test_consent_form_carries_the_whole_request(public, user):
    browser = browser_of(user)
    form = public.ask(browser, resource=f"{ISSUER}/api/v1").context["form"]
    sent = {field.name: field.value() for field in form.hidden_fields() if field.value()}
    response = browser.post("/oauth/authorize", {**sent, "allow": "true"})
    assert response.status_code == 303
    assert public.redeem(answer_of(response)["code"]).status_code == 200
    assert AccessToken.objects.get().resource == [f"{ISSUER}/api/v1"]


@pytest.mark.parametrize(
    ("reply_url", "source"),
    [
        ("https://client.example/callback", "https://client.example"),
        ("https://client.example:8443/callback", "https://client.example:8443"),
        ("http://127.0.0.1:9099/callback", "http://127.0.0.1:9099"),
        ("http://[::1]:9099/callback", "http:"),
    ],
)
def test_policy_of_the_consent_page_names_where_the_answer_goes(user, reply_url, source):
    party = Party(ApplicationFactory(reply_urls=(reply_url,)))
    policy = party.ask(browser_of(user))["Content-Security-Policy"]
    assert f"form-action 'self' {source};" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_no_scope_means_all_that_is_the_callers_own(public, user):
    assert public.ask(browser_of(user)).context["scopes"] == list(DEFAULT_SCOPES)
    assert public.ask(browser_of(user), scope="").context["scopes"] == list(DEFAULT_SCOPES)


def test_granted_answer_holds_code_state_and_issuer(public, user):
    response = public.consent_of(user)
    assert set(response) == {"code", "state", "iss"}
    assert (response["state"], response["iss"]) == ("a state", ISSUER)


def test_denied_answer_holds_error_state_and_issuer(public, user):
    for denial in ("", "false", "False", "0"):
        response = answer_of(public.consent(browser_of(user), allow=denial))
        assert (response["error"], response["state"], response["iss"]) == ("access_denied", "a state", ISSUER)
    assert not Grant.objects.exists()


@pytest.mark.parametrize("state", ["", "x" * 1500, "a&b=c#d", "\u2603 \u00e9", '"<script>'])
def test_state_is_unchanged_by_a_round_trip(public, user, state):
    assert public.consent_of(user, state=state).get("state", "") == state


def test_query_of_the_reply_url_is_kept(user):
    party = Party(ApplicationFactory(reply_urls=("https://client.example/cb?tenant=a%20b",)))
    assert party.consent_of(user)["tenant"] == "a b"
    assert party.consent_of(user, scope="nonsense") | {"tenant": "a b"} == party.consent_of(
        user, scope="nonsense"
    )


ERRORS = {
    "unknown scope": ({"scope": "everything"}, "invalid_scope"),
    "one unknown scope": ({"scope": "Store.Self.Read everything"}, "invalid_scope"),
    "operator scope for a third party": ({"scope": "Operator"}, "invalid_scope"),
    "scope in other case": ({"scope": "store.self.read"}, "invalid_scope"),
    "two spaces": ({"scope": "Store.Self.Read  Order.Self.Read"}, "invalid_scope"),
    "no response type": ({"response_type": None}, "invalid_request"),
    "blank response type": ({"response_type": ""}, "invalid_request"),
    "unknown response type": ({"response_type": "teleport"}, "unsupported_response_type"),
    "none": ({"response_type": "none"}, "unsupported_response_type"),
    "hybrid": ({"response_type": "code token"}, "unsupported_response_type"),
    "id token": ({"response_type": "id_token"}, "unsupported_response_type"),
    "code in other case": ({"response_type": "Code"}, "unsupported_response_type"),
    "implicit": ({"response_type": "token"}, "unauthorized_client"),
    "no challenge": ({"code_challenge": None}, "invalid_request"),
    "blank challenge": ({"code_challenge": ""}, "invalid_request"),
    "no method": ({"code_challenge_method": None}, "invalid_request"),
    "plain": ({"code_challenge_method": "plain"}, "invalid_request"),
    "method in other case": ({"code_challenge_method": "s256"}, "invalid_request"),
    "unknown method": ({"code_challenge_method": "S512"}, "invalid_request"),
    "short challenge": ({"code_challenge": CHALLENGE[:-1]}, "invalid_request"),
    "long challenge": ({"code_challenge": CHALLENGE + "A"}, "invalid_request"),
    "padded challenge": ({"code_challenge": CHALLENGE + "="}, "invalid_request"),
    "challenge and line feed": ({"code_challenge": CHALLENGE + "\n"}, "invalid_request"),
    "challenge of other characters": ({"code_challenge": "+" * 43}, "invalid_request"),
    "foreign resource": ({"resource": "https://elsewhere.example"}, "invalid_target"),
    "part of the resource": ({"resource": ISSUER + "/api"}, "invalid_target"),
    "resource with a fragment": ({"resource": ISSUER + "#a"}, "invalid_target"),
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("step", ["ask", "consent"])
def test_error_goes_back_with_state_and_issuer(public, user, name, step):
    changes, error = ERRORS[name]
    response = getattr(public, step)(browser_of(user), **changes)
    assert response.status_code == (302 if step == "ask" else 303)
    answer = answer_of(response)
    assert (answer["error"], answer["state"], answer["iss"]) == (error, "a state", ISSUER)
    assert bool(urlsplit(response["Location"]).fragment) == (changes.get("response_type") == "token")
    assert not Grant.objects.exists()


PAGES = {
    "no client": {"client_id": None},
    "blank client": {"client_id": ""},
    "unknown client": {"client_id": "nobody"},
    "client with a quote": {"client_id": "application'--"},
    "client that is an address": {"client_id": "https://client.example/"},
    "very long client": {"client_id": "x" * 3000},
    "client of other characters": {"client_id": "\u2603"},
    "foreign reply URL": {"redirect_uri": "https://elsewhere.example/callback"},
    "relative reply URL": {"redirect_uri": "/callback"},
    "script": {"redirect_uri": "javascript:alert(1)"},
}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("step", ["ask", "consent"])
def test_without_a_sure_address_the_error_is_a_page(public, user, name, step):
    assert shows_error(getattr(public, step)(browser_of(user), **PAGES[name]))


@pytest.mark.parametrize("allow", ["true", ""])
def test_nul_in_the_consent_form_is_refused(public, user, allow):
    for name in public.request():
        assert shows_error(public.consent(browser_of(user), allow=allow, **{name: "a\0b"}))


def test_nul_in_the_address_is_refused(public, user):
    assert public.ask(browser_of(user), state="a\0b").status_code == 400


@pytest.mark.parametrize(
    "query", ["", "%", "%GG=%GG", "client_id=%FF%FE", "&&&===", "\u2603=\u2603", "client_id"]
)
def test_broken_address_is_an_error_page(db, user, query):
    assert shows_error(browser_of(user).get(f"/oauth/authorize?{query}"))


@pytest.mark.parametrize(
    "name",
    [
        "client_id",
        "redirect_uri",
        "response_type",
        "scope",
        "state",
        "code_challenge",
        "code_challenge_method",
    ],
)
def test_parameter_sent_twice_is_refused(public, user, name):
    query = urlencode([*public.request(scope="Store.Self.Read").items(), (name, "again")])
    assert shows_error(browser_of(user).get(f"/oauth/authorize?{query}"))


def test_one_reply_url_need_not_be_named_two_must(public, user):
    assert "code" in public.consent_of(user, redirect_uri=None)
    public.application.redirect_uris += " https://client.example/second"
    public.application.save()
    assert shows_error(public.ask(browser_of(user), redirect_uri=None))


def test_disabled_application_is_an_error_page(public, user):
    public.application.is_enabled = False
    public.application.save()
    assert shows_error(public.ask(browser_of(user)))
    assert shows_error(public.consent(browser_of(user)))


def test_inactive_user_is_a_visitor(public, user):
    browser = browser_of(user)
    user.is_active = False
    user.save()
    assert public.consent(browser)["Location"].startswith("/accounts/login/")


def test_consent_form_needs_its_own_token(public, user):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(user)
    assert public.consent(browser).status_code == 403
