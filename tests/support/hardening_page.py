"""docs/operating/hardening.md: each line of the units' hardening, what it forbids, and what breaks if it is stricter.

`HARDENING_PAGE=write` lets the slow test that measures it write the page.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from tests.support.unit_work import WORK
from tests.support.units import ROOT, UNITS, hardening_of, sets

PAGE = ROOT / "docs" / "operating" / "hardening.md"
HEAD = """# Hardening of the systemd units

Use this page to look up what each line of the systemd units forbids, and what breaks if you make a unit stricter.

With the unchanged units, web, worker and backup do all their work. They make a proof, an order, print files, an icon,
an export and a backup. They accept a photo of 50 megapixels. They send jobs to an SFTP server and a hot folder.

The slow tests `fulfillment/operations/test_hardening*.py` measure what this page shows. They read each line from the
units and apply it to real processes. Mounts restrict paths, seccomp restricts system calls, and setpriv restricts
capabilities. With `HARDENING_PAGE=write`, the tests write this page again.

## Each line

The column *tested* shows whether the tests apply the line.

"""
FULLY = "yes"
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
    "CapabilityBoundingSet": ("all root capabilities", "yes, except for reading a private checkout"),
    "AmbientCapabilities": ("all root capabilities", "yes, except for reading a private checkout"),
    "SystemCallArchitectures": ("system calls of other architectures", FULLY),
    "SystemCallFilter": ("privileged system calls, and those that services do not need", FULLY),
    "SystemCallErrorNumber": ("nothing: a forbidden call fails and does not end the process", FULLY),
    "UMask": ("access to new files by other users; for backups, also by the group", FULLY),
    "LimitNOFILE": (
        "more open files, including sockets",
        "up to the test's own limit",
    ),
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
        left = " ".join(one for one in families if one != family)
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
        yield from _sets_in(" ".join(one for one in sets().get(word, ()) if one.startswith("@")))


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
    for name, (forbids, applied) in LINES.items():
        for line in dict.fromkeys(value for unit in units.values() for value in unit.get(name, [])):
            of = ", ".join(unit for unit, lines in units.items() if line in lines.get(name, []))
            yield f"| `{name}={line}` | {of} | {forbids} | {applied} |"


def _matrix(broken: Mapping[str, Collection[str]]) -> Iterator[str]:
    yield from ("", "## What breaks if a line is stricter", "")
    yield "Each row removes one permission. *breaks* marks the work that then failed. The other lines of the units"
    yield "are as strict as possible."
    yield ""
    yield "The test connects to the database through a Unix socket. Over the network, the service needs `AF_INET`"
    yield "or `AF_INET6` instead of `AF_UNIX`. The service uses no system call in the last row today, but newer"
    yield "libraries may use them."
    yield from ("", f"| stricter | {' | '.join(WORK)} |", f"|---|{'---|' * len(WORK)}")
    yield from (row(one.named, broken[one.named]) for one in stricter_lines())


def row(named: str, broken: Collection[str]) -> str:
    return f"| {named} | {' | '.join('breaks' if work in broken else '' for work in WORK)} |"


def _left_out() -> Iterator[str]:
    yield from ("", "## Lines that the units leave out", "")
    yield from (f"- `{name}`: {why}." for name, why in LEFT_OUT.items())
