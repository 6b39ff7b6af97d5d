"""The command `fulfillment` as installed."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any


class Command:
    """Runs the installed script in a home of its own; `environment` signs a machine in."""

    def __init__(self, installed: Path, home: Path, given: dict[str, Any]) -> None:
        self.script = [sys.executable, str(installed / "bin" / "fulfillment")]
        application = given["application"]
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(installed),
            "FULFILLMENT_CONFIG": str(home),
            "COLUMNS": "200",
            # Tests leave the keyring of the person who runs them alone.
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        }
        self.machine = {
            "FULFILLMENT_URL": given["url"],
            "FULFILLMENT_CLIENT_ID": application["external_id"],
            "FULFILLMENT_CLIENT_SECRET": application["key"],
            "FULFILLMENT_SUBSCRIPTION_KEY": application["subscription_key"],
        }

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        environment = self.environment | options.pop("environment", self.machine)
        return subprocess.Popen(
            [*self.script, *arguments],
            env=environment,
            text=True,
            stdout=options.pop("stdout", subprocess.PIPE),
            stderr=options.pop("stderr", subprocess.PIPE),
            **options,
        )

    def __call__(self, *arguments: str, code: int = 0, **options: Any) -> str:
        with self.start(*arguments, **options) as process:
            output, complaints = process.communicate(timeout=60)
        assert process.returncode == code, (output, complaints)
        return output if code == 0 else complaints
