import shutil

import pytest
from django.conf import settings
from django.core.files.storage import default_storage

from tests.support.order_helpers import Shop, build_shop, open_shop
from tests.support.snapshots import Snapshot


@pytest.fixture(autouse=True)
def _empty_storage():
    """Products get the same primary keys again in every test, and with them the same proofs."""
    yield
    shutil.rmtree(settings.MEDIA_ROOT, ignore_errors=True)


@pytest.fixture
def stored_files():
    def list_all(folder=""):
        try:
            folders, names = default_storage.listdir(folder)
        except FileNotFoundError:
            return []
        below = [file for one in folders for file in list_all(f"{folder}/{one}".lstrip("/"))]
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
