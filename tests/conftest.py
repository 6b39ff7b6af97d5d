import pytest

from tests.world import World, build_world


@pytest.fixture
def world(db) -> World:
    return build_world()
