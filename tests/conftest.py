import gc

import pytest

from accounts import rates
from tests.world import World, build_world


@pytest.fixture
def world(db) -> World:
    return build_world()


@pytest.fixture(autouse=True)
def no_refusal_remembered():
    """What a process remembers of limits outlives a test's transaction."""
    rates._over.clear()


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: looking through it for garbage takes a sixth of all time."""
    gc.collect()
    gc.freeze()
