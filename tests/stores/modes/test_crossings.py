import pytest

from accounts.callers import Caller
from tests.support.mode_crossings import Twins, crossings, make_twins
from tests.support.scenario import build_known_world
from tests.support.snapshots import Snapshot


@pytest.fixture(scope="module")
def made_twins(snapshot_of) -> Snapshot[Twins]:
    return snapshot_of(lambda: make_twins(build_known_world()))


@pytest.fixture
def twins(made_twins, db) -> Twins:
    return made_twins.restore()


def test_no_operation_reaches_data_of_the_other_mode(twins):
    tried, found = crossings(twins, count=300)

    assert tried >= 300
    assert found == []


@pytest.mark.slow
def test_none_of_many_requests_reaches_data_of_the_other_mode(twins):
    tried, found = crossings(twins, count=2_000, seed=7)

    assert tried >= 2_000
    assert found == []


@pytest.mark.slow
def test_requests_cross_where_the_one_rule_is_away(twins, monkeypatch):
    """So that the tests above see what they look for."""
    monkeypatch.setattr(Caller, "modes", (False, True))

    _, found = crossings(twins, count=300)

    operations = {text.split("operation=('")[1].split("'")[0] for text in found if "operation=" in text}
    assert {"order-detail", "quote-detail", "application-detail", "association-detail"} <= operations
