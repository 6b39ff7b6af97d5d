"""Operators' output profiles as local files, because the renderers read no others."""

import tempfile
from functools import cache
from pathlib import Path

from fulfillment.core.db.prepared import fetch_row
from printing.press.profiles import SHIPPED

CONTENT = "SELECT content FROM stores_outputprofile WHERE sha256 = %s"


def profile_file(sha256: str) -> Path:
    """The file of a profile, which never changes; without a name the shipped one."""
    if not sha256:
        return SHIPPED
    folder = Path(_folder().name)
    path = folder / f"{sha256}.icc"
    if not path.exists():
        row = fetch_row(CONTENT, (sha256,))
        if row is None:
            raise LookupError(f"There is no output profile {sha256}.")
        # Renamed when complete, because other threads may read it at any time.
        half = Path(tempfile.mkstemp(dir=folder)[1])
        half.write_bytes(bytes(row[0]))
        half.rename(path)
    return path


@cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    """Removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="output-profiles-")
