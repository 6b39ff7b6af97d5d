"""Copies of stored files, for programs that read them from a folder."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fulfillment.core.files.folders import TemporaryFiles

CONTENT = bytes(range(256)) * 40_000
FILES = TemporaryFiles("copies-")
DESCRIPTORS = Path("/proc/self/fd")


def names() -> set[str]:
    return {path.name for path in FILES.path("one", bytes).parent.iterdir()}


def test_threads_find_a_file_complete_or_not_at_all():
    with ThreadPoolExecutor(8) as pool:
        read = [pool.submit(lambda: FILES.path("font.ttf", lambda: CONTENT).read_bytes()) for _ in range(24)]

    assert {future.result() == CONTENT for future in read} == {True}
    assert names() == {"one", "font.ttf"}


def test_failed_read_leaves_no_file_and_no_descriptor():
    known, open_before = names(), len(list(DESCRIPTORS.iterdir()))

    for number in range(3):
        with pytest.raises(LookupError):
            FILES.path("missing", lambda: {}["missing"])
        FILES.path(f"other-{number}", bytes)

    assert names() == known | {"other-0", "other-1", "other-2"}
    assert len(list(DESCRIPTORS.iterdir())) == open_before
