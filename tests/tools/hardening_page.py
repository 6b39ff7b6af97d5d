"""docs/operating/hardening.md: each line of the units' hardening, what it forbids, and what breaks if it is stricter.

`HARDENING_PAGE=write` lets the slow test that measures it write the page.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from tests.support.deployment.unit_work import WORK
from tests.support.deployment.units import ROOT, UNITS, hardening_of, sets

PAGE = ROOT / "docs" / "operating" / "hardening.md"
HEAD = """# Hardening of the systemd units

This page lists what each line of the systemd units forbids, and what breaks if you make a unit stricter.

The tests confirm that web, worker and backup can do all their work under the unchanged units: proofs, orders, print
files, icons, exports, backups, a photo of 50 megapixels, and jobs to an SFTP server and a hot folder.

The slow tests `fulfillment/operations/test_hardening*.py` produce the tables on this page. They read each line from the
units and apply it to real processes. Mounts restrict paths, seccomp restricts system calls, and setpriv restricts
capabilities. To generate this page again, run the tests with `HARDENING_PAGE=write`.

## Each line

The column *tested* shows whether the tests apply the line.

"""
FULLY = "yes"
NO_ROOT = "yes, but the test keeps the capability to read a private checkout"
# Of each name: what it forbids, and how far the test applies it.
LINES = {
    "NoNewPrivileges": ("gaining privileges through a setuid program", FULLY),
    "ProtectSystem": ("writes outside `ReadWritePaths` and /tmp", FULLY),
    "ReadWritePaths": ("writes anywhere else", "yes, with a test folder"),
    "ProtectHome": ("access to /home, /root and /run/user, including a release or Python there", FULLY),
    "PrivateTmp": ("access to the shared /tmp and /var/tmp", FULLY),
    "PrivateDevices": ("devices except /dev/null, /dev/random and similar ones", FULLY),
    "ProtectProc": ("seeing other users' processes", "yes, if the test runs as root"),
    "ProtectClock": ("setting the clock", "by `SystemCallFilter`"),
    "ProtectHostname": ("setting the host name", "by `SystemCallFilter`"),
    "ProtectKernelLogs": ("access to the kernel log", "by `SystemCallFilter` and `PrivateDevices`"),
    "ProtectKernelModules": ("loading kernel modules", "by `SystemCallFilter`"),
    "ProtectKernelTunables": ("writing to /proc/sys and /sys", FULLY),
    "ProtectControlGroups": ("writing to control groups", "by `ProtectKernelTunables`"),
    "RestrictAddressFamilies": ("sockets except IPv4, IPv6 and Unix sockets", FULLY),
    "RestrictNamespaces": ("creating namespaces", FULLY),
    "RestrictRealtime": ("real-time scheduling", FULLY),
    "RestrictSUIDSGID": ("creating setuid and setgid files", FULLY),
    "LockPersonality": ("changing the execution domain", FULLY),
    "MemoryDenyWriteExecute": ("memory that is writable and executable", FULLY),
    "RemoveIPC": ("IPC objects that outlive the unit", "no: it takes effect when the unit stops"),
    "CapabilityBoundingSet": ("all root capabilities", NO_ROOT),
    "AmbientCapabilities": ("all root capabilities", NO_ROOT),
    "SystemCallArchitectures": ("system calls of other architectures", FULLY),
    "SystemCallFilter": ("system calls that services do not need", FULLY),
    "SystemCallErrorNumber": ("nothing: a forbidden call fails and does not end the process", FULLY),
    "UMask": ("access to new files by other users", FULLY),
    "LimitNOFILE": ("more than 65,536 open files, including sockets", "up to the test's own limit"),
}
# Values that forbid something else.
OF_VALUES = {
    "SystemCallFilter=~@privileged": "privileged system calls",
    "UMask=0077": "access to new files by other users and by the group",
}
# Sets of system calls that services may use and this one does not: the units leave them to newer libraries.
UNUSED = ("@aio", "@keyring", "@memlock", "@setuid", "@timer")
# Not in the units, and why.
LEFT_OUT = {
    "PrivateNetwork": "the service receives and sends requests",
    "PrivateUsers": "files belong to the user `fulfillment`, and other users of the machine may need to see that owner",
    "SystemCallFilter=~@resources": "processes that render or read pictures lower their own priority",
}


@dataclass(frozen=True)
class Stricter:
    """A line of the units that allows less than it does; `named` is how the page shows it."""

    named: str
    name: str
    values: tuple[str, ...]


def stricter_lines() -> Iterator[Stricter]:
    """Each thing that a line leaves, taken away by itself."""
    web = hardening_of(UNITS["web"])
    yield Stricter("no `ReadWritePaths`", "ReadWritePaths", ())
    yield Stricter("no private /tmp", "PrivateTmp", ("no",))
    families = web["RestrictAddressFamilies"][0].split()
    for family in families:
        left = " ".join(name for name in families if name != family)
        yield Stricter(f"`RestrictAddressFamilies` without `{family}`", "RestrictAddressFamilies", (left,))
    filters = tuple(web["SystemCallFilter"])
    forbidden = {word for line in filters if line[0] == "~" for word in _sets_in(line[1:])}
    left = [word for word in sets()["@system-service"] if word.startswith("@") and word not in forbidden]
    # systemd itself allows @default always. Those without use are measured together.
    needed = [word for word in left if word not in {"@default", *UNUSED}]
    for words in (*needed, " ".join(word for word in left if word in UNUSED)):
        yield Stricter(f"`SystemCallFilter=~{words}`", "SystemCallFilter", (*filters, f"~{words}"))


def _sets_in(words: str) -> Iterator[str]:
    for word in words.split():
        yield word
        yield from _sets_in(" ".join(name for name in sets().get(word, ()) if name.startswith("@")))


def first_part() -> str:
    """What needs no measuring."""
    return HEAD + "\n".join(_lines())


def page(broken: Mapping[str, Collection[str]]) -> str:
    """`broken` names the work that each stricter line breaks."""
    return "\n".join([first_part(), *_matrix(broken), *_left_out(), ""])


def _lines() -> Iterator[str]:
    yield "| line | units | forbids | tested |"
    yield "|---|---|---|---|"
    units = {name: hardening_of(path) for name, path in UNITS.items()}
    for name, (of_name, applied) in LINES.items():
        for line in dict.fromkeys(value for unit in units.values() for value in unit.get(name, [])):
            of = ", ".join(unit for unit, lines in units.items() if line in lines.get(name, []))
            forbids = OF_VALUES.get(f"{name}={line}", of_name)
            yield f"| `{name}={line}` | {of} | {forbids} | {applied} |"


def _matrix(broken: Mapping[str, Collection[str]]) -> Iterator[str]:
    yield from ("", "## What breaks if a line is stricter", "")
    yield "Each row removes one permission. *breaks* marks the work that fails without that permission. The table omits"
    yield "lines that are already as strict as possible."
    yield ""
    yield "The test connects to the database through a Unix socket. If your database is on another machine, the"
    yield "service needs `AF_INET` or `AF_INET6` instead of `AF_UNIX`. The service does not use the system calls in the"
    yield "last row today, but newer libraries may use them."
    yield from ("", f"| stricter | {' | '.join(WORK)} |", f"|---|{'---|' * len(WORK)}")
    yield from (row(line.named, broken[line.named]) for line in stricter_lines())


def row(named: str, broken: Collection[str]) -> str:
    return f"| {named} | {' | '.join('breaks' if work in broken else '' for work in WORK)} |"


def _left_out() -> Iterator[str]:
    yield from ("", "## Lines that the units leave out", "")
    yield from (f"- `{name}`: {why}." for name, why in LEFT_OUT.items())
