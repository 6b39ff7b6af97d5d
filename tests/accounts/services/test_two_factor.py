"""The services of two-factor sign-in; its pages have tests of their own."""

from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import time_machine

from accounts.models import Authenticator
from accounts.services.two_factor import (
    STEP,
    check_second_step,
    enable_two_factor,
    generate_secret_key,
    provisioning_uri,
    renew_recovery_codes,
)
from fulfillment.core.errors import Conflict, Invalid, TooManyRequests
from tests.support.accounts.two_factor import code_of, turned_on

MIDDLE_OF_A_STEP = 1_767_225_600 + STEP / 2


@pytest.mark.parametrize(("steps", "fits"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_codes_of_adjacent_half_minutes_are_accepted_alone(world, steps, fits):
    with time_machine.travel(MIDDLE_OF_A_STEP, tick=False):
        key, _ = turned_on(world.user)
    with time_machine.travel(MIDDLE_OF_A_STEP + 600, tick=False):
        assert check_second_step(user=world.user, code=code_of(key, steps * STEP)) is fits


def test_nothing_fits_who_has_no_second_step(world):
    key, codes = turned_on(world.user)

    assert not check_second_step(user=world.operator, code=codes[0])
    assert not check_second_step(user=world.operator, code=code_of(key, 1 * STEP))


def test_attempts_are_counted_for_each_person(world):
    turned_on(world.user)
    _, codes = turned_on(world.operator)
    for _ in range(5):
        assert not check_second_step(user=world.user, code="000000")
    with pytest.raises(TooManyRequests):
        check_second_step(user=world.user, code="000000")

    assert check_second_step(user=world.operator, code=codes[0])


def test_right_code_forgets_the_wrong_ones_before(world):
    _, codes = turned_on(world.user)
    for code in codes[:3]:
        for _ in range(4):
            assert not check_second_step(user=world.user, code="000000")
        assert check_second_step(user=world.user, code=code.replace("-", " - ").upper())


def test_it_is_turned_on_once_and_by_the_code_of_now(world):
    key = generate_secret_key()
    with pytest.raises(Invalid) as wrong:
        enable_two_factor(user=world.user, key=key, code=code_of(key, 5 * STEP))
    [fault] = wrong.value.faults
    assert (fault.pointer, fault.code) == ("/Code", "code_wrong")
    assert fault.message == "This is not the code that the app shows now. Check the clock of your phone."
    assert not Authenticator.objects.exists()

    turned_on(world.user)
    with pytest.raises(Conflict) as twice:
        turned_on(world.user)

    assert (twice.value.code, twice.value.message) == (
        "two_factor_on",
        "Two-factor authentication is already on.",
    )
    assert Authenticator.objects.count() == 1


def test_who_has_no_second_step_has_no_recovery_codes(world):
    with pytest.raises(Conflict) as refused:
        renew_recovery_codes(user=world.user)

    assert (refused.value.code, refused.value.message) == (
        "two_factor_off",
        "Two-factor authentication is off.",
    )


def test_qr_code_names_service_and_account(world):
    address = urlsplit(provisioning_uri(world.user, "KEY"))

    issuer = "Store Fulfillment (127.0.0.1)"
    assert (address.scheme, address.netloc) == ("otpauth", "totp")
    assert unquote(address.path) == f"/{issuer}:user@print.example"
    assert parse_qs(address.query) == {"secret": ["KEY"], "issuer": [issuer]}
