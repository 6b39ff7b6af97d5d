"""Runs a command below the hardening of a systemd unit, on machines where systemd itself does not run.

What the kernel does for these lines of a unit is done here in the same way: system calls and address families by
seccomp, the file system by mounts of its own, capabilities by setpriv. As a module it is the last step: it loads the
filter of a unit and becomes the command.
"""

import contextlib
import errno
import mmap
import os
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyseccomp

Unit = Mapping[str, Sequence[str]]
NOBODY = 65534
NAMESPACES = 0x7E020080
SET_ID_BITS = 0o6000
# Where the mode stands among the arguments of the calls that set one.
MODE_ARGUMENT = {"chmod": 1, "fchmod": 1, "fchmodat": 2}


def read_unit(path: Path) -> dict[str, list[str]]:
    """The lines of a unit by their names, in their order."""
    found: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        if "=" in line and not line.startswith(("#", ";", "[")):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def can_apply() -> str:
    """What is missing to apply a unit here; empty if nothing is."""
    has_analyze = shutil.which("systemd-analyze")
    return can_confine() or ("" if has_analyze else "there is no systemd-analyze here")


def can_confine() -> str:
    """What is missing to confine a command here; empty if nothing is."""
    if os.geteuid():
        return "only root may mount and drop capabilities"
    missing = [name for name in ("unshare", "setpriv", "mount") if not shutil.which(name)]
    if missing:
        return f"there is no {' and no '.join(missing)} here"
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True)
    return "" if tried.returncode == 0 else "mounts of its own are not allowed here"


def hardened(unit: Path, command: Sequence[str], writable: Sequence[Path]) -> list[str]:
    """The command below the unit; `writable` stand in for its ReadWritePaths, and hold its private /tmp."""
    return confined([sys.executable, "-m", "tests.support.hardening", str(unit), *command], writable)


def confined(command: Sequence[str], writable: Sequence[Path], user: int = NOBODY) -> list[str]:
    """The command as a user without rights, on a file system of which it can write `writable` alone."""
    binds = " && ".join(f"mount --bind '{path}' '{path}'" for path in writable)
    script = f'{binds} && mount -o remount,bind,ro / && exec "$@"'
    return [
        *("unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"),
        # Another user, as in the unit. What belongs to root here, such as this checkout, would be its own there.
        *("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"),
        *(
            "--inh-caps=-all,+dac_override",
            "--ambient-caps=+dac_override",
            "--bounding-set=-all,+dac_override",
        ),
        *command,
    ]


def allowed_calls(unit: Unit) -> set[str]:
    """The names of system calls that its SystemCallFilter lines leave."""
    allowed: set[str] = set()
    for line in unit.get("SystemCallFilter", []):
        names = {name for word in line.removeprefix("~").split() for name in _expanded(word)}
        allowed = allowed - names if line.startswith("~") else allowed | names
    # systemd always allows what it needs itself to start the command.
    return allowed | _expanded("@default") | {"execve", "exit", "exit_group", "rt_sigreturn"}


@cache
def _expanded(word: str) -> frozenset[str]:
    if not word.startswith("@"):
        return frozenset({word})
    said = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager", word], capture_output=True, text=True, check=True
    ).stdout
    lines = [line.strip() for line in said.splitlines()[1:]]
    return frozenset(name for line in lines if line and line[0] != "#" for name in _expanded(line))


def _load_filter(unit: Unit) -> None:
    refusal = unit.get("SystemCallErrorNumber", [""])[-1]
    other = pyseccomp.ERRNO(getattr(errno, refusal)) if refusal else pyseccomp.KILL_PROCESS
    rules = pyseccomp.SyscallFilter(other)
    for name in sorted(allowed_calls(unit)):
        with contextlib.suppress(OSError, ValueError):
            pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)
            _allow(rules, name, unit)
    rules.load()


def _allow(rules: Any, name: str, unit: Unit) -> None:
    if name == "clone3" and "yes" in unit.get("RestrictNamespaces", []):
        # Its flags lie in memory, where no filter sees them; the C library then uses clone.
        rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), name)
        return
    for condition in _conditions(name, unit):
        rules.add_rule(pyseccomp.ALLOW, name, *condition)


def _conditions(name: str, unit: Unit) -> list[list[Any]]:
    """The values of its arguments under which a system call is allowed; one without any is never allowed."""
    arg, is_equal, is_masked = pyseccomp.Arg, pyseccomp.EQ, pyseccomp.MASKED_EQ
    is_set = {line for line, values in unit.items() if "yes" in values}
    families = " ".join(unit.get("RestrictAddressFamilies", [])).split()
    executable = mmap.PROT_WRITE | mmap.PROT_EXEC
    if name == "socket" and families:
        return [[arg(0, is_equal, int(getattr(socket, family)))] for family in families]
    special: dict[tuple[str, str], list[list[Any]]] = {
        ("RestrictNamespaces", "clone"): [[arg(0, is_masked, NAMESPACES, 0)]],
        ("RestrictNamespaces", "unshare"): [],
        ("RestrictNamespaces", "setns"): [],
        **{
            ("RestrictSUIDSGID", call): [[arg(at, is_masked, SET_ID_BITS, 0)]]
            for call, at in MODE_ARGUMENT.items()
        },
        ("LockPersonality", "personality"): [[arg(0, is_equal, 0xFFFFFFFF)]],
        ("MemoryDenyWriteExecute", "mmap"): [
            [arg(2, is_masked, executable, one)] for one in (0, mmap.PROT_WRITE, mmap.PROT_EXEC)
        ],
        ("MemoryDenyWriteExecute", "mprotect"): [[arg(2, is_masked, mmap.PROT_EXEC, 0)]],
        ("MemoryDenyWriteExecute", "pkey_mprotect"): [[arg(2, is_masked, mmap.PROT_EXEC, 0)]],
    }
    return next((found for (line, call), found in special.items() if call == name and line in is_set), [[]])


def main() -> None:
    unit, command = read_unit(Path(sys.argv[1])), sys.argv[2:]
    if files := unit.get("LimitNOFILE"):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(int(files[-1]), most),) * 2)
    if mask := unit.get("UMask"):
        os.umask(int(mask[-1], 8))
    _load_filter(unit)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
