import pytest


@pytest.fixture
def operator(world, client):
    client.force_login(world.operator)
    return client
