"""No request with credentials of one mode reaches data of the other."""

import pytest

from accounts.callers import Caller
from tests.support.api.mode_crossings import Twins, crossings, make_twins
from tests.support.cases import cases
from tests.support.database.snapshots import Snapshot
from tests.support.scenario import build_known_world

REQUESTS = cases(300, 10_000)


@pytest.fixture(scope="module")
def made_twins(snapshot_of) -> Snapshot[Twins]:
    return snapshot_of(lambda: make_twins(build_known_world()))


@pytest.fixture
def twins(made_twins, db) -> Twins:
    return made_twins.restore()


def test_no_operation_reaches_data_of_the_other_mode(twins):
    tried, found = crossings(twins, count=REQUESTS)

    assert tried >= REQUESTS
    assert found == []


@pytest.mark.slow
def test_requests_cross_where_the_one_rule_is_away(twins, monkeypatch):
    """So that the test above sees what it looks for."""
    monkeypatch.setattr(Caller, "modes", (False, True))

    _, found = crossings(twins, count=300)

    operations = {text.split("operation=('")[1].split("'")[0] for text in found if "operation=" in text}
    assert {"order-detail", "quote-detail", "application-detail", "association-detail"} <= operations
