"""Runs a command below the hardening of a systemd unit, on machines where systemd itself does not run.

What the kernel does for a line of the unit is done here in the same way: the file system by mounts of its own, system
calls and address families by seccomp, capabilities by setpriv. As a module it makes the mounts, gives up its rights
and becomes the module that loads the filter.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from ctypes.util import find_library
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.deployment.units import ROOT, Unit, is_set, read_unit

NOBODY = 65534
HOMES, TEMPORARY = ("/home", "/root", "/run/user"), ("/tmp", "/var/tmp")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
MODULE = "tests.support.deployment.hardening"
FILTER = "tests.support.deployment.syscall_filter"
# What the mounts are made of, until they are in their places.
STAGE = Path("/mnt")
# Set where the namespace maps an ordinary user to root: such a root has no right outside of it.
MAPPED = "HARDENING_MAPPED"


def cannot_filter() -> str:
    """What is missing to apply the filter of a unit here; empty if nothing is."""
    missing = [name for name in ("unshare", "setpriv", "mount") if not shutil.which(name)]
    if not find_library("seccomp"):
        missing.append("libseccomp")
    return f"there is no {' and no '.join(missing)} here" if missing else ""


@cache
def namespaces() -> tuple[str, ...]:
    """How this user gets mounts of its own; empty where the machine allows none."""
    for user in (("unshare",), ("env", f"{MAPPED}=1", "unshare", "--user", "--map-root-user")):
        command = (*user, "--mount", "--uts", "--propagation", "private")
        tried = subprocess.run([*command, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True)
        if tried.returncode == 0:
            return command
    return ()


def hardened(
    unit: Path, command: Sequence[str], *, writable: Path, temporary: Path, kept: Sequence[Path] = ()
) -> list[str]:
    """The command below the unit, run from the checkout.

    `writable` stands in for its ReadWritePaths and `temporary` for its private /tmp; `kept` is seen although it lies
    in a folder that the unit hides. Where no mounts are allowed, only the rest of the unit is applied.
    """
    places = {"writable": str(writable), "temporary": str(temporary), "kept": [str(path) for path in kept]}
    return [
        *(*namespaces(), sys.executable, "-m", MODULE),
        *(str(unit), json.dumps(places if namespaces() else {}), *command),
    ]


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


def _make_mounts(unit: Unit, places: Mapping[str, Any]) -> None:
    seen = {Path(path) for path in (*places["kept"], ROOT, Path(sys.prefix).resolve(), sys.base_prefix)}
    kept = [str(path) for path in seen if seen.isdisjoint(path.parents)] + [places["writable"]]
    _mount("-t", "tmpfs", "tmpfs", str(STAGE))
    staged = [STAGE / str(number) for number, _ in enumerate([*kept, places["temporary"]])]
    for stage, path in zip(staged, [*kept, places["temporary"]], strict=True):
        stage.mkdir()
        _mount("--rbind", path, str(stage))
    writable = _hide_folders(unit, staged.pop())
    for stage, path in zip(staged, kept, strict=True):
        Path(path).mkdir(parents=True, exist_ok=True)
        _mount("--rbind", str(stage), path)
    _hide_machine(unit)
    subprocess.run(["umount", "--recursive", "--lazy", str(STAGE)], check=True)
    if unit.get("ReadWritePaths"):
        writable.append(places["writable"])
    for path in dict.fromkeys(_to_protect(unit, writable)):
        _mount("-o", "remount,bind,ro", path)


def _hide_folders(unit: Unit, temporary: Path) -> list[str]:
    """The folders that are the unit's own now."""
    if is_set(unit, "ProtectHome"):
        for path in HOMES:
            if Path(path).is_dir():
                _mount("-t", "tmpfs", "tmpfs", path)
    if not is_set(unit, "PrivateTmp"):
        return []
    for path in TEMPORARY:
        _mount("--bind", str(temporary), path)
    return [*TEMPORARY]


def _hide_machine(unit: Unit) -> None:
    if is_set(unit, "PrivateDevices"):
        _mount_devices(STAGE / "dev")
    if is_set(unit, "ProtectProc") and not os.environ.get(MAPPED):
        _mount("-t", "proc", "-o", f"hidepid={unit['ProtectProc'][-1]}", "proc", "/proc")
    if is_set(unit, "ProtectKernelTunables"):
        _mount("--bind", "/proc/sys", "/proc/sys")


def _mount_devices(folder: Path) -> None:
    (folder / "shm").mkdir(parents=True, mode=0o1777)
    (folder / "fd").symlink_to("/proc/self/fd")
    for name in DEVICES:
        (folder / name).touch()
        _mount("--bind", f"/dev/{name}", str(folder / name))
    _mount("--rbind", str(folder), "/dev")


def _to_protect(unit: Unit, writable: Sequence[str]) -> Iterator[str]:
    """The mounts that the unit makes read-only; of those over each other in one place only the last is reached."""
    for line in Path("/proc/self/mountinfo").read_text("utf-8").splitlines():
        path = line.split()[4].encode().decode("unicode_escape").encode("latin-1").decode()
        if not Path(path).exists() or path in writable:
            continue
        if path.startswith(("/proc/sys", "/sys")):
            if is_set(unit, "ProtectKernelTunables"):
                yield path
        elif not path.startswith(("/dev", "/proc")) and unit.get("ProtectSystem") == ["strict"]:
            yield path


def _without_rights(command: Sequence[str]) -> list[str]:
    """What belongs to root here, such as this checkout, would be the service's own there: it may pass permissions."""
    if os.geteuid():
        return ["setpriv", "--no-new-privs", *command]
    rights = "-all" if os.environ.get(MAPPED) else "-all,+dac_override"
    user = () if os.environ.get(MAPPED) else (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    return [
        *("setpriv", *user, "--no-new-privs", f"--inh-caps={rights}", f"--ambient-caps={rights}"),
        *(f"--bounding-set={rights}", *command),
    ]


def main() -> None:
    path, places, *command = sys.argv[1:]
    unit = read_unit(Path(path))
    if mounted := json.loads(places):
        _make_mounts(unit, mounted)
        os.chdir(ROOT)
    if files := unit.get("LimitNOFILE"):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(int(files[-1]), most),) * 2)
    os.umask(int(unit.get("UMask", ["0022"])[-1], 8))
    last = _without_rights([sys.executable, "-m", FILTER, path, *command])
    os.execvp(last[0], last)


if __name__ == "__main__":
    main()
