"""A command as a user without rights, on a file system that it can write in few places."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path


def can_confine() -> str:
    """What is missing to confine a command here; empty if nothing is."""
    if os.geteuid():
        return "only root may mount and drop capabilities"
    missing = [name for name in ("unshare", "setpriv", "mount") if not shutil.which(name)]
    if missing:
        return f"there is no {' and no '.join(missing)} here"
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True)
    return "" if tried.returncode == 0 else "mounts of its own are not allowed here"


def confined(command: Sequence[str], writable: Sequence[Path], user: int) -> list[str]:
    """The command as a user without rights, on a file system of which it can write `writable` alone."""
    binds = " && ".join(f"mount --bind '{path}' '{path}'" for path in writable)
    script = f'{binds} && mount -o remount,bind,ro / && exec "$@"'
    return [
        *("unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"),
        *("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"),
        # What belongs to root here, such as this checkout, is readable.
        *(
            "--inh-caps=-all,+dac_override",
            "--ambient-caps=+dac_override",
            "--bounding-set=-all,+dac_override",
        ),
        *command,
    ]
