"""Files of the folder are for the service's user and group alone, also those a command writes as root."""

import os
import stat
from pathlib import Path

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from django.core.exceptions import SuspiciousFileOperation
from django.core.files.base import ContentFile

from fulfillment.core.files.storage import FolderStorage, StorageUnavailable, storage_errors


@pytest.fixture
def umask():
    before = os.umask(0)
    yield os.umask
    os.umask(before)


def modes_of(root: Path) -> dict[str, int]:
    return {str(path.relative_to(root)): stat.S_IMODE(path.stat().st_mode) for path in root.rglob("*")}


@pytest.mark.parametrize(
    ("mask", "file", "folder"),
    [(0, 0o640, 0o750), (0o022, 0o640, 0o750), (0o027, 0o640, 0o750), (0o077, 0o600, 0o700)],
)
def test_files_are_not_world_readable_and_a_narrower_umask_applies(tmp_path, umask, mask, file, folder):
    umask(mask)

    FolderStorage(location=tmp_path, allow_overwrite=True).save("proofs/ab/one.pdf", ContentFile(b"%PDF"))

    assert modes_of(tmp_path) == {"proofs": folder, "proofs/ab": folder, "proofs/ab/one.pdf": file}


def test_failed_write_leaves_nothing(tmp_path):
    class Broken(ContentFile):
        def chunks(self, chunk_size=None):
            yield b"half"
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        FolderStorage(location=tmp_path, allow_overwrite=True).save("one.pdf", Broken(b""))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../one.pdf", "proofs/../../one.pdf", "/one.pdf"])
def test_file_outside_of_the_folder_is_refused(tmp_path, name):
    with pytest.raises(SuspiciousFileOperation):
        FolderStorage(location=tmp_path / "media", allow_overwrite=True).save(name, ContentFile(b"%PDF"))

    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes for others")
def test_file_written_by_root_belongs_to_the_owner_of_the_folder(tmp_path):
    os.chown(tmp_path, 4711, 4712)

    FolderStorage(location=tmp_path, allow_overwrite=True).save("proofs/ab/one.pdf", ContentFile(b"%PDF"))

    assert {(path.stat().st_uid, path.stat().st_gid) for path in tmp_path.rglob("*")} == {(4711, 4712)}


@pytest.mark.parametrize(
    ("error", "has_stack"),
    [
        (PermissionError(13, "Permission denied", "/media/x"), False),
        (ClientError({"Error": {"Code": "NoSuchBucket", "Message": "No such bucket"}}, "PutObject"), False),
        (EndpointConnectionError(endpoint_url="http://127.0.0.1:9"), False),
        (TypeError("a mistake of the code"), True),
    ],
)
def test_storage_that_refuses_is_one_line_of_the_log_with_its_reason(caplog, error, has_stack):
    with pytest.raises(StorageUnavailable), storage_errors():
        raise error

    (record,) = caplog.records
    assert record.getMessage() == f"The file storage failed: {error}"
    assert bool(record.exc_info) is has_stack
