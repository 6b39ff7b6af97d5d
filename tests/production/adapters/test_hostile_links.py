"""A press puts a link at each name that the service uses in its folders, at each moment: it reaches nothing else."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from production.interface import ProviderRefused, ProviderUnavailable
from production.providers.ledger import ProviderLedger
from tests.factories.production import folder_adapter
from tests.support.production.jobs import made_job

pytestmark = pytest.mark.django_db
OLD = time.time() - 3 * 86_400
SECRET = b"of another customer"
OLD_DRAFT = f"new-{'0' * 32}"
REPORT = b"JobNumber,State\n1001-1,InProduction\n"
NAMES = [
    "press",
    "press/in",
    "press/out",
    "press/in/.fulfillment",
    "press/in/.fulfillment/jobs",
    "press/in/.fulfillment/jobs/1001-1.json",
    "press/in/.fulfillment/{draft}",
    "press/in/.fulfillment/{draft}/1001-1",
    "press/in/1001-1",
    "press/out/processed",
    "press/out/unreadable",
    "press/out/shipped",
    "press/out/good.csv",
    "press/out/bad.csv",
]
# A link to a file where a folder is looked for, and the other way round, is tried by the slow tests.
LINKS = [
    pytest.param(name, is_file, marks=[] if is_file == bool(Path(name).suffix) else pytest.mark.slow)
    for name in NAMES
    for is_file in (False, True)
]
# What happens just before the link is there.
MOMENTS = ["nothing", "mkdir", "fsync", "ledger", "rename", "submit", "cancel", "poll"]


@pytest.fixture
def root(tmp_path, settings) -> Path:
    """Two folders of presses below one root: of the hostile one, and of another."""
    root = tmp_path / "presses"
    settings.PRODUCTION_FOLDERS = [root]
    for folder in ("press/in/.fulfillment/jobs", "press/out/shipped", f"other/{OLD_DRAFT}/1001-1"):
        (root / folder).mkdir(parents=True)
    other = root / "other"
    for folder in ("jobs", "processed", "unreadable", "shipped", "1001-1", "in/1001-1", "out"):
        (other / folder).mkdir(parents=True)
    for name in (
        "1001-1.json",
        "jobs/1001-1.json",
        f"{OLD_DRAFT}/1001-1/1001-1.pdf",
        "1001-1/1001-1.pdf",
        "out/a.csv",
    ):
        (other / name).write_bytes(SECRET)
    for path in other.rglob("*"):
        os.utime(path, (OLD, OLD))
    for name, content in (("good.csv", REPORT), ("bad.csv", b"nonsense")):
        path = root / "press/out" / name
        path.write_bytes(content)
        os.utime(path, (OLD, OLD))
    return root


def kept(folder: Path) -> dict[str, Any]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_mtime, path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
    }


def put_link(root: Path, name: str, target: Path) -> bool:
    """Replaces what is there; False where the name has no place yet."""
    if "{draft}" in name:
        drafts = sorted((root / "press/in/.fulfillment").glob("new-*"))
        name = name.replace("{draft}", drafts[0].name if drafts else OLD_DRAFT)
    path = root / name
    if not path.parent.is_dir() or path.parent.is_symlink():
        return False
    if path.exists():
        path.rename(root.parent / f"aside-{path.name}")
    path.symlink_to(target, target_is_directory=target.is_dir())
    return True


def strike(
    monkeypatch: pytest.MonkeyPatch, moment: str, attack: Callable[[], object]
) -> dict[str, Callable[[], None]]:
    """Attacks once, after the first call at this moment; returns what the steps of the play call after them."""
    struck: list[str] = []

    def now(at: str) -> None:
        if at == moment and not struck:
            struck.append(at)
            attack()

    def after(at: str, act: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            found = act(*args, **named)
            now(at)
            return found

        return call

    for at in ("mkdir", "fsync", "rename"):
        monkeypatch.setattr(os, at, after(at, getattr(os, at)))
    monkeypatch.setattr(ProviderLedger, "create", after("ledger", ProviderLedger.create))
    return {at: lambda at=at: now(at) for at in MOMENTS}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(("name", "is_file"), LINKS)
def test_link_leads_nowhere(root, monkeypatch, name, moment, is_file):
    other = root / "other"
    target = other / "1001-1.json" if is_file else other
    before, names = kept(other), sorted(root.iterdir())
    strikes = strike(monkeypatch, moment, lambda: put_link(root, name, target))
    press = folder_adapter((root / "press/in", root / "press/out"))
    reports: list[Any] = []

    strikes["nothing"]()
    for step, act in (
        ("submit", lambda: press.submit(made_job("1001-1"))),
        ("poll", lambda: reports.extend(press.poll())),
        ("confirm", lambda: press.confirm(reports)),
        ("cancel", lambda: press.cancel(made_job("1001-1"), "1001-1")),
        ("submit", lambda: press.submit(made_job("1001-2"))),
        ("poll", lambda: press.confirm(press.poll())),
        ("check", press.check_connection),
    ):
        with suppress(ProviderRefused, ProviderUnavailable, ValueError):
            act()
        strikes.get(step, lambda: None)()

    assert kept(other) == before
    assert sorted(root.iterdir()) == names
    assert not any(SECRET.decode() in f"{report}" for report in reports)
    copies = [path for path in root.parent.rglob("*") if path.is_file() and other not in path.parents]
    assert not any(SECRET in path.read_bytes() for path in copies if not path.is_symlink())


@pytest.mark.parametrize("name", ["press", "press/in", "press/in/.fulfillment"])
def test_link_in_place_of_a_folder_is_named(root, name):
    put_link(root, name, root / "other")

    with pytest.raises(ProviderRefused, match="symbolic link") as caught:
        folder_adapter((root / "press/in", root / "press/out")).submit(made_job("1001-1"))

    assert caught.value.concerns_all, "so that the job waits and does not fail"
    assert str(root / name) in str(caught.value)


def test_folder_outside_of_production_folders_is_not_used_any_more(root, settings):
    settings.PRODUCTION_FOLDERS = [root / "other"]

    with pytest.raises(ProviderRefused, match="outside"):
        folder_adapter((root / "press/in", root / "press/out")).submit(made_job("1001-1"))


def test_link_of_the_operator_above_is_followed(root, settings, tmp_path):
    (tmp_path / "mounted").symlink_to(root)
    settings.PRODUCTION_FOLDERS = [tmp_path / "mounted"]

    folder_adapter((tmp_path / "mounted/press/in", root / "press/out")).submit(made_job("1001-1"))

    assert (root / "press/in/1001-1/1001-1.pdf").is_file()
