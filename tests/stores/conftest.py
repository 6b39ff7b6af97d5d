import shutil
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.core.files.storage import default_storage

from tests.factories.orders import make_product, order_body


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


@pytest.fixture
def shop(world):
    """The associated store with a product, and hands to place and move orders."""
    make_product(world.associated)

    def place(client=None, body=None, store="associated", **extra):
        client = client or world.as_application()
        return client.call("POST", f"/store/{store}/order", body or order_body(), **extra)

    def act(order, action, body=None, client=None, store="associated", **extra):
        path = f"/store/{store}/order/{order['OrderID']}/{action}"
        return (client or world.as_user(world.user)).call("POST", path, body, **extra)

    return SimpleNamespace(world=world, store=world.associated, place=place, act=act)
