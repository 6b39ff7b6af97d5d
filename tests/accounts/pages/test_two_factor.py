"""The second step: set up, used, recovered from, turned off; for the portal, the admin and applications alike."""

import re
import threading
import time

import pytest
import time_machine
from django.core.management import call_command
from django.db import connection
from django.test import Client

from accounts.models import Authenticator, RateWindow, RecoveryCode
from accounts.services.two_factor import (
    check_second_step,
    enable_two_factor,
    generate_secret_key,
)
from fulfillment.core.errors import TooManyRequests
from fulfillment.core.secrets import decrypt
from tests.support.accounts.two_factor import code_of, turned_on
from tests.support.browser.portal_sign_in import sign_in
from tests.support.scenario import build_world, confirm_password

RECOVERY_CODE = r'(?:^|<code id="recovery-codes">)([a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4})$'
SET_UP, STEP = "/profile/two-factor/set-up", "/accounts/second-step/"


@pytest.fixture
def phone(world) -> tuple[str, list[str]]:
    return turned_on(world.user)


def test_it_is_set_up_by_scanning_and_writing_one_code(world, browser):
    page = browser.get(SET_UP).content.decode()
    key = re.search(r"<code>([A-Z2-7 ]{39})</code>", page)[1].replace(" ", "")

    assert 'src="data:image/svg+xml;' in page
    assert "data:" in browser.get(SET_UP)["Content-Security-Policy"]
    assert "not the code" in browser.post(SET_UP, {"code": "000000"}).content.decode()
    content = browser.post(SET_UP, {"code": code_of(key)}).content.decode()

    codes = re.findall(RECOVERY_CODE, content, re.MULTILINE)
    assert len(codes) == len(set(codes)) == 10
    world.user.refresh_from_db()
    assert world.user.two_factor_since
    assert "Recovery codes left</dt><dd>10" in browser.get("/profile/two-factor").content.decode()
    assert codes[0] not in browser.get("/profile/two-factor").content.decode()


def test_nothing_readable_is_stored(world, phone):
    key, codes = phone
    stored = Authenticator.objects.get()

    assert key.encode() not in bytes(stored.ciphertext)
    assert decrypt(stored.ciphertext) == key
    assert not RecoveryCode.objects.filter(digest__in=[code.replace("-", "") for code in codes]).exists()


def test_browser_is_known_to_the_account_after_the_second_step_only(world, client, phone):
    requested = sign_in(client, "user")
    response = client.post(STEP, {"code": code_of(phone[0], 30)})

    assert "device" not in requested.cookies
    cookie = response.cookies["device"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")


def test_password_alone_does_not_sign_in(world, client, phone):
    response = sign_in(client, "user", next="/profile")

    assert response["Location"] == STEP
    assert "_auth_user_id" not in client.session
    assert client.get("/profile").status_code == 302
    wrong = client.post(STEP, {"code": "000000"})
    assert "This code is wrong" in wrong.content.decode()
    assert "_auth_user_id" not in client.session

    done = client.post(STEP, {"code": code_of(phone[0], seconds_later=30)})

    assert done["Location"] == "/profile"
    assert client.get("/profile").status_code == 200


def test_code_works_once(world, phone):
    code = code_of(phone[0], seconds_later=30)
    answers = []
    for _ in range(2):
        client = Client()
        sign_in(client, "user")
        answers.append(client.post(STEP, {"code": code}).status_code)

    assert answers == [302, 200]


def test_code_that_set_it_up_does_not_sign_in(world):
    key = generate_secret_key()
    code = code_of(key)
    enable_two_factor(user=world.user, key=key, code=code)

    assert not check_second_step(user=world.user, code=code)


@pytest.mark.parametrize(("off", "fits"), [(-3, False), (-1, True), (0, True), (1, True), (3, False)])
def test_codes_of_the_neighbouring_half_minutes_fit(world, off, fits):
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False) as clock:
        key, _ = turned_on(world.user)
        clock.shift(3600)

        assert check_second_step(user=world.user, code=code_of(key, seconds_later=30 * off)) is fits


@pytest.mark.parametrize("code", ["", "12345", "1234567", "١٢٣٤٥٦", "abcdef", "-12345", "x" * 40])
def test_malformed_codes_are_refused_like_wrong_ones(world, client, phone, code):
    sign_in(client, "user")

    assert client.post(STEP, {"code": code}).status_code == 200
    assert "_auth_user_id" not in client.session


