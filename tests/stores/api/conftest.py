import pytest

from stores.services.renderings import refresh_renderings


@pytest.fixture
def world(world):
    """The stores of the world are made without a service, so their stored renderings follow here."""
    refresh_renderings()
    return world
