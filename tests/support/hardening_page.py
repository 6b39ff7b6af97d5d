"""docs/operating/hardening.md: each line of the units' hardening, what it forbids, and what needs what it leaves.

`HARDENING_PAGE=write` lets the slow test that measures it write the page.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from tests.support.unit_work import WORK
from tests.support.units import ROOT, UNITS, hardening_of, sets

PAGE = ROOT / "docs" / "operating" / "hardening.md"
HEAD = """# Hardening of the systemd units

Use this page to check what each line of the systemd units forbids, and what breaks if you make them stricter. The slow
tests `fulfillment/operations/test_hardening*.py` generate it with `HARDENING_PAGE=write`. They read each line from the
units and apply it to real processes: paths by mounts, system calls by seccomp, capabilities by setpriv. With the
unchanged units, web, worker and backup do all their work. They make a proof, an order, print files, an icon, an export
and a backup. They accept a photo of 50 megapixels, and send jobs to an SFTP server and a hot folder.

## Each line

"Applied" shows how far the test applies the line.

"""
FULLY = "yes"
# Of each name: what it forbids, and how far the test applies it.
LINES = {
    "NoNewPrivileges": ("gaining rights by a program of root", FULLY),
    "ProtectSystem": ("writing outside of `ReadWritePaths` and /tmp", FULLY),
    "ReadWritePaths": ("what is written elsewhere", "yes, as a folder of the test"),
    "ProtectHome": ("/home, /root and /run/user: a release or a Python below them is not found", FULLY),
    "PrivateTmp": ("the /tmp and /var/tmp of others", FULLY),
    "PrivateDevices": ("devices other than /dev/null, random and the like", FULLY),
    "ProtectProc": ("processes of other users", "yes, where the test runs as root"),
    "ProtectClock": ("setting the clock", "by `SystemCallFilter`"),
    "ProtectHostname": ("setting the host's name", "by `SystemCallFilter`"),
    "ProtectKernelLogs": ("the kernel's log", "by `SystemCallFilter` and `PrivateDevices`"),
    "ProtectKernelModules": ("loading modules", "by `SystemCallFilter`"),
    "ProtectKernelTunables": ("writing to /proc/sys and /sys", FULLY),
    "ProtectControlGroups": ("writing to control groups", "by `ProtectKernelTunables`"),
    "RestrictAddressFamilies": ("sockets other than those of IPv4, IPv6 and files", FULLY),
    "RestrictNamespaces": ("containers of its own", FULLY),
    "RestrictRealtime": ("real-time priority", FULLY),
    "RestrictSUIDSGID": ("files that run as their owner", FULLY),
    "LockPersonality": ("emulating other systems", FULLY),
    "MemoryDenyWriteExecute": ("code made in memory", FULLY),
    "RemoveIPC": ("shared memory that outlives the unit", "no: it acts when the unit stops"),
    "CapabilityBoundingSet": ("all rights of root", "yes, but for reading a private checkout"),
    "AmbientCapabilities": ("all rights of root", "yes, but for reading a private checkout"),
    "SystemCallArchitectures": ("programs for other processors", FULLY),
    "SystemCallFilter": ("system calls that services do not use, and those of root", FULLY),
    "SystemCallErrorNumber": ("nothing: a forbidden call fails instead of ending its process", FULLY),
    "UMask": ("access of others to new files; to those of a backup, also of the group", FULLY),
    "LimitNOFILE": (
        "more open files: each client, file and connection is one",
        "up to the limit of the test",
    ),
}
# Sets of system calls that services may use and this one does not: the units leave them to newer libraries.
UNUSED = ("@aio", "@keyring", "@memlock", "@setuid", "@timer")
# Not in the units, and why.
LEFT_OUT = {
    "PrivateNetwork": "the service answers and sends requests",
    "PrivateUsers": "files belong to the user `fulfillment`, whom others on the machine may have to know",
    "SystemCallFilter=~@resources": "renderers and readers of pictures lower their own priority",
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
    yield Stricter("no /tmp of its own", "PrivateTmp", ("no",))
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
    yield "| line | units | forbids | applied |"
    yield "|---|---|---|---|"
    units = {name: hardening_of(path) for name, path in UNITS.items()}
    for name, (forbids, applied) in LINES.items():
        for line in dict.fromkeys(value for unit in units.values() for value in unit.get(name, [])):
            of = ", ".join(unit for unit, lines in units.items() if line in lines.get(name, []))
            yield f"| `{name}={line}` | {of} | {forbids} | {applied} |"


def _matrix(broken: Mapping[str, Collection[str]]) -> Iterator[str]:
    yield from ("", "## What needs what the lines leave", "")
    yield "The table shows what broke when the test removed one permission. All other lines of the units are as"
    yield "strict as possible. The test reaches the database by a socket file; over the network it needs `AF_INET`"
    yield "or `AF_INET6` instead. The last row shows what nothing uses today; newer libraries may."
    yield from ("", f"| stricter | {' | '.join(WORK)} |", f"|---|{'---|' * len(WORK)}")
    for one in stricter_lines():
        cells = ("breaks" if work in broken[one.named] else "" for work in WORK)
        yield f"| {one.named} | {' | '.join(cells)} |"


def _left_out() -> Iterator[str]:
    yield from ("", "## Left out", "")
    yield from (f"- `{name}`: {why}." for name, why in LEFT_OUT.items())
