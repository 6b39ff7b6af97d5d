"""Fixtures that tests of several apps use."""

import json
import os
import pickle
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.conf.locale import LANG_INFO
from django.core.files.storage import default_storage
from django.test import Client, override_settings

from fulfillment.operations.demo import load_demo, reset_demo
from printing import bounded
from production.jobs.services import outcomes
from production.providers import selectors as provider_selectors
from tests.factories.orders import make_card
from tests.support.browser.console_fixtures import furnish_console
from tests.support.browser.page_fixtures import furnish
from tests.support.browser.pseudo import PSEUDO, Sources, write_pseudo
from tests.support.database.address import address_of
from tests.support.database.snapshots import Snapshot
from tests.support.once import made_once
from tests.support.orders.shop import Shop, build_shop, open_shop
from tests.support.patience import FASTER
from tests.support.scenario import World, build_known_world, sign_in


@pytest.fixture
def signed_in(world: World):
    """A browser session for one of the people of the world, who typed the password a moment ago."""
    return lambda user: sign_in(Client(), user)


@pytest.fixture
def operator(world: World, client: Client) -> Client:
    return sign_in(client, world.operator)


@pytest.fixture
def browser(world: World, signed_in) -> Client:
    return signed_in(world.user)


@pytest.fixture
def pseudo(settings, monkeypatch, tmp_path_factory) -> str:
    """The name of a language whose texts show by their letters."""
    offered = [*settings.LANGUAGES, (PSEUDO, "Pseudo")]
    monkeypatch.setitem(LANG_INFO, PSEUDO, {**LANG_INFO["en"], "code": PSEUDO})
    settings.LANGUAGES = offered
    settings.LOCALE_PATHS = [made_once(tmp_path_factory, "pseudo", write_pseudo)]
    return PSEUDO


@pytest.fixture(scope="session")
def sources(tmp_path_factory) -> Sources:
    def keep(folder: Path) -> None:
        (folder / "sources").write_bytes(pickle.dumps(Sources()))

    return pickle.loads((made_once(tmp_path_factory, "sources", keep) / "sources").read_bytes())


@pytest.fixture
def stolen(world: World) -> Client:
    """A session alone, of a person who typed no password for a while."""
    client = Client()
    client.force_login(world.user)
    return client


@pytest.fixture
def stored_files():
    def list_all(folder=""):
        try:
            folders, names = default_storage.listdir(folder)
        except FileNotFoundError:
            return []
        below = [file for subfolder in folders for file in list_all(f"{folder}/{subfolder}".lstrip("/"))]
        return [f"{folder}/{name}".lstrip("/") for name in names] + below

    return list_all


@pytest.fixture
def broken_storage(monkeypatch):
    """Takes so many files, then fails; `None` means it fails to read."""

    def break_after(count):
        save = default_storage.save
        taken = []

        def fail(*args, **kwargs):
            if len(taken) >= count:
                raise ConnectionError("the storage is away")
            taken.append(args)
            return save(*args, **kwargs)

        monkeypatch.setattr(default_storage._wrapped, "save", fail)

    return break_after


@pytest.fixture(scope="session")
def made_shop(snapshot_of) -> Snapshot[Shop]:
    return snapshot_of(build_shop)


@pytest.fixture
def shop(request, made_shop: Snapshot[Shop], db) -> Shop:
    if "world" in request.fixturenames:
        return open_shop(request.getfixturevalue("world"))
    return made_shop.restore()


@pytest.fixture(scope="session")
def made_card_shop(snapshot_of) -> Snapshot[Shop]:
    """Also with a card of the demo."""

    def make() -> Shop:
        shop = build_shop()
        make_card(shop.store)
        return shop

    return snapshot_of(make)


@pytest.fixture(scope="session")
def made_portal(snapshot_of) -> Snapshot[World]:
    """A world with something of each kind that the portal shows."""
    return snapshot_of(lambda: furnish(build_known_world()))


@pytest.fixture(scope="session")
def made_console(snapshot_of) -> Snapshot[World]:
    return snapshot_of(lambda: furnish_console(furnish(build_known_world())))


@pytest.fixture
def furnished(made_console: Snapshot[World], db) -> World:
    """A world with something of each kind that the console shows."""
    return made_console.restore()


@pytest.fixture(scope="session")
def made_demo(snapshot_of) -> Snapshot[dict[str, Any]]:
    """With new credentials of its people and its application."""

    def make() -> dict[str, Any]:
        load_demo()
        return reset_demo()

    with override_settings(DEVELOPMENT=True):
        return snapshot_of(make)


@pytest.fixture
def fast_clock(monkeypatch) -> None:
    """Of waits between tries: jobs that a provider does not take wait a part of their time, in child processes too."""
    monkeypatch.setattr(outcomes, "BACKOFF", [seconds / FASTER for seconds in outcomes.BACKOFF])
    monkeypatch.setattr(provider_selectors, "FAILOVER_AFTER", provider_selectors.FAILOVER_AFTER / FASTER)


@pytest.fixture
def tasks_in_this_process(monkeypatch) -> None:
    """For tests of what a bounded task answers: the start of its process costs far more than its work."""

    def reply(task: str, folder: Path, _seconds: float, _memory: int, options: dict[str, Any]) -> Any:
        module, _, function = task.partition(":")
        try:
            return json.loads(json.dumps(getattr(import_module(module), function)(folder, **options)))
        except Exception as error:
            raise bounded.TaskFailed(repr(error)) from error

    monkeypatch.setattr(bounded, "_reply", reply)


@pytest.fixture
def child_environment(settings, transactional_db) -> dict[str, str]:
    """For a process that works on the database of the tests."""
    settings.DATABASE_URL = address_of()
    return {
        **os.environ,
        "DATABASE_URL": settings.DATABASE_URL,
        "DJANGO_SETTINGS_MODULE": "fulfillment.settings",
        "MEDIA_ROOT": str(settings.MEDIA_ROOT),
        "PYTHONPATH": os.pathsep.join(path for path in [str(settings.BASE_DIR), *sys.path] if path),
    }
