"""How soon row files that mean harm are refused, each read as the service reads an upload."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from stores.batches.files import FileRefused, read_rows
from tests.support.hostile_row_files import shown_in_directory, shown_when_read

MAXIMUM_ROWS, REFUSED_MS = 20_000, 100
# Each is read so often; the best counts, since the first also loads what all of them need.
TIMES = 3


def refuse_hostile_files() -> Iterator[tuple[str, str, str, bool]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        files = {**shown_in_directory(), **shown_when_read(path, 9)}
        times = {
            name: min(_refused_ms(path, content) for _ in range(TIMES)) for name, content in files.items()
        }
    slowest = max(times, key=lambda name: times[name])
    yield (
        f"{len(times)} hostile files refused, the slowest ({slowest})",
        f"{times[slowest]:.0f} ms",
        f"≤ {REFUSED_MS} ms",
        times[slowest] <= REFUSED_MS,
    )


def _refused_ms(path: Path, content: bytes) -> float:
    path.write_bytes(content)
    name = "rows.json" if content.startswith(b"[") else "rows"
    began = time.perf_counter()
    try:
        read_rows(path=path, content_type="", name=name, max_rows=MAXIMUM_ROWS)
    except FileRefused:
        return 1000 * (time.perf_counter() - began)
    raise AssertionError(f"{name} was read")
