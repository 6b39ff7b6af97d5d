import gzip
import io
import zipfile

import pytest

from delivery.datasets.problems import BadRouteFile
from delivery.datasets.sources import archives
from delivery.datasets.sources.archives import open_file

TEXT = b"ZIP_CODE,CRID_ID,RES_CNT,BUS_CNT\n" + b"84101,C001,600,40\n" * 3000


def zipped(**members: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("a__", "a.").replace("]__", "]."), content)
    return target.getvalue()


def encrypted(content: bytes) -> bytes:
    """Flags the member as encrypted in both of its headers."""
    data = bytearray(zipped(a__csv=content))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


@pytest.fixture
def read(tmp_path):
    def run(content: bytes) -> bytes:
        path = tmp_path / "input.dat"
        path.write_bytes(content)
        with open_file(path) as opened:
            return opened.stream.read()

    return run


@pytest.mark.parametrize(
    "content",
    [TEXT, gzip.compress(TEXT), zipped(a__csv=TEXT), zipped(**{"a__csv": TEXT, "__MACOSX/x": b"other"})],
    ids=["plain", "gzip", "zip", "zip of a Mac"],
)
def test_content_decides_and_not_the_name(read, content):
    assert read(content) == TEXT


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(gzip.compress(TEXT)[:-200], "damaged or cut off", id="gzip cut off"),
        pytest.param(
            gzip.compress(TEXT)[:100] + b"\0" * 40 + gzip.compress(TEXT)[140:],
            "damaged or cut off",
            id="gzip damaged",
        ),
        pytest.param(zipped(a__csv=TEXT)[:-40], "damaged or cut off", id="zip cut off"),
        pytest.param(
            zipped(a__csv=TEXT, aa__csv=TEXT),
            "exactly one file; it contains 2: a.csv, aa.csv",
            id="two files",
        ),
        pytest.param(zipped(), "exactly one file; it contains 0: nothing", id="no file"),
        pytest.param(encrypted(TEXT), "encrypted", id="encrypted"),
        pytest.param(
            zipped(**{"[Content_Types]__xml": b"<x/>", "xl": b""}), "spreadsheet program", id="xlsx"
        ),
        pytest.param(b"", "empty", id="nothing"),
    ],
)
def test_file_that_is_refused(read, content, says):
    with pytest.raises(BadRouteFile, match=says):
        read(content)


def test_bomb_is_stopped(read, monkeypatch):
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 10_000)

    with pytest.raises(BadRouteFile, match="more than 2 GB"):
        read(gzip.compress(TEXT))


def test_missing_file(tmp_path):
    with pytest.raises(BadRouteFile, match="No such file"), open_file(tmp_path / "none.csv"):
        pass
