import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
OLD = 'case "$2" in *version_info*) exit 1;; esac\n'
WITHOUT_VENV = 'case "$2" in *ensurepip*) exit 1;; esac\n'
# Those of most wheels: pip holds each of a thousand names of this machine's own to each of 80,000 files.
PLATFORMS = ("--platform", "manylinux2014_x86_64", "--platform", "manylinux_2_28_x86_64")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    return tmp_path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", *arguments], cwd=folder, env=variables, capture_output=True, text=True, timeout=PATIENCE
    )


def fake_python(folder: Path, script: str) -> str:
    program = folder / "fake-python"
    program.write_text(f"#!/bin/sh\n{script}")
    program.chmod(0o755)
    return f"PYTHON={program}"


def pinned(lock: str) -> dict[str, str]:
    return dict(
        re.findall(r"^([a-z0-9-]+)==([^ ;]+)", (ROOT / "requirements" / lock).read_text(), re.MULTILINE)
    )


def test_help_lists_every_target_for_people():
    targets = re.findall(r"^  make (\S+) +\S", make(ROOT, "help").stdout, re.MULTILINE)

    assert targets == [
        *(
            "help",
            "run",
            "test",
            "test-slow",
            "looks",
            "test-optional",
            "test-shop",
            "lint",
            "types",
            "schema",
        ),
        *("messages", "clients", "bench", "soak", "mutants", "install", "lock", "wheels"),
    ]
    assert make(ROOT).stdout == make(ROOT, "help").stdout


def test_tests_begin_when_every_check_has_passed(checkout):
    output = make(checkout, "--dry-run", "test").stdout
    checks = [
        "ruff check",
        "ruff format",
        "lint_imports",
        "mypy",
        "makemigrations",
        "lintmigrations",
    ]

    assert [check for check in checks if output.count(check) != 1] == []
    assert max(output.index(check) for check in checks) < output.index("-m pytest")


@pytest.mark.parametrize(
    ("first", "again", "passes"), [(0, None, True), (1, 0, True), (1, 1, False), (2, None, False)]
)
def test_failed_slow_tests_count_when_they_fail_alone(checkout, first, again, passes):
    program = checkout / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(
        f'#!/bin/sh\necho "$@"\ncase "$*" in *--last-failed*) exit {again};; *) exit {first};; esac\n'
    )
    program.chmod(0o755)
    for name in ("base.stamp", "test.stamp"):
        (checkout / ".venv" / name).touch()

    result = make(checkout, "test-slow", "ARGS=tests/stores")

    runs = [line for line in result.stdout.splitlines() if line.startswith("-m pytest -m slow")]
    assert ["--last-failed" in run for run in runs] == ([False] if again is None else [False, True])
    assert all(run.endswith("tests/stores") for run in runs)
    assert (result.returncode == 0) is passes


def test_soak_runs_nothing_but_its_parts(checkout):
    output = make(checkout, "--dry-run", "soak", "ARGS=--only neighbours").stdout

    assert re.findall(r"-m (tests\.\S+.*)", output) == ["tests.benchmarks.soak --only neighbours"]


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (OLD, "is older than Python 3.11; name a newer one: make run PYTHON=python3.12"),
        (WITHOUT_VENV, "has no venv module; install it (on Debian and Ubuntu: apt install python3-venv)."),
    ],
)
def test_unfit_python_is_reported_in_one_sentence(checkout, script, sentence):
    result = make(checkout, "run", fake_python(checkout, script))

    assert result.returncode != 0
    assert result.stdout == ""
    reported, *rest = result.stderr.splitlines()
    assert reported.endswith(sentence)
    assert [line for line in rest if not line.startswith("make: ***")] == []
    assert not (checkout / ".venv").exists()


def test_missing_python_is_reported(checkout):
    result = make(checkout, "run", "PYTHON=no-such-python")

    assert result.stderr.startswith("There is no no-such-python; install Python 3.11 or newer")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_checkout_is_reported(checkout):
    checkout.chmod(0o555)

    result = make(checkout, "run")

    checkout.chmod(0o755)
    assert result.stderr.startswith(f"You may not write to {checkout}; use a clone in a folder of your own.")


def test_unchanged_requirements_are_not_installed_again(checkout):
    environment = checkout / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(sys.executable)
    for name in ("base.stamp", "test.stamp"):
        (environment / name).touch()

    result = make(checkout, "install", "PYTHON=no-such-python")

    assert result.stdout == "make: Nothing to be done for 'install'.\n"


def test_environment_of_a_removed_python_is_created_again(checkout):
    stamp = checkout / ".venv" / "base.stamp"
    (stamp.parent / "bin").mkdir(parents=True)
    (stamp.parent / "bin" / "python").symlink_to(checkout / "removed")
    stamp.touch()

    assert make(checkout, "run", "PYTHON=no-such-python").stderr.startswith("There is no no-such-python")
    assert not stamp.exists()


def test_locks_name_versions_and_hashes_and_no_place():
    for lock in ("base.txt", "local.txt", "test.txt"):
        entries = re.split(r"\n(?=\S)", (ROOT / "requirements" / lock).read_text().strip())
        assert all(re.match(r"[a-z0-9.-]+==\S+", entry) and "--hash=sha256:" in entry for entry in entries)
        assert not any("://" in entry or entry.startswith("-") for entry in entries)


def download(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "--only-binary", ":all:"]
    command += ["--disable-pip-version-check", "--dest", str(folder), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_newest_python_finds_wheels_for_what_is_compiled(tmp_path):
    """`make wheels` looks at every package and version. One with a wheel for all versions has two hashes."""
    if download(tmp_path, f"idna=={pinned('base.txt')['idna']}").returncode:
        pytest.skip("No package index answers here.")
    locks = [ROOT / "requirements" / name for name in ("base.txt", "local.txt")]
    entries = [each for lock in locks for each in re.split(r"\n(?=\S)", lock.read_text())]
    compiled = tmp_path / "compiled.txt"
    compiled.write_text("\n".join(each for each in entries if each.count("--hash") > 2))
    newest = re.findall(r"^PYTHONS :=.* (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[0]

    target = ["--python-version", newest, *PLATFORMS]
    result = download(tmp_path, "--require-hashes", *target, "--requirement", str(compiled))

    assert (result.returncode, result.stderr) == (0, "")
    assert len(list(tmp_path.glob("*.whl"))) > 20


def test_tests_run_with_the_versions_of_the_service():
    assert pinned("base.txt").items() <= pinned("test.txt").items()
    assert pinned("local.txt").items() <= pinned("test.txt").items()


@pytest.mark.parametrize("name", ["base", "local", "test"])
def test_each_requirement_is_locked(name):
    matches = re.findall(r"^([a-z0-9-]+)", (ROOT / "requirements" / f"{name}.in").read_text(), re.MULTILINE)
    locked = pinned(f"{name}.txt")

    assert [each for each in matches if not each.startswith("-") and each not in locked] == []
