import pytest

from accounts.models import User
from tests.factories.accounts import UserFactory
from tests.factories.applications import ApplicationFactory
from tests.support.accounts.oauth_flows import Party


@pytest.fixture
def user(db) -> User:
    return UserFactory()


@pytest.fixture
def confidential(db) -> Party:
    return Party(ApplicationFactory(confidential=True))


@pytest.fixture
def public(db) -> Party:
    return Party(ApplicationFactory())


@pytest.fixture(params=["confidential", "public"])
def party(request) -> Party:
    return request.getfixturevalue(request.param)
