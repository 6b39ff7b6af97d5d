from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
import time_machine
from django.contrib.auth.models import Group
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, connection, transaction

from accounts.models import User
from accounts.selectors.users import subscription_keys
from tests.support.database.databases import rows_of
from tests.support.database.snapshots import Snapshot, read_snapshot, take_snapshot
from tests.support.scenario import World, build_known_world


@pytest.fixture
def kept(db, tmp_path) -> tuple[Snapshot[World], list]:
    """A snapshot of the world, and what stood in the database when it was made."""
    seen = []

    def make() -> World:
        world = build_known_world()
        seen.append(rows_of())
        return world

    return take_snapshot(make, tmp_path / "files"), seen


def test_snapshot_puts_back_every_row_and_no_other(kept):
    snapshot, seen = kept
    before = rows_of()

    world = snapshot.restore()

    assert rows_of() == seen[0] != before
    assert User.objects.get(username="operator") == world.operator
    assert world.as_application().call("GET", "/store").status_code == 200


def test_copies_of_a_snapshot_share_nothing(kept):
    snapshot, _ = kept
    with transaction.atomic():
        first = snapshot.restore()
        first.user.username = first.keys[first.user.pk] = "changed"
        transaction.set_rollback(True)

    second = snapshot.restore()

    assert second.user.username == "user"
    assert second.key_of(second.user) == subscription_keys(second.user.subscription)["primary"]


def test_snapshot_puts_back_its_files_and_no_other(db, settings, tmp_path, stored_files):
    settings.MEDIA_ROOT = tmp_path / "media"
    default_storage.save("other/1", ContentFile(b"another test's"))

    snapshot = take_snapshot(lambda: default_storage.save("kept/1", ContentFile(b"kept")), tmp_path / "files")

    assert stored_files() == ["other/1"]
    default_storage.delete("other/1")
    default_storage.save("kept/1", ContentFile(b"of another test"))
    snapshot.restore()
    assert stored_files() == ["kept/1"]
    assert Path(default_storage.path("kept/1")).read_bytes() == b"kept"


@contextmanager
def asked_at_once():
    with transaction.atomic():
        yield
        connection.check_constraints()


def test_foreign_keys_are_checked_again_after_a_snapshot(kept):
    subscription = kept[0].restore().user.subscription
    subscription.user_id = uuid4()

    with pytest.raises(IntegrityError), asked_at_once():
        subscription.save()


def number_groups_from(number: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval('auth_group_id_seq', %s)", [number])


def test_snapshot_of_another_process_names_this_one_s_folder_and_no_number_twice(db, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media-1"

    def make() -> str:
        Group.objects.create(pk=7_000_000, name=str(settings.MEDIA_ROOT))
        number_groups_from(7_000_000)
        return str(settings.MEDIA_ROOT)

    take_snapshot(make, tmp_path / "files").write(tmp_path / "kept")
    number_groups_from(1)
    settings.MEDIA_ROOT = tmp_path / "media-2"
    settings.MEDIA_ROOT.mkdir()
    restored = read_snapshot(tmp_path / "kept", make).restore()

    assert restored == Group.objects.get().name == str(tmp_path / "media-2")
    assert Group.objects.create(name="later").pk > 7_000_000


def test_world_under_another_clock_is_made_under_it(kept):
    with time_machine.travel("2031-05-01T12:00:00Z"):
        world = kept[0].restore()

    assert world.user.created.year == 2031
    assert len(kept[1]) == 2
