"""What a session alone may do: dangerous actions need the password or a code, once in ten minutes for all of them."""

import re
import time
from html import unescape

import pytest
from django.core import mail
from django.test import Client
from oauth2_provider.models import Grant

from accounts.models import EmailChange
from accounts.pages.confirmation import SECONDS, SESSION_NAME, WAITING
from accounts.selectors.users import subscription_keys
from accounts.services.two_factor import enable_two_factor, generate_secret_key
from applications.registration.models import OwnerInvitation
from applications.webhooks.models import Webhook
from applications.webhooks.services.webhooks import create_webhook
from fulfillment.core.secrets import decrypt, encrypt
from tests.support.accounts.oauth_flows import Party, answer_of
from tests.support.accounts.two_factor import code_of
from tests.support.scenario import PASSWORD, confirm_password, sign_in

QUESTION = "Confirm that it is you"
NEW_ADDRESS = {"email": "new@print.example"}
HOOK = {"url": "https://93.184.216.34/hook", "event_types": ["*"]}


def asks(response) -> bool:
    return response.status_code == 200 and QUESTION in response.content.decode()


def answer(client, page, address, **typed):
    """Sends the form of the question, as a browser does."""
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.content.decode())
    return client.post(address, {**{name: unescape(value) for name, value in hidden}, **typed})


def test_stolen_session_takes_over_nothing_of_an_application(world, stolen):
    webhook, secret = create_webhook(
        application=world.application, values={"URL": HOOK["url"], "EventTypes": ["*"]}
    )
    key = decrypt(world.application.keys.get().ciphertext)
    address = f"/applications/{world.application.pk}"
    keys = [key, secret, *subscription_keys(world.application.subscription).values()]
    attack = [
        stolen.post(f"{address}/owners", {"email": "outsider@print.example"}),
        stolen.get(f"{address}/keys?reveal={world.application.keys.get().pk}"),
        stolen.get(f"{address}/keys?reveal=subscription"),
        stolen.get(f"{address}/try?fill"),
        stolen.post(f"{address}/keys", {}),
        stolen.post(f"{address}/webhooks/{webhook.pk}/secret"),
        stolen.post(f"{address}/webhooks/{webhook.pk}/edit", {**HOOK, "url": "https://93.184.216.35/x"}),
        stolen.post(f"{address}/webhooks/new", {**HOOK, "url": "https://93.184.216.35/x"}),
        stolen.post(f"{address}/settings", {"name": "Mine", "reply_urls": "https://93.184.216.35/x"}),
    ]

    assert all(map(asks, attack))
    assert not any(value in response.content.decode() for value in keys for response in attack)
    assert not OwnerInvitation.objects.exists()
    assert list(Webhook.objects.values_list("pk", "url", "updated")) == [
        (webhook.pk, webhook.url, webhook.updated)
    ]
    world.application.refresh_from_db()
    assert (world.application.name, world.application.keys.count()) == ("Mail Studio", 1)
    assert mail.outbox == []


def test_repeated_mail_of_an_invitation_needs_the_confirmation_too(world, browser, stolen):
    owners = f"/applications/{world.application.pk}/owners"
    browser.post(owners, NEW_ADDRESS)
    invitation = OwnerInvitation.objects.get()

    assert asks(stolen.post(f"/applications/{world.application.pk}/invitations/{invitation.pk}/send"))
    assert OwnerInvitation.objects.get().digest == invitation.digest


def test_stolen_session_gives_no_application_wide_access(world, stolen):
    thief = Party(world.other_application)
    wide = {"scope": "Order.Self.Read Account"}

    assert asks(thief.ask(stolen, **wide))
    back = thief.consent(stolen, **wide)
    assert back["Location"].startswith("/oauth/authorize?client_id=")
    assert asks(stolen.get(back["Location"]))
    assert not Grant.objects.exists()


def test_access_of_every_sign_in_needs_no_further_password(world, stolen):
    shop = Party(world.other_application)

    assert not asks(shop.ask(stolen))
    assert "code" in answer_of(shop.consent(stolen))


def test_denial_of_wide_access_needs_no_password(world, stolen):
    refused = Party(world.other_application).consent(stolen, allow="", scope="Account")

    assert answer_of(refused)["error"] == "access_denied"


