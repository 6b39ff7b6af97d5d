"""What an encryption key that was lost takes with it: nothing that needs it succeeds, and the responses say why."""

import pytest
from cryptography.fernet import Fernet

from applications.registration.models import ApplicationKey
from tests.support.accounts.two_factor import turned_on
from tests.support.browser.portal_sign_in import sign_in

SAID = "No encryption key opens what is stored here."


@pytest.fixture
def lost_keys(world, settings) -> None:
    turned_on(world.user)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]


def test_keys_that_no_encryption_key_opens_are_503(world, lost_keys):
    response = world.as_user(world.user).call("GET", f"/application/{world.application.pk}")

    assert (response.status_code, response.json().get("Code")) == (503, "secret_unreadable"), response.json()
    assert SAID in response.content.decode()


def test_second_step_that_no_encryption_key_opens_is_a_page(world, client, lost_keys):
    sign_in(client, "user")
    page = client.post("/accounts/second-step/", {"code": "123456"})

    assert (page.status_code, SAID in page.content.decode()) == (503, True)
    assert "Not available right now" in page.content.decode()


def test_new_key_takes_the_place_of_one_that_cannot_be_read(world, settings):
    old = world.application.keys.get()
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    path = f"/application/{world.application.pk}/key/{old.pk}/regenerate"

    assert world.as_user(world.user).call("PATCH", path).status_code == 200
    assert not ApplicationKey.objects.filter(pk=old.pk).exists()
