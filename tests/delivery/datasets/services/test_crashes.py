"""What other processes see while an import runs, and what is left when it is killed."""

import os
import signal
import subprocess
import sys
import threading

import pytest
from django.db import connection, connections

from delivery.datasets.models import Dataset, ImportRun, Population
from delivery.datasets.populations import pack
from delivery.datasets.selectors import is_import_running, live_dataset, look_up
from delivery.datasets.services.datasets import activate_dataset, discard_dataset
from delivery.datasets.services.importer import ImportOptions
from delivery.datasets.services.imports import import_file
from tests.factories.delivery import load_dataset, write_csv
from tests.support.patience import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

CODES = [f"{number:05d}" for number in range(84000, 84100)]


def uniform(count: int):
    return {code: {"C001": pack(count, 0)} for code in CODES}


def lines_of_a_large_file() -> list[str]:
    return [f"{code},C{number:03d},1,1,2" for number in range(1000) for code in CODES]


def test_killed_import_leaves_the_old_set_serving(tmp_path, child_environment):
    live = load_dataset()
    before = (live.pk, look_up(["84101"]).body, Population.objects.count())
    path = write_csv(tmp_path / "large.csv", *lines_of_a_large_file())
    # The child waits on this row just before it writes, so that it dies in the middle for certain.
    blocker = connection.copy()
    blocker.set_autocommit(False)
    try:
        with blocker.cursor() as cursor:
            cursor.execute("SELECT * FROM delivery_livedataset FOR UPDATE")
        command = [sys.executable, "-m", "django", "import_eddm", str(path), "--force"]
        process = subprocess.Popen(command, env=child_environment, stderr=subprocess.DEVNULL)
        wait_for(lambda: ImportRun.objects.filter(state="running", percent__gt=0).exists())
        assert is_import_running()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    finally:
        blocker.rollback()
        blocker.close()

    wait_for(lambda: not is_import_running())
    assert (live_dataset().pk, look_up(["84101"]).body, Population.objects.count()) == before
    assert Dataset.objects.count() == 1
    small = write_csv(tmp_path / "small.csv", "84101,C001,5,5,10")
    import_file(path=small, name="small.csv", options=ImportOptions(force=True), by="Ada")
    assert list(ImportRun.objects.order_by("pk").values_list("state", flat=True)) == ["failed", "loaded"]


def test_progress_is_seen_by_others_before_it_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("delivery.datasets.services.locking.EVERY_SECONDS", 0)
    lines = [f"{code},C{number:03d},1,1,2" for number in range(10) for code in range(84000, 86000)]
    path = write_csv(tmp_path / "large.csv", *lines)
    watcher = connection.copy()
    seen = set()

    def watch(phase: str, share: float) -> None:
        with watcher.cursor() as cursor:
            cursor.execute("SELECT phase, percent FROM delivery_importrun")
            seen.add(cursor.fetchone())

    try:
        import_file(path=path, name="large.csv", options=ImportOptions(), by="Ada", on_progress=watch)
    finally:
        watcher.close()

    assert {phase for phase, _ in seen} >= {"reading", "writing"}
    assert len({percent for _, percent in seen}) >= 4


def test_look_ups_under_swaps_never_mix():
    first, second = load_dataset(uniform(1)), load_dataset(uniform(2))
    counts = {first.pk: 1, second.pk: 2}
    mixed, seen, stop = [], set(), threading.Event()

    def read() -> None:
        try:
            while not stop.is_set():
                answer = look_up(CODES)
                seen.add(answer.dataset_id)
                if answer.body.decode().count(f'"TotalCount":{counts[answer.dataset_id]},') != len(CODES):
                    mixed.append(answer)
        finally:
            connections.close_all()

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    swaps = 0

    def swapped_and_seen() -> bool:
        nonlocal swaps
        swaps += 1
        activate_dataset(dataset_id=first.pk, by="Ada")
        activate_dataset(dataset_id=second.pk, by="Ada")
        return swaps >= 30 and len(seen) == 2

    try:
        wait_for(swapped_and_seen, every=0)
    finally:
        stop.set()
        for reader in readers:
            reader.join()

    assert (mixed, seen) == ([], {first.pk, second.pk})


def test_readers_do_not_wait_for_an_activation_and_discards():
    first, second = load_dataset(uniform(1)), load_dataset(uniform(2), active=False)
    other = connection.copy()
    other.set_autocommit(False)
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT * FROM delivery_livedataset FOR UPDATE")
            cursor.execute("UPDATE delivery_livedataset SET dataset_id = %s", [second.pk])
        assert look_up(CODES).dataset_id == first.pk
        other.commit()
    finally:
        other.close()
    Dataset.objects.filter(pk=first.pk).update(status="retired")

    discard_dataset(dataset_id=first.pk)

    assert look_up(CODES).dataset_id == second.pk