@pytest.mark.parametrize("flow", ["code", "token"])
def test_stolen_session_gives_a_part_of_the_service_nothing(world, stolen, flow, settings):
    settings.IMPLICIT_FLOW_ENABLED = world.application.implicit_flow_allowed = flow == "token"
    world.application.is_first_party = True
    world.application.client_type = "public" if flow == "code" else "confidential"
    world.application.save()

    console = Party(world.application)

    assert asks(console.ask(stolen, response_type=flow))
    assert console.consent(stolen, response_type=flow)["Location"].startswith("/oauth/authorize?client_id=")
    confirm_password(stolen)
    assert console.ask(stolen, response_type=flow).status_code == 200
    assert {"code", "access_token"} & set(answer_of(console.consent(stolen, response_type=flow)))


def test_stolen_session_of_an_operator_gives_no_access(world):
    operator = Client()
    operator.force_login(world.operator)
    user = f"/admin/accounts/user/{world.user.pk}"
    address = f"/admin/applications/application/{world.application.pk}"
    key = world.application.keys.get()

    assert asks(operator.post(f"{user}/change/", {"email": "thief@far.example"}))
    assert asks(operator.post(f"{user}/password/", {"password1": "x", "password2": "x"}))
    assert asks(operator.post("/admin/accounts/user/add/", {}))
    assert asks(operator.post("/admin/accounts/role/add/", {}))
    assert asks(operator.post("/admin/accounts/associationrequest/decide/", {}))
    assert asks(operator.post("/admin/accounts/associationrequest/", {"action": "approve", "index": "0"}))
    assert asks(operator.post(f"{address}/keys/{key.pk}/regenerate/", {"confirmed": "1"}))
    assert asks(operator.post("/admin/production/provider/add/", {}))


def test_action_of_a_list_is_dangerous_whichever_of_two_is_chosen(world):
    """Django takes the one that `index` names; the last one is harmless."""
    operator = Client()
    operator.force_login(world.operator)

    values = {"action": ["approve", "deny"], "index": "0", "_selected_action": "1"}

    assert asks(operator.post("/admin/accounts/associationrequest/", values))


def test_form_goes_on_after_the_password_as_it_was_typed(world, stolen):
    page = stolen.post("/profile/email", NEW_ADDRESS)
    assert not EmailChange.objects.exists()
    assert "new@print.example" not in page.content.decode()

    done = answer(stolen, page, "/profile/email", password=PASSWORD)

    assert (done.status_code, done["Location"]) == (302, "/profile/email")
    assert EmailChange.objects.get().email == "new@print.example"


def test_wrong_password_keeps_the_waiting_form(world, stolen):
    page = answer(stolen, stolen.post("/profile/email", NEW_ADDRESS), "/profile/email", password="wrong")
    assert "This is not your password." in page.content.decode()
    assert not EmailChange.objects.exists()

    answer(stolen, page, "/profile/email", password=PASSWORD)

    assert EmailChange.objects.get().email == "new@print.example"


def test_one_confirmation_counts_for_all_actions(world, stolen):
    confirm_password(stolen)

    assert stolen.post("/profile/email", NEW_ADDRESS).status_code == 302
    assert stolen.post(f"/applications/{world.application.pk}/owners", NEW_ADDRESS).status_code == 302
    assert not asks(stolen.get("/profile/two-factor/set-up"))


def test_confirmation_ends_after_ten_minutes(world, browser):
    session = browser.session
    assert session[SESSION_NAME][0] - time.time() <= SECONDS == 600
    session[SESSION_NAME][0] -= 600
    session.save()

    assert asks(browser.get("/profile/keys?reveal"))


def test_pages_show_until_when_and_end_the_confirmation(world, browser):
    world.user.time_zone = "America/Denver"
    world.user.save()
    until = browser.session[SESSION_NAME][0]
    # Denver is seven hours behind in winter and six in summer.
    shown = {time.strftime("%H:%M", time.gmtime(until - hours * 3600)) for hours in (6, 7)}
    pages = {
        re.search(r"Confirmed until (\d\d:\d\d)", browser.get(path).content.decode())[1]
        for path in ("/", "/profile", "/api/v1/docs", f"/applications/{world.application.pk}")
    }

    assert len(pages) == 1
    assert pages <= shown
    ended = browser.post("/profile/confirmation/end", headers={"Referer": "http://testserver/applications"})
    assert ended["Location"] == "http://testserver/applications"
    assert "Confirmed until" not in browser.get("/profile").content.decode()
    assert asks(browser.get("/profile/keys?reveal"))


def test_console_shows_until_when(world):
    operator = sign_in(Client(), world.operator)

    assert re.search(r"Confirmed until \d\d:\d\d", operator.get("/admin/").content.decode())


