"""20,000 rows, as CSV and JSON of almost 50 MB, read by a worker and its parser within 300 MB."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.batches.row_files import file_of

ROWS = 20_000
PROJECT = Path(__file__).resolve().parents[4]
READ = """
import json, resource, sys
from pathlib import Path
from stores.batches.files.reading import read_rows
name = sys.argv[1]
table = read_rows(path=Path(name), content_type="", name=name, max_rows=20_000)
# The other figure of this process holds the peak of the one that started it.
own = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
peaks = [int(own), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]
last = list(table.rows[-1].values.values())
print(json.dumps([peaks, len(table.rows), table.rows[-1].number, last]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("dialect", "columns"), [("UTF-8 comma", 25), ("JSON", 25), ("XLSX", 12)])
def test_large_files_are_read_within_300_megabytes(dialect, columns, tmp_path):
    rows = [[f"c{index}" for index in range(columns)]]
    rows += [[f"{row} {index} " + "x" * 80 for index in range(columns)] for row in range(ROWS)]
    path = tmp_path / ("rows.json" if dialect == "JSON" else "rows")
    path.write_bytes(file_of(rows, dialect))

    done = subprocess.run([sys.executable, "-c", READ, path], cwd=PROJECT, capture_output=True, check=True)

    (worker, parser), count, number, last = json.loads(done.stdout)
    assert (worker + parser) * 1024 < 300 << 20
    assert (count, number, last) == (ROWS, ROWS + 1, rows[-1])
