"""No request parameter skips the consent page or the code."""

from urllib.parse import urlsplit

import pytest
from oauth2_provider.models import AccessToken, Grant

from accounts.callers import Caller
from applications.registration.models import Application
from applications.registration.services.applications import create_application, ensure_api_console
from tests.factories.accounts import OperatorFactory
from tests.factories.applications import ApplicationFactory, issue_token
from tests.support.accounts.oauth_flows import Party, answer_of, browser_of

ISSUER = "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    "changes",
    [
        {"approval_prompt": "auto"},
        {"approval_prompt": "none"},
        {"prompt": "none"},
        {"prompt": "consent"},
        {"prompt": "create"},
        {"skip_authorization": "true"},
        {"allow": "true"},
        {"response_mode": "fragment"},
    ],
)
@pytest.mark.parametrize("kind", ["confidential", "public"])
def test_no_parameter_skips_the_consent(request, user, kind, changes):
    party = request.getfixturevalue(kind)
    party.application.skip_authorization = True
    party.application.save()
    issue_token(user, party.application)
    response = party.ask(browser_of(user), **changes)
    assert response.status_code == 200
    assert not Grant.objects.exists()


def test_response_mode_does_not_move_the_answer(public, user):
    response = public.consent(browser_of(user), response_mode="fragment")
    assert urlsplit(response["Location"]).fragment == ""


def test_first_party_application_with_a_key_needs_no_consent(user):
    party = Party(ApplicationFactory(confidential=True, first_party=True))
    assert "code" in answer_of(party.ask(browser_of(user)))


def test_first_party_application_without_a_key_needs_consent(user):
    party = Party(ApplicationFactory(first_party=True))
    assert party.ask(browser_of(user)).status_code == 200


def test_reference_itself_cannot_be_used_for_a_sign_in(user):
    party = Party(ApplicationFactory(first_party=True))
    client_id = ensure_api_console().client_id
    for address in (f"{ISSUER}/api/v1/docs/oauth2-redirect", "http://127.0.0.1:9/x"):
        assert party.ask(browser_of(user), client_id=client_id, redirect_uri=address).status_code == 400


def test_operator_rights_always_need_consent(db):
    party = Party(ApplicationFactory(confidential=True, first_party=True))
    operator = OperatorFactory()
    assert party.ask(browser_of(operator), scope="Operator").status_code == 200
    assert party.sign_in(operator, scope="Operator")["scope"] == "Operator"


@pytest.fixture
def implicit(db, settings) -> Party:
    settings.IMPLICIT_FLOW_ENABLED = True
    return Party(ApplicationFactory(implicit_flow_allowed=True))


def test_implicit_flow_gives_a_short_token_in_the_fragment(implicit, user):
    response = implicit.consent(browser_of(user), response_type="token", code_challenge=None)
    assert urlsplit(response["Location"]).query == ""
    answer = answer_of(response)
    assert set(answer) == {"access_token", "expires_in", "token_type", "scope", "state", "iss"}
    assert (answer["expires_in"], answer["iss"]) == ("900", ISSUER)


def test_implicit_flow_needs_the_application_and_the_deployment(implicit, user, settings):
    Application.objects.update(implicit_flow_allowed=False)
    assert implicit.consent_of(user, response_type="token")["error"] == "unauthorized_client"
    Application.objects.update(implicit_flow_allowed=True)
    settings.IMPLICIT_FLOW_ENABLED = False
    assert implicit.consent_of(user, response_type="token")["error"] == "unauthorized_client"
    assert not AccessToken.objects.exists()


def test_implicit_errors_travel_in_the_fragment(implicit, user):
    response = implicit.consent(browser_of(user), response_type="token", scope="nonsense")
    assert "error=invalid_scope" in urlsplit(response["Location"]).fragment
    assert answer_of(response)["iss"] == ISSUER


def test_code_challenge_is_required_of_confidential_clients(confidential, user):
    assert confidential.consent_of(user, code_challenge=None)["error"] == "invalid_request"


def test_account_is_consented_to_in_words_and_only_when_requested(public, user):
    words = "See your name and e-mail, create users and applications for you"

    requested = public.ask(browser_of(user), scope="Store.Self.Read Account").content.decode()
    by_default = public.ask(browser_of(user)).content.decode()

    assert words in requested
    assert words not in by_default


def test_third_party_sees_other_applications_of_the_person_only_when_consented(world):
    requested = {"Store.Self.Read": ["Mail Studio"], "Application.Self.Read": ["Mail Studio", "Second"]}
    create_application(caller=Caller.on_pages(world.user), values={"Name": "Second"})

    for scope, names in requested.items():
        listed = world.as_user(world.user, (scope,), world.application).call("GET", "/application").json()
        assert [application["Name"] for application in listed] == names
