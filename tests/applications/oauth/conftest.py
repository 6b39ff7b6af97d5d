import pytest

from accounts.models import User
from tests.applications.oauth.flows import Party
from tests.factories.accounts import UserFactory
from tests.factories.applications import ApplicationFactory


@pytest.fixture
def user(db) -> User:
    return UserFactory()


@pytest.fixture
def confidential(db) -> Party:
    return Party(ApplicationFactory(confidential=True))


@pytest.fixture
def public(db) -> Party:
    return Party(ApplicationFactory())
