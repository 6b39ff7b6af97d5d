import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("former", "advice"),
    [
        ("RENDERINGS_AT_ONCE", "is now RENDERINGS_CONCURRENCY; set that instead."),
        ("PROOF_DAYS_KEPT", "is now PROOF_RETENTION_DAYS; set that instead."),
        ("LARGE_ORDERS_AT_ONCE", "is no longer a setting; remove it."),
    ],
)
def test_former_name_of_a_setting_stops_the_start(former, advice):
    program = "import tests.settings"
    environment = {**os.environ, former: "3"}
    result = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode
    assert f"{former} {advice}" in result.stderr
