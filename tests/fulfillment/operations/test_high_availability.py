"""A database cluster of docs/deploy/ha loses its primary under load; `make soak ARGS="--only ha"` does the rest."""

import tempfile
from pathlib import Path

import pytest

from tests.support.cluster import faults as ha_faults
from tests.support.cluster.programs import PACKAGES, require_packages
from tests.support.servers.client_library import installed_python, python_wheel

__all__ = ["installed_python", "python_wheel"]

pytestmark = pytest.mark.slow


@pytest.fixture
def installed():
    require_packages(*(PACKAGES.keys() - {"pgbackrest"}))


def test_no_acknowledged_order_is_lost_with_its_primary(installed, installed_python):
    with (
        tempfile.TemporaryDirectory(prefix="ha-service-", dir="/tmp") as name,
        ha_faults.scene(Path(name), installed_python, etcd_members=1, machines=1) as scene,
    ):
        outcome = ha_faults.outcome_of(scene, "PostgreSQL of the primary: kill -9")
        left = ha_faults.failures_at_the_end(scene)

    # The time is measured by `make soak`, alone on its machine.
    late = f"writes were refused for {outcome.refused:.1f} s"
    failures = [failure for failure in outcome.failures if failure != late]
    assert [*failures, *left] == [], ha_faults.table([outcome])
    assert len(scene.load.orders) > 20
