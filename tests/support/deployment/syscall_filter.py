"""Loads the filter of system calls of a systemd unit and becomes the command."""

import contextlib
import errno
import mmap
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pyseccomp

from tests.support.deployment.units import Unit, allowed_calls, is_set, read_unit

NAMESPACES = 0x7E020080
SET_ID_BITS = 0o6000
# Where the mode stands among the arguments of the calls that set one.
MODE_ARGUMENT = {"chmod": 1, "fchmod": 1, "fchmodat": 2}
# SCHED_OTHER, SCHED_BATCH, SCHED_IDLE
ORDINARY_POLICIES = (0, 3, 5)


def load_filter(unit: Unit) -> None:
    refusal = unit.get("SystemCallErrorNumber", [""])[-1]
    other = pyseccomp.ERRNO(getattr(errno, refusal)) if refusal else pyseccomp.KILL_PROCESS
    rules = pyseccomp.SyscallFilter(other)
    for name in sorted(allowed_calls(unit)):
        with contextlib.suppress(OSError, ValueError):
            pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)
            _allow(rules, name, unit)
    rules.load()


def _allow(rules: Any, name: str, unit: Unit) -> None:
    if name == "clone3" and is_set(unit, "RestrictNamespaces"):
        # Its flags lie in memory, where no filter sees them; the C library then uses clone.
        rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), name)
        return
    for condition in _conditions(name, unit):
        rules.add_rule(pyseccomp.ALLOW, name, *condition)


def _conditions(name: str, unit: Unit) -> list[list[Any]]:
    """The values of its arguments under which a system call is allowed; one without any is never allowed."""
    arg, is_equal, is_masked = pyseccomp.Arg, pyseccomp.EQ, pyseccomp.MASKED_EQ
    families = " ".join(unit.get("RestrictAddressFamilies", [])).split()
    executable = mmap.PROT_WRITE | mmap.PROT_EXEC
    if name == "socket" and families:
        return [[arg(0, is_equal, int(getattr(socket, family)))] for family in families]
    special: dict[tuple[str, str], list[list[Any]]] = {
        ("RestrictNamespaces", "clone"): [[arg(0, is_masked, NAMESPACES, 0)]],
        ("RestrictNamespaces", "unshare"): [],
        ("RestrictNamespaces", "setns"): [],
        ("RestrictRealtime", "sched_setscheduler"): [
            [arg(1, is_equal, policy)] for policy in ORDINARY_POLICIES
        ],
        **{
            ("RestrictSUIDSGID", call): [[arg(at, is_masked, SET_ID_BITS, 0)]]
            for call, at in MODE_ARGUMENT.items()
        },
        ("LockPersonality", "personality"): [[arg(0, is_equal, 0xFFFFFFFF)]],
        ("MemoryDenyWriteExecute", "mmap"): [
            [arg(2, is_masked, executable, protection)] for protection in (0, mmap.PROT_WRITE, mmap.PROT_EXEC)
        ],
        ("MemoryDenyWriteExecute", "mprotect"): [[arg(2, is_masked, mmap.PROT_EXEC, 0)]],
        ("MemoryDenyWriteExecute", "pkey_mprotect"): [[arg(2, is_masked, mmap.PROT_EXEC, 0)]],
    }
    found = (found for (line, call), found in special.items() if call == name and is_set(unit, line))
    return next(found, [[]])


def main() -> None:
    path, *command = sys.argv[1:]
    load_filter(read_unit(Path(path)))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
