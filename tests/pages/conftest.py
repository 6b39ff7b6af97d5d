import pytest
from django.test import Client

from tests.support.scenario import World, confirm_password


@pytest.fixture
def signed_in(world: World):
    """A browser session for one of the people of the world."""

    def sign_in(user) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def browser(world: World, signed_in) -> Client:
    return signed_in(world.user)


@pytest.fixture
def confirmed(browser) -> Client:
    """The password was typed a moment ago."""
    return confirm_password(browser)
