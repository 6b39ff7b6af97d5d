"""Files of a few kilobytes that want to be gigabytes: what reading one costs, in a process of its own.

Each is a copy of one process that has imported everything and read a file already.
"""

import gzip
import io
import json
import subprocess
import sys
import zipfile

import pytest

from tests.support.patience import PATIENCE

MEGABYTES = 60
READ = """
import json, os, pathlib, re, sys, time
import django
django.setup()
from delivery.datasets.services.importer import ImportOptions, preview_file, read_file
from delivery.datasets.problems import BadRouteFile, ProblemLog
preview_file(path=pathlib.Path(sys.argv[1]), name="warm.csv", options=ImportOptions(vintage="2026-01"))

def peak():
    return int(re.search("VmHWM:\\\\s+(\\\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024

def read(path):
    before, options = peak(), ImportOptions(vintage="2026-01")
    began = time.process_time()
    previewed = preview_file(path=path, name="x", options=options).error
    worked = time.process_time() - began
    try:
        said = str(read_file(path=path, name="x", options=options, log=ProblemLog()).rows)
    except BadRouteFile as refusal:
        said = refusal.message
    print(json.dumps([previewed, worked, said, peak() - before]), flush=True)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            read(pathlib.Path(line.strip()))
        finally:
            os._exit(0)
    if os.waitpid(child, 0)[1]:
        print("null", flush=True)
""".replace("\\\\", "\\")
HEADER = b"ZIP_CODE,CRID_ID,RES_CNT,BUS_CNT\n"


def repeated(start: bytes, part: bytes, size: int) -> bytes:
    """Packed without ever holding what it unpacks to."""
    target = io.BytesIO()
    with gzip.GzipFile(fileobj=target, mode="wb", compresslevel=1) as packed:
        packed.write(start)
        piece = part * max(1, (1 << 20) // len(part))
        for _ in range(max(1, size // len(piece))):
            packed.write(piece)
    return target.getvalue()


def packed_by(method: int) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        archive.writestr("a.csv", HEADER + b"\0" * 5_000_000)
    return target.getvalue()


def many_members() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for number in range(25_000):
            archive.writestr(f"{number}.csv", b"")
    return target.getvalue()


FILES = {
    "nested arrays": lambda: (repeated(b"", b"[", 3_000_000), "deeper than 64"),
    "nested objects": lambda: (repeated(b"", b'{"a":', 70_000_000), "deeper than 64"),
    "endless text": lambda: (
        repeated(b'{"features":[{"attributes":{"a":"', b"x", 70_000_000),
        "longer than",
    ),
    "endless name": lambda: (repeated(b'{"', b"x", 70_000_000), "longer than"),
    "endless number": lambda: (repeated(b'{"a":', b"1", 70_000_000), "longer than"),
    "endless attributes": lambda: (
        gzip.compress(
            b'{"features":[{"attributes":{' + b",".join(b'"a%d":1' % n for n in range(900_000)) + b"}}]}"
        ),
        "more than 500",
    ),
    "long attributes": lambda: (
        gzip.compress(b'{"features":[{"attributes":{"' + b"n" * 900_000 + b'":1}}]}'),
        "longer than 200",
    ),
    "a million columns": lambda: (repeated(b"", b"a,", 2_000_000), "more than 500 columns"),
    "an endless header": lambda: (repeated(b"a,b,", b"x", 70_000_000), "No column for"),
    "an endless cell": lambda: (repeated(HEADER + b'"', b"x", 70_000_000), "field larger than"),
    "an endless row": lambda: (repeated(HEADER + b'"', b'\n","', 70_000_000), "not closed within"),
    "bzip2 in a zip": lambda: (packed_by(zipfile.ZIP_BZIP2), "usual method"),
    "LZMA in a zip": lambda: (packed_by(zipfile.ZIP_LZMA), "usual method"),
    "many members": lambda: (many_members(), "tens of thousands"),
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Reads each file in a copy of itself; `timeout` ends it, should one never end."""
    warm = tmp_path_factory.mktemp("memory") / "warm"
    warm.write_bytes(HEADER + b"84101,C001,1,1\n")
    with subprocess.Popen(
        ["timeout", str(PATIENCE * len(FILES)), sys.executable, "-c", READ, str(warm)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": ".", "PATH": "/usr/bin:/bin"},
    ) as process:
        yield process
        process.stdin.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_hostile_file_takes_neither_memory_nor_time(reader, tmp_path, kind):
    content, says = FILES[kind]()
    path = tmp_path / "hostile"
    path.write_bytes(content)

    reader.stdin.write(f"{path}\n")
    reader.stdin.flush()

    previewed, worked, said, megabytes = json.loads(reader.stdout.readline())
    # A preview shows what it has found by its end, where an import says what is wrong later on.
    assert previewed or kind in {"an endless cell", "an endless row"}
    assert worked < 6
    assert says in said
    assert megabytes < MEGABYTES
