from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from delivery.datasets.models import ImportRun
from delivery.datasets.selectors import live_dataset, look_up
from delivery.datasets.services.importer import ImportOptions
from delivery.datasets.services.imports import discard_upload, import_upload, receive_upload, start_import
from fulfillment.core.errors import Conflict, NotFound
from tests.support.patience import wait_for

pytestmark = pytest.mark.django_db


def upload(name: str = "small.csv") -> ImportRun:
    content = "\n".join(["ZIP,CRRT,RES,BUS", "84101,C001,5,5"]).encode()
    return receive_upload(upload=SimpleUploadedFile(name, content), by="Ada")


def state_of(run: ImportRun) -> str:
    run.refresh_from_db()
    return run.state


@pytest.mark.slow
def test_upload_is_imported_by_a_process_of_its_own(child_environment, monkeypatch):
    for name, value in child_environment.items():
        monkeypatch.setenv(name, value)
    run = upload()
    stored = run.upload.path

    start_import(run=run, options=ImportOptions(vintage="2026-10"))

    wait_for(lambda: state_of(run) not in {"uploaded", "waiting", "running"})
    assert (run.state, run.error) == ("loaded", "")
    assert look_up(["84101"]).body.startswith(b'[{"PostalCode":"84101","ResidentialCount":5')
    assert (live_dataset().created_by, live_dataset().file_name) == ("Ada", "small.csv")
    assert not Path(stored).exists()


def test_upload_waits_while_another_import_runs(monkeypatch):
    def refuse(**values):
        raise Conflict("Import 1 is running.")

    monkeypatch.setattr("delivery.datasets.services.imports.import_file", refuse)
    run = upload()

    with pytest.raises(Conflict):
        import_upload(run_id=run.pk)

    run.refresh_from_db()
    assert (run.state, run.error) == ("uploaded", "Import 1 is running.")


def test_deleted_upload_is_reported():
    run = upload()
    Path(run.upload.path).unlink()

    with pytest.raises(OSError, match="No such file"):
        import_upload(run_id=run.pk)
    with pytest.raises(NotFound):
        import_upload(run_id=0)

    run.refresh_from_db()
    assert (run.state, run.error) == ("failed", "The upload cannot be read: No such file or directory.")


def test_upload_is_started_once(monkeypatch):
    monkeypatch.setattr("delivery.datasets.services.imports.subprocess.Popen", FakeProcess)
    run = upload()
    start_import(run=run, options=ImportOptions())

    with pytest.raises(Conflict, match="already imported"):
        start_import(run=run, options=ImportOptions())
    with pytest.raises(Conflict, match="already imported"):
        discard_upload(run=ImportRun.objects.get())


class FakeProcess:
    def __init__(self, *command, **options) -> None:
        pass

    def wait(self) -> None:
        pass


def test_upload_is_thrown_away():
    run = upload()
    stored = Path(run.upload.path)

    discard_upload(run=run)

    assert not stored.exists()
    assert not ImportRun.objects.exists()


def test_uploads_of_one_name_are_two_files():
    runs = [
        receive_upload(upload=SimpleUploadedFile("same.csv", content), by="Ada") for content in (b"a", b"b")
    ]

    contents = []
    for run in runs:
        with run.upload.open() as file:
            contents.append(file.read())
    assert contents == [b"a", b"b"]
    assert {run.file_name for run in runs} == {"same.csv"}
