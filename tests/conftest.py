import gc
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils import translation
from whitenoise.middleware import WhiteNoiseMiddleware

from printing import preflight
from tests.support.caches import clear_caches
from tests.support.database.databases import own_database
from tests.support.database.snapshots import Snapshot, read_snapshot, take_snapshot
from tests.support.once import made_once
from tests.support.scenario import World, build_known_world

pytest_plugins = ["tests.support.fixtures", "tests.support.servers.client_library"]

SLOW_AS_A_WHOLE = re.compile(r"^pytestmark = \[?pytest\.mark\.slow\b", re.MULTILINE)
SLOW_ANYWHERE = "pytest.mark.slow"
IN_A_BROWSER = Path(__file__).parent / "browser"


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment, django_db_blocker, django_db_modify_db_settings, django_db_keepdb
) -> Iterator[None]:
    with django_db_blocker.unblock(), own_database(keep=django_db_keepdb), django_db_blocker.block():
        yield


@pytest.fixture(scope="session")
def snapshot_of(
    django_db_setup, django_db_blocker, tmp_path_factory
) -> Callable[[Callable[[], Any]], Snapshot[Any]]:
    """For what is dear to make and wanted by many tests; only in fixtures of a module or the session."""

    def take(make: Callable[[], Any]) -> Snapshot[Any]:
        def keep(folder: Path) -> None:
            # A process that outlived its test may have written since.
            call_command("flush", interactive=False, verbosity=0, reset_sequences=False)
            take_snapshot(make, folder / "files").write(folder / "snapshot")

        with django_db_blocker.unblock():
            folder = made_once(tmp_path_factory, f"{make.__module__}.{make.__qualname__}", keep)
            return read_snapshot(folder / "snapshot", make)

    return take


@pytest.fixture(scope="session")
def made_world(snapshot_of) -> Snapshot[World]:
    return snapshot_of(build_known_world)


@pytest.fixture
def world(made_world: Snapshot[World], db) -> World:
    return made_world.restore()


@pytest.fixture(scope="session", autouse=True)
def static_files_looked_at_once() -> Iterator[None]:
    """Every test's client has middleware of its own, which looks at some 290 files: a third of all the tests' time."""
    look, known = WhiteNoiseMiddleware.add_files_from_finders, {}

    def recall(self: WhiteNoiseMiddleware) -> None:
        setting = (self.static_prefix, self.max_age, settings.DEBUG)
        if setting not in known:
            before = self.files.copy()
            look(self)
            known[setting] = {url: file for url, file in self.files.items() if url not in before}
        self.files.update(known[setting])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", recall)
        yield


@pytest.fixture(autouse=True)
def process_as_new():
    """What a process keeps outlives a test's transaction, and the next test may have the same keys. Its thread keeps
    the language of the last request."""
    clear_caches()
    preflight.clear_caches()
    translation.deactivate()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Neither suite imports files of the other alone: `make test` none of slow tests, which take as long as all others
    to collect, nor Playwright; and `make test-slow` none of the many without one."""
    suite = config.option.markexpr
    if suite == "not slow" and collection_path == IN_A_BROWSER:
        return True
    if suite not in {"not slow", "slow and not looks"} or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text("utf-8")
    is_left_out = SLOW_AS_A_WHOLE.search(text) if suite == "not slow" else SLOW_ANYWHERE not in text
    return True if is_left_out else None


def pytest_configure() -> None:
    """Importing and collecting make next to no garbage, and looking for it takes a fifth of their time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: looking through it for garbage takes a sixth of all time."""
    gc.freeze()
    gc.enable()
