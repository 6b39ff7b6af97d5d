import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from fulfillment.core import environment

ROOT = Path(__file__).parents[3]


def retention_days():
    return environment.integer("PROOF_RETENTION_DAYS", 45, minimum=33, former_name="PROOF_DAYS_KEPT")


def test_renamed_variable_is_read_under_its_former_name(monkeypatch):
    monkeypatch.setenv("PROOF_DAYS_KEPT", "60")
    assert retention_days() == 60

    monkeypatch.setenv("PROOF_RETENTION_DAYS", "90")
    assert retention_days() == 90


def test_refusal_of_a_renamed_variable_names_the_one_that_is_set(monkeypatch):
    monkeypatch.setenv("PROOF_DAYS_KEPT", "5")

    with pytest.raises(ImproperlyConfigured, match="PROOF_DAYS_KEPT is '5'; write a whole number from 33"):
        retention_days()


@pytest.mark.parametrize(
    ("former", "present"),
    [
        ("RENDERINGS_AT_ONCE", "RENDERINGS_CONCURRENCY"),
        ("LARGE_ORDERS_AT_ONCE", "LARGE_ORDERS_CONCURRENCY"),
        ("LANE_WAIT_SECONDS", "CONCURRENCY_WAIT_SECONDS"),
    ],
)
def test_former_name_of_a_limit_stops_the_start(former, present):
    program = "import tests.settings"
    environment = {**os.environ, former: "3"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode
    assert f"{former} is now {present}; set that instead." in done.stderr