def test_recovery_code_works_once_however_it_is_written(world, phone):
    first, second = phone[1][:2]

    assert check_second_step(user=world.user, code=f" {first.upper()} ")
    assert not check_second_step(user=world.user, code=first)
    assert check_second_step(user=world.user, code=second.replace("-", ""))
    assert RecoveryCode.objects.count() == 8


def test_after_five_wrong_codes_no_code_is_looked_at(world, client, phone):
    sign_in(client, "user")
    for _ in range(5):
        assert client.post(STEP, {"code": "000000"}).status_code == 200

    response = client.post(STEP, {"code": code_of(phone[0], seconds_later=30)})

    assert response.status_code == 429
    assert int(response["Retry-After"]) > 0
    with pytest.raises(TooManyRequests):
        check_second_step(user=world.user, code=phone[1][0])


def test_first_step_is_forgotten_after_ten_minutes_or_a_new_password(world, client, phone):
    sign_in(client, "user")
    with time_machine.travel(time.time() + 601):
        assert client.get(STEP)["Location"] == "/accounts/login/"

    world.user.set_password("another long pass phrase")
    world.user.save()
    assert client.get(STEP)["Location"] == "/accounts/login/"


def test_turning_it_on_ends_other_sessions_and_not_this_one(world, browser, signed_in):
    other = signed_in(world.user)
    page = browser.get(SET_UP).content.decode()
    key = re.search(r"<code>([A-Z2-7 ]{39})</code>", page)[1].replace(" ", "")

    browser.post(SET_UP, {"code": code_of(key)})

    assert browser.get("/profile").status_code == 200
    assert other.get("/profile").status_code == 302


def test_it_is_turned_off_with_the_password(world, phone, client):
    sign_in(client, "user")
    client.post(STEP, {"code": code_of(phone[0], seconds_later=30)})
    client.post("/profile/confirmation/end")

    assert "Confirm that it is you" in client.post("/profile/two-factor/off").content.decode()
    assert Authenticator.objects.exists()
    confirm_password(client).post("/profile/two-factor/off")

    assert not Authenticator.objects.exists()
    assert client.get("/profile").status_code == 200
    assert sign_in(Client(), "user")["Location"] == "/"


def test_new_recovery_codes_replace_the_old(world, phone, client):
    sign_in(client, "user")
    client.post(STEP, {"code": code_of(phone[0], seconds_later=30)})

    page = confirm_password(client).post("/profile/two-factor/codes").content.decode()

    assert not check_second_step(user=world.user, code=phone[1][0])
    assert check_second_step(user=world.user, code=re.search(RECOVERY_CODE, page, re.MULTILINE)[1])


def test_operator_who_lost_all_is_let_in_by_command(world, phone, capsys):
    call_command("turn_off_two_factor", "user@print.example")

    assert "with a password alone" in capsys.readouterr().out
    assert sign_in(Client(), "user")["Location"] == "/"


def test_required_of_operators_it_comes_before_everything_else(world, signed_in, settings):
    settings.OPERATOR_TWO_FACTOR = "required"
    operator = signed_in(world.operator)

    for path in ("/admin/", "/admin/accounts/user/", "/", "/applications", "/oauth/authorize?client_id=a"):
        assert operator.get(path)["Location"] == "/profile/two-factor", path
    assert operator.get("/profile/two-factor").status_code == operator.get(SET_UP).status_code == 200
    assert signed_in(world.user).get("/").status_code == 200

    world.operator.refresh_from_db()
    key, _ = turned_on(world.operator)
    client = Client()
    sign_in(client, "operator", next="/admin/")
    assert client.post(STEP, {"code": code_of(key, seconds_later=30)})["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200


def test_api_refuses_operators_without_two_factor_sign_in(world, settings):
    client = world.as_operator()
    assert client.call("GET", "/user/self").status_code == 200

    settings.OPERATOR_TWO_FACTOR = "required"
    refused = client.call("GET", "/user/self")
    assert (refused.status_code, refused.json()["Code"]) == (401, "token_invalid")
    assert world.as_user(world.user).call("GET", "/user/self").status_code == 200
    turned_on(world.operator)

    assert client.call("GET", "/user/self").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_code_sent_many_times_at_once_is_accepted_once(settings):
    settings.SECOND_STEPS_PER_ACCOUNT = 100
    world = build_world()
    key, _ = turned_on(world.user)
    code, opened, barrier = code_of(key, seconds_later=30), [], threading.Barrier(10)

    def work():
        try:
            barrier.wait()
            opened.append(check_second_step(user=world.user, code=code))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert opened.count(True) == 1
    assert RateWindow.objects.filter(bucket__startswith="second-step").count() <= 1