@pytest.mark.parametrize("before", ["https://evil.example/", "javascript:alert(1)", "//evil.example/"])
def test_other_sites_are_never_led_to(world, browser, before):
    headers = {"Referer": before}

    assert browser.post("/profile/confirmation/end", headers=headers)["Location"] == "/profile"
    assert before not in browser.get("/profile/keys?reveal", headers=headers).content.decode()


def test_confirmation_belongs_to_one_session_and_ends_with_it(world, browser, stolen):
    assert asks(stolen.get("/profile/keys?reveal"))

    browser.post("/accounts/logout/")
    browser.force_login(world.user)

    assert asks(browser.get("/profile/keys?reveal"))


def test_typed_password_of_a_sign_in_is_a_confirmation_for_ten_minutes(world, client):
    client.post("/accounts/login/", {"username": "user", "password": PASSWORD})
    response = client.get("/profile/keys?reveal")
    assert not asks(response)
    assert "Confirmed until" not in response.content.decode()

    session = client.session
    session[SESSION_NAME][0] -= 600
    session.save()

    assert asks(client.get("/profile/keys?reveal"))


def test_new_account_asks_no_second_time(db, client):
    answers = {"username": "newcomer", "email": "new@print.example", "password": PASSWORD}
    client.post("/accounts/signup/", answers)

    assert not asks(client.get("/profile/keys?reveal"))


@pytest.mark.parametrize("address", ["/profile/email", "/profile/keys?reveal", "/accounts/password-change/"])
def test_guesses_are_limited_for_all_actions_together(world, stolen, settings, address):
    settings.SIGN_IN_TRIES_PER_ACCOUNT = 2
    for _ in range(2):
        answer(stolen, stolen.post("/profile/email", NEW_ADDRESS), "/profile/email", password="wrong")

    page = answer(stolen, stolen.get("/profile/keys?reveal"), address, password=PASSWORD)

    assert "Too many attempts. Try again in 15 minutes." in page.content.decode()
    assert SESSION_NAME not in stolen.session


def test_code_of_the_authenticator_confirms_as_well(world, stolen, settings):
    key = generate_secret_key()
    enable_two_factor(user=world.user, key=key, code=code_of(key))
    stolen.force_login(world.user)
    page = stolen.post("/profile/email", NEW_ADDRESS)
    wrong = answer(stolen, page, "/profile/email", code="000000")
    assert "This code is wrong" in wrong.content.decode()

    assert answer(stolen, page, "/profile/email", code=code_of(key, seconds_later=30)).status_code == 302
    assert EmailChange.objects.exists()


def test_codes_cannot_be_guessed_without_end(world, stolen, settings):
    settings.SECOND_STEPS_PER_ACCOUNT = 2
    key = generate_secret_key()
    enable_two_factor(user=world.user, key=key, code=code_of(key))
    stolen.force_login(world.user)
    page = stolen.get("/profile/keys?reveal")
    for _ in range(2):
        answer(stolen, page, "/profile/keys?reveal", code="000000")

    last = answer(stolen, page, "/profile/keys?reveal", code=code_of(key, seconds_later=30))

    assert "Too many attempts" in last.content.decode()


def test_code_means_nothing_without_an_authenticator(world, stolen):
    page = stolen.get("/profile/keys?reveal")

    assert asks(answer(stolen, page, "/profile/keys?reveal", code="000000"))
    assert asks(answer(stolen, page, "/profile/keys?reveal"))


def test_waiting_form_is_taken_by_its_own_page_and_user_alone(world, browser, signed_in):
    waiting = re.search(rf'name="{WAITING}" value="([^"]+)"', _question(world))[1]

    for client, address in (
        (browser, f"/applications/{world.application.pk}/owners"),
        (signed_in(world.outsider), "/profile/email"),
    ):
        assert client.post(address, {WAITING: waiting})["Location"] == address
    assert not EmailChange.objects.exists()
    assert not OwnerInvitation.objects.exists()


def _question(world) -> str:
    client = Client()
    client.force_login(world.user)
    return client.post("/profile/email", NEW_ADDRESS).content.decode()


@pytest.mark.parametrize("value", ["", "x", "again", "\u00e9", "name=Mine"])
def test_value_that_is_no_waiting_form_leads_to_the_page(world, browser, value):
    waiting = encrypt(value).decode() if "=" in value else value

    assert browser.post("/profile", {WAITING: waiting})["Location"] == "/profile"
    world.user.refresh_from_db()
    assert world.user.first_name == "User"
