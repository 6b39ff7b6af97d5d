"""Files by which the web processes of a server share metrics, for fulfillment.core.observability.instruments."""

import os
import shutil
import tempfile
from pathlib import Path

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def configure_multiprocess_metrics() -> None:
    """Sets one folder for all processes of this server, before prometheus_client is imported; removes old folders."""
    if os.environ.get(VARIABLE):
        return
    root = Path(tempfile.gettempdir())
    prefix = f"fulfillment-figures-{os.getuid()}-"
    for left in root.glob(f"{prefix}*"):
        if not Path("/proc", left.name.removeprefix(prefix)).exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = root / f"{prefix}{os.getppid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user.")
    os.environ[VARIABLE] = str(folder)
